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
  const words = prompt.slice(0, 400).toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const slug = words.slice(0, 3).join("-").slice(0, 24).replace(/-+$/, "");
  return slug === "" ? "session" : slug;
}
