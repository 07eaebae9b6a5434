/**
 * Secrets among the environment variables. A module of its own: most calls look for none, and its patterns take time to
 * load.
 */
import { redactText } from "../domain/redact.ts";
import {
  type KnownValue,
  secretValues,
  tooShortSecrets,
  withOpen,
} from "../fixture/secrets/secret_values.ts";
import { allVariables } from "./environment.ts";

/** The secrets of the environment that the program was started in. */
interface SecretEnvironment {
  readonly values: readonly KnownValue[];
  /** The variables with the name of a secret and a value too short to search for. */
  readonly tooShort: readonly string[];
}

/**
 * All secrets of the environment: of every variable, not only of those that the program reads; those of `notSecret` are
 * open. Keeps only the values of variables that look like secrets.
 */
export function secretEnvironment(notSecret: readonly string[] = []): SecretEnvironment {
  const environment = allVariables();
  const tooShort = tooShortSecrets(environment).filter((name) => !notSecret.includes(name));
  return { values: withOpen(secretValues(environment), notSecret), tooShort };
}

/** A text without the secrets of the environment and without what looks like a secret, for names that are shown everywhere. */
export function withoutEnvironmentSecrets(text: string): string {
  const { values } = secretEnvironment();
  const unknown = values.reduce((masked, { value }) => masked.replaceAll(value, " "), text);
  return redactText(unknown).text.replaceAll(/\[redacted \w+\]/g, " ");
}
