import type { ErrorCode } from "./errors.ts";

/** Why an API did not do what it was asked: in an HTTP answer, inside a stream, or for lack of any answer. */
export interface ApiFailure {
  readonly code: ErrorCode;
  /** One line for people; it holds the provider's own words, cut and cleaned, and never a key. */
  readonly message: string;
  /** The HTTP status, or `null` for a failure inside a stream or without an answer. */
  readonly status: number | null;
  readonly providerCode: string | null;
  readonly providerType: string | null;
  readonly param: string | null;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
}
