import { RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { InputStream } from "../live_ports.ts";

/** The API takes 10,485,760 characters of input at most (protocol §1.2). */
const MAX_PROMPT_BYTES = 10_485_760;

/** The prompt, or `null` where an unfinished run goes on without one. */
export async function promptText(
  stdin: InputStream,
  prompt: string | undefined,
  options: { readonly resumes: boolean; readonly timeoutMs: number },
): Promise<string | null> {
  if (prompt === "-") return await readPrompt(stdin, options.timeoutMs);
  if (prompt !== undefined) {
    if (prompt.trim() === "") throw noPrompt("the argument is empty");
    return prompt.toWellFormed();
  }
  return options.resumes ? null : await readPrompt(stdin, options.timeoutMs);
}

/**
 * Reads the prompt from stdin, whole.
 *
 * @throws {RepriseError} `timed_out` when stdin does not end within `timeoutMs`; `no_prompt` when nothing is
 * there; `usage` when it is not UTF-8 or too long.
 */
export async function readPrompt(stdin: InputStream, timeoutMs: number): Promise<string> {
  if (stdin.isTerminal()) throw noPrompt("stdin is a terminal");
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stdin.readable.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => timer = setTimeout(() => resolve("late"), timeoutMs));
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), late]);
      if (next === "late") {
        throw new RepriseError(
          "timed_out",
          `Cannot read the prompt from stdin: it did not end within ${
            counted(timeoutMs / 1000, "second")
          } (--timeout)`,
          { hint: "Give the prompt as an argument, or close the pipe" },
        );
      }
      if (next.done) break;
      size += next.value.length;
      if (size > MAX_PROMPT_BYTES) {
        throw new RepriseError(
          "usage",
          `Cannot use a prompt of more than ${MAX_PROMPT_BYTES} bytes from stdin`,
          {
            hint: "Put it into a file of the workspace and name that in the prompt",
          },
        );
      }
      chunks.push(next.value);
    }
  } finally {
    clearTimeout(timer);
  }
  const text = decode(chunks);
  if (text.trim() === "") throw noPrompt("stdin is empty");
  return text;
}

/** What a run without words is told. */
export function noPrompt(why: string): RepriseError {
  return new RepriseError("no_prompt", `Cannot start a run without a prompt: ${why}`, {
    hint: 'Give it as an argument (reprise run "…"), or pipe it in (… | reprise run)',
  });
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch (cause) {
    throw new RepriseError("usage", "Cannot use the prompt from stdin: it is not valid UTF-8", {
      hint: "Convert it first, such as with iconv, or put it into a file of the workspace",
      cause,
    });
  }
}
