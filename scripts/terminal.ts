import { parseArgs, type ParseArgsConfig } from "node:util";
import { asRepriseError, RepriseError } from "../src/domain/errors.ts";

/** Flags of a script, as `parseArgs` takes them. */
type Options = NonNullable<ParseArgsConfig["options"]>;

const encoder = new TextEncoder();

/** Writes one line to stdout. */
export function say(line: string): void {
  writeAll(Deno.stdout, `${line}\n`);
}

/** Writes one line to stderr. */
export function complain(line: string): void {
  writeAll(Deno.stderr, `${line}\n`);
}

/**
 * Parses the flags of a script.
 *
 * @param usage Synopsis for the hint of an error.
 * @throws {RepriseError} `usage` for an unknown flag, a missing value or an argument that is no flag.
 */
export function parseFlags<const T extends Options>(
  args: readonly string[],
  options: T,
  usage: string,
): ReturnType<typeof parseArgs<{ options: T }>>["values"] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new RepriseError("usage", error instanceof Error ? error.message : String(error), { hint: usage });
  }
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
