import { type KnownValue, secretValues, tooShortSecrets } from "../fixture/secrets/secret_values.ts";

/** The secrets of the environment that we were started in. */
export interface SecretEnvironment {
  readonly values: readonly KnownValue[];
  /** The variables that are secrets by their names, and too short to be looked for. */
  readonly tooShort: readonly string[];
  /** False where only the variables that the binary sees by itself could be read. */
  readonly whole: boolean;
}

/** Where the program is that prints its environment; never looked for on `PATH`, where anything could pose as it. */
const PROGRAMS = ["/usr/bin/env", "/bin/env"];

/**
 * All secrets of the environment. The binary sees a list of variables only, but what it starts inherits all of them:
 * so a program is asked. Nothing is kept but the values of variables that look like secrets.
 */
export async function secretEnvironment(programs: readonly string[] = PROGRAMS): Promise<SecretEnvironment> {
  // What is set in this process counts too, should it differ.
  const visible = Deno.env.toObject();
  for (const program of programs) {
    const inherited = await printedBy(program);
    if (inherited !== null) return { ...secretsOf({ ...visible, ...inherited }), whole: true };
  }
  return { ...secretsOf(visible), whole: false };
}

function secretsOf(environment: Readonly<Record<string, string>>): Omit<SecretEnvironment, "whole"> {
  return { values: secretValues(environment), tooShort: tooShortSecrets(environment) };
}

/** The variables that `program -0` prints, or `null` where it cannot. */
async function printedBy(program: string): Promise<Record<string, string> | null> {
  try {
    const { success, stdout } = await new Deno.Command(program, {
      args: ["-0"],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).output();
    if (!success) return null;
    return Object.fromEntries(
      new TextDecoder().decode(stdout).split("\0").filter((line) => line.includes("="))
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
  } catch (error) {
    // No such program, or not ours to start: the next one may do.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return null;
    throw error;
  }
}
