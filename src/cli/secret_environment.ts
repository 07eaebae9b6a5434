import { type KnownValue, secretValues, tooShortSecrets } from "../fixture/secrets/secret_values.ts";

/** The secrets of the environment that the program was started in. */
export interface SecretEnvironment {
  readonly values: readonly KnownValue[];
  /** The variables that are secrets by their names, and too short to be looked for. */
  readonly tooShort: readonly string[];
}

/**
 * All secrets of the environment: of every variable, not only those that the program reads, but for those of `notSecret`.
 * Nothing is kept but the values of variables that look like secrets.
 */
export function secretEnvironment(notSecret: readonly string[] = []): SecretEnvironment {
  const all = Object.entries(Deno.env.toObject());
  const environment = Object.fromEntries(all.filter(([name]) => !notSecret.includes(name)));
  return { values: secretValues(environment), tooShort: tooShortSecrets(environment) };
}
