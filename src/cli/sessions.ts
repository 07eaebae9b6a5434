/** Resolves arguments that name sessions, and names new ones. */
import { RepriseError } from "../domain/errors.ts";
import { NAMING_LENGTH, type SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "../store/home.ts";
import { parentOf } from "../store/layout.ts";
import { SHORTEST_SECRET } from "../fixture/secrets/shortest_secret.ts";
import { listSessions, resolveSession, type WorkspaceChoice } from "../store/list.ts";
import { type Context, homeOf } from "./context.ts";
import { allVariables } from "./environment.ts";

/** The session that an argument names: id, unambiguous prefix, or `@last` of the working directory. */
export function sessionArgument(
  context: Context,
  selector: string,
): { readonly home: Home; readonly id: SessionId } {
  const { ports } = context;
  const home = homeOf(context);
  const choice = workspaceChoice(ports, Deno.realPathSync(ports.workingDirectory()));
  return { home, id: resolveSession(ports, home, { selector, ...choice }) };
}

/** The workspace of a directory, and the directories above it, up to the user's home or the root. */
export function workspaceChoice(ports: Ports, directory: string): Required<WorkspaceChoice> {
  const workspace = ports.workspacePin(directory);
  const parents: string[] = [];
  // The workspace of a fixture is no directory.
  if (workspace === directory) {
    const top = userHome(ports);
    for (let at = directory; at !== "/" && at !== top;) parents.push(at = parentOf(at));
  }
  return { workspace, parents };
}

/** The canonical home directory of the user; `null` if there is none. */
function userHome(ports: Ports): string | null {
  try {
    return Deno.realPathSync(ports.env("HOME") ?? "");
  } catch {
    return null;
  }
}

/**
 * Checks that a verb got one session or `--all`.
 *
 * @throws {RepriseError} `usage` when neither or both are given.
 */
export function requireOneOrAll(
  selector: string | undefined,
  { all, verb }: { readonly all: boolean; readonly verb: string },
): void {
  if ((selector === undefined) === all) return;
  throw new RepriseError("usage", `Cannot tell what to ${verb}: give a session or --all`, {
    hint: `reprise ${verb} ID, or reprise ${verb} --all`,
  });
}

/** The session that an argument names; all of the home without one. */
export function chosenSessions(
  context: Context,
  selector: string | undefined,
): { readonly home: Home; readonly ids: readonly SessionId[] } {
  if (selector !== undefined) {
    const { home, id } = sessionArgument(context, selector);
    return { home, ids: [id] };
  }
  const home = homeOf(context);
  return { home, ids: listSessions(context.ports, home).map(({ id }) => id) };
}

const SUFFIX_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz";

/** The end of a new session's id: four letters and digits that do not look alike. */
export function randomSuffix(ports: Ports): string {
  return Array.from({ length: 4 }, () => SUFFIX_LETTERS[Math.floor(ports.random() * SUFFIX_LETTERS.length)])
    .join("");
}

/** A token, or what comes before a password. */
const SUSPECT = /[\w+/=.-]{16}|[=:@]|bearer/i;

/**
 * Returns a prompt, which names a new session, without the secrets of the environment and without what looks like one.
 * Looking for all secrets loads code that takes 5 ms of a call, so a prompt that surely holds none is recognized first.
 */
export async function namingText(prompt: string): Promise<string> {
  if (!mayHoldSecret(prompt)) return prompt;
  const { withoutEnvironmentSecrets: withoutSecrets } = await import("./secret_environment.ts");
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
