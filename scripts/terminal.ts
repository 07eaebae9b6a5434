import { asRepriseError } from "../src/domain/errors.ts";

const encoder = new TextEncoder();

/** Writes one line to stdout. */
export function say(line: string): void {
  writeAll(Deno.stdout, `${line}\n`);
}

/** Writes one line to stderr. */
export function complain(line: string): void {
  writeAll(Deno.stderr, `${line}\n`);
}

/** Runs a script's main function and turns what it throws into an `error:` line, a `hint:` line and an exit code. */
export async function runScript(main: () => Promise<number>): Promise<never> {
  try {
    Deno.exit(await main());
  } catch (thrown) {
    const error = asRepriseError(thrown);
    complain(`error: ${error.message}`);
    if (error.hint !== undefined) complain(`hint: ${error.hint}`);
    Deno.exit(error.exitCode);
  }
}

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
}
