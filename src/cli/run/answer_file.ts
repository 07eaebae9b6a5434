import { RepriseError } from "../../domain/errors.ts";
import { fileError } from "../../store/fs_errors.ts";
import { otherKind } from "../regular_file.ts";

/**
 * Refuses a `-o FILE` that cannot become one, before a request is paid for.
 *
 * @throws {RepriseError} `usage` when it is a directory, a FIFO or a device, or lies in no directory.
 */
export function requireAnswerFile(path: string): void {
  if (path === "") throw unusable(path, "the name is empty");
  const other = otherKind(path);
  if (other !== null) throw unusable(path, `it is ${other}, not a regular file`);
  if (otherKind(path.replace(/[^/]*$/, "") || ".") !== "a directory") {
    throw unusable(path, "its directory is not there");
  }
}

function unusable(path: string, why: string): RepriseError {
  return new RepriseError("usage", `Cannot use ${JSON.stringify(path)} for the answer: ${why}`, {
    hint: "Give -o a file in a directory that exists",
  });
}

/** Writes the answer, exactly; an error is returned, because the run itself has ended well by then. */
export function writeAnswer(path: string, text: string): RepriseError | null {
  // Opening a FIFO that came there during the run would wait for a reader.
  const other = otherKind(path);
  if (other !== null) return unusable(path, `it is ${other}, not a regular file`);
  try {
    Deno.writeTextFileSync(path, text);
    return null;
  } catch (error) {
    const { code, message, details } = fileError(error, "write the answer", path);
    return new RepriseError(code, message, {
      hint: "Choose another file with -o; the session keeps the answer",
      details,
      cause: error,
    });
  }
}
