/**
 * The text that names a new session. Looking for all secrets loads code that takes 5 ms of a call, so a prompt that
 * surely holds none is recognized first.
 */
import { NAMING_LENGTH } from "../../domain/ids.ts";
import { SHORTEST_SECRET } from "../../fixture/secrets/shortest_secret.ts";
import { allVariables } from "../environment.ts";

/** A token, or what comes before a password. */
const SUSPECT = /[\w+/=.-]{16}|[=:@]|bearer/i;

/** Returns a prompt without the secrets of the environment, and without what looks like one. */
export async function namingText(prompt: string): Promise<string> {
  if (!mayHoldSecret(prompt)) return prompt;
  const { withoutEnvironmentSecrets: withoutSecrets } = await import("../secret_environment.ts");
  return withoutSecrets(prompt);
}

/** True if the part that ids are made of has a text in common with a variable: a secret may be a part of its value. */
function mayHoldSecret(prompt: string): boolean {
  const part = prompt.slice(0, NAMING_LENGTH);
  if (SUSPECT.test(part)) return true;
  const values = Object.values(allVariables()).join("\n");
  for (let at = 0; at + SHORTEST_SECRET <= part.length; at++) {
    if (values.includes(part.slice(at, at + SHORTEST_SECRET))) return true;
  }
  return false;
}
