/** The only error class that users meet, and the only table of exit codes. */
import type { JsonObject } from "./json.ts";

/** Meaning of each exit code. `--help` and `docs/configuration.md` are generated from this table. */
export const EXIT_CODES = {
  0: "completed",
  1: "unexpected error",
  2: "usage: bad flag, value or configuration, or no such session",
  3: "permission denied (--fail-on-denied)",
  4: "budget exhausted (steps, tokens, cost)",
  5: "session or fixture locked by another writer, or session diverged",
  6: "ended without a final answer (incomplete, refused)",
  7: "fixture miss, broken rule, unused fixture, replay divergence",
  8: "authentication or authorization (401, 403)",
  9: "rate limit or quota (429)",
  10: "provider or network failure (5xx, cut stream, DNS, TLS)",
  11: "context window overflow",
  12: "session damaged",
  13: "request refused by the API (other 4xx)",
  14: "storage: disk full, read-only, or no permission on the home",
  124: "timeout",
  129: "SIGHUP",
  130: "SIGINT",
  141: "broken pipe",
  143: "SIGTERM",
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

/** The exit code that each error code ends the process with. `docs/configuration.md` is generated from this table. */
export const EXIT_CODE_OF = {
  unexpected: 1,
  damaged_executable: 1,
  usage: 2,
  bad_configuration: 2,
  no_model: 2,
  no_base_url: 2,
  missing_key: 2,
  unknown_price: 2,
  insecure_url: 2,
  bad_url: 2,
  no_such_session: 2,
  ambiguous_session: 2,
  bad_session_id: 2,
  session_exists: 2,
  nothing_to_continue: 2,
  nothing_to_compact: 2,
  nothing_to_withdraw: 2,
  no_prompt: 2,
  format_too_new: 2,
  drifted: 2,
  endpoint_changed: 2,
  bad_fixture: 2,
  bad_import: 2,
  bad_events: 2,
  bad_remote: 2,
  no_such_bucket: 2,
  remote_unsafe: 2,
  session_removed: 2,
  permission_denied: 3,
  over_budget: 4,
  session_locked: 5,
  session_diverged: 5,
  session_open_elsewhere: 5,
  fixture_locked: 5,
  incomplete: 6,
  schema_mismatch: 6,
  refused: 6,
  bad_summary: 6,
  fixture_miss: 7,
  fixture_too_old: 7,
  nothing_recorded: 7,
  not_kept: 7,
  secret_left: 7,
  unauthorized: 8,
  remote_denied: 8,
  rate_limited: 9,
  quota_exhausted: 9,
  provider_failed: 10,
  network_failed: 10,
  untrusted_certificate: 10,
  remote_unreachable: 10,
  stream_cut: 10,
  bad_stream: 10,
  redirected: 10,
  context_overflow: 11,
  session_damaged: 12,
  bad_export: 12,
  request_refused: 13,
  storage_full: 14,
  storage_denied: 14,
  storage_failed: 14,
  timed_out: 124,
  hung_up: 129,
  interrupted: 130,
  broken_pipe: 141,
  terminated: 143,
} as const satisfies Record<string, ExitCode>;

/** The stable name of an error, as `code` in `--json` mode. */
export type ErrorCode = keyof typeof EXIT_CODE_OF;

/** An error as `--json` prints it. */
type ErrorDocument = {
  readonly type: "error";
  readonly code: ErrorCode;
  readonly exit_code: ExitCode;
  readonly message: string;
  /** The next step for the user. */
  readonly hint?: string;
  /** Facts for programs. */
  readonly details: JsonObject;
};

export interface RepriseErrorOptions {
  /** Next step for the user; one sentence. */
  readonly hint?: string;
  /** Facts for programs, shown as `details` in `--json` mode. */
  readonly details?: JsonObject;
  /** The error underneath, shown only with `--debug`. */
  readonly cause?: unknown;
}

/** An error meant for the user: a stable code, an exit code, a message and a hint. */
export class RepriseError extends Error {
  override readonly name = "RepriseError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, options: RepriseErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }

  /** The same error with another hint. */
  withHint(hint: string): RepriseError {
    const { code, message, details, cause } = this;
    return new RepriseError(code, message, { hint, details, cause });
  }

  /** Message and hint in one line. */
  get advice(): string {
    return this.hint === undefined ? this.message : `${this.message}. ${this.hint}`;
  }

  get exitCode(): ExitCode {
    return EXIT_CODE_OF[this.code];
  }

  toJSON(): ErrorDocument {
    return {
      type: "error",
      code: this.code,
      exit_code: this.exitCode,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      details: this.details,
    };
  }
}

/** Returns a {@linkcode RepriseError} unchanged, and wraps any other thrown value as `unexpected`. */
export function asRepriseError(error: unknown): RepriseError {
  if (error instanceof RepriseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new RepriseError("unexpected", `Unexpected error: ${message}`, {
    hint: "Run again with --debug for the stack trace",
    cause: error,
  });
}

/** Failure of a request: reported by the API in an HTTP answer or a stream, or because no answer came. */
export interface ApiFailure {
  readonly code: ErrorCode;
  /** One line for people: the provider's own text, cut and cleaned, never with a key. */
  readonly message: string;
  /** The HTTP status, or `null` for a failure inside a stream or without an answer. */
  readonly status: number | null;
  readonly providerCode: string | null;
  readonly providerType: string | null;
  readonly param: string | null;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
}
