import { ReprError } from "../domain/errors.ts";
import { fileError } from "../store/fs_errors.ts";

/**
 * Refuses a `-o FILE` that cannot become one, before a request is paid for.
 *
 * @throws {ReprError} `usage` when it is a directory, or lies in none.
 */
export function requireAnswerFile(path: string): void {
  const refuse = (why: string) =>
    new ReprError("usage", `Cannot use ${JSON.stringify(path)} for the answer: ${why}`, {
      hint: "Give -o a file in a directory that exists",
    });
  if (path === "" || isDirectory(path)) throw refuse("it is not a file");
  if (!isDirectory(path.replace(/[^/]*$/, "") || ".")) throw refuse("its directory is not there");
}

/** Writes the answer, exactly; an error is returned, because the run itself has ended well by then. */
export function writeAnswer(path: string, text: string): ReprError | null {
  try {
    Deno.writeTextFileSync(path, text);
    return null;
  } catch (error) {
    const { code, message, details } = fileError(error, "write the answer", path);
    return new ReprError(code, message, {
      hint: "Choose another file with -o; the session keeps the answer",
      details,
      cause: error,
    });
  }
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
