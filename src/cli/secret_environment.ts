/**
 * Secrets among the environment variables. A module of its own: most calls look for none, and its patterns take time to
 * load.
 *
 * @module
 */
import { redactText } from "../domain/redact.ts";
import { type KnownValue, ofNames, secretValues, tooShortSecrets } from "../fixture/secrets/secret_values.ts";
import { allVariables } from "./environment.ts";

/** The secrets of the environment that the program was started in. */
export interface SecretEnvironment {
  readonly values: readonly KnownValue[];
  /** The variables with the name of a secret and a value too short to search for. */
  readonly tooShort: readonly string[];
  /** Values of the variables that are no secrets. */
  readonly open: readonly KnownValue[];
}

/**
 * All secrets of the environment: of every variable except `notSecret`, not only of those that the program reads. Keeps
 * only the values of variables that look like secrets.
 */
export function secretEnvironment(notSecret: readonly string[] = []): SecretEnvironment {
  const all = Object.entries(allVariables());
  const environment = Object.fromEntries(all.filter(([name]) => !notSecret.includes(name)));
  const open = ofNames(notSecret.length === 0 ? [] : secretValues(Object.fromEntries(all)), notSecret);
  return { values: secretValues(environment), tooShort: tooShortSecrets(environment), open };
}

/** A text without the secrets of the environment and without what looks like a secret, for names that are shown everywhere. */
export function withoutSecrets(text: string): string {
  const { values } = secretEnvironment();
  const unknown = values.reduce((left, { value }) => left.replaceAll(value, " "), text);
  return redactText(unknown).text.replaceAll(/\[redacted \w+\]/g, " ");
}
