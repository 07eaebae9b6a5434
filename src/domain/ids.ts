import { RepriseError } from "./errors.ts";

const SESSION_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** A session id that passed {@linkcode parseSessionId}: safe as one path segment. */
export type SessionId = string & { readonly __sessionId: unique symbol };

/** True when `text` fits the grammar of session ids, `[a-z0-9][a-z0-9-]{0,63}`. */
export function isSessionId(text: string): text is SessionId {
  return SESSION_ID.test(text);
}

/**
 * Parses a session id once, at the boundary; ids found inside files are compared, never joined to a path.
 *
 * @throws {RepriseError} `bad_session_id` when `text` does not fit the grammar.
 */
export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text;
  throw new RepriseError(
    "bad_session_id",
    `Cannot use ${
      JSON.stringify(text)
    } as a session id: ids are 1 to 64 of a-z, 0-9 and "-", and start with a letter or digit`,
    { hint: 'List the sessions with "reprise ls"' },
  );
}

/** Readable start of a new session id: up to three words of the prompt, at most 24 characters. */
export function slugOf(prompt: string): string {
  return slugFrom(wordsOf(prompt).slice(0, 3), 24);
}

/** Characters of a start with further words. */
const LONG_SLUG = 48;

/**
 * A start that no session in `taken` has: that of {@linkcode slugOf}, with further words of the prompt if other sessions
 * have the same start, or with a number if all words are used up.
 */
export function freeSlugOf(prompt: string, ids: Iterable<string>): string {
  const used = new Set(Array.from(ids, (id) => id.replace(SUFFIX, "")));
  const words = wordsOf(prompt);
  const usual = slugOf(prompt);
  const longer = words.map((_, index) => slugFrom(words.slice(0, index + 1), LONG_SLUG))
    .filter((slug) => slug.length > usual.length);
  const free = [usual, ...longer].find((slug) => !used.has(slug));
  if (free !== undefined) return free;
  const longest = longer.at(-1) ?? usual;
  for (let number = 2;; number++) if (!used.has(`${longest}-${number}`)) return `${longest}-${number}`;
}

/** The random end of a session id, and the number that makes a taken id different. */
const SUFFIX = /-[2-9a-z]{4}(-\d+)?$/;

/** Characters of a prompt that an id may be made of. */
export const NAMING_LENGTH = 400;

function wordsOf(prompt: string): string[] {
  return prompt.slice(0, NAMING_LENGTH).toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function slugFrom(words: readonly string[], length: number): string {
  const slug = words.join("-").slice(0, length).replace(/-+$/, "");
  return slug === "" ? "session" : slug;
}
