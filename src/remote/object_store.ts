/**
 * The operations that a remote needs from an object store. `s3.ts` implements them; no other file of this folder knows S3.
 */

export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Milliseconds since it was written, by the store's own clock. */
  readonly ageMs: number;
}

export interface ListedObject {
  /** Its key after the store's prefix; as the list spells it if that is no text. */
  readonly key: string;
  /** False for a key that no request can name. */
  readonly isReachable: boolean;
  /** Length in bytes. */
  readonly size: number;
  /** Time of the last write by the store's own clock, in milliseconds since the epoch; `null` if the list lacks it. */
  readonly modified: number | null;
}

/**
 * Answer to a conditional put. `taken`: an object with that key was there, which may be ours from an attempt whose answer
 * was lost. `unknown`: no usable answer (timeout, cut connection, 5xx); it may have been stored.
 */
export type PutAnswer = "stored" | "taken" | "unknown";

/**
 * A bucket and a prefix on an object store. Keys are relative to the prefix. Each operation throws a `RepriseError`:
 * `remote_denied` for 403, `no_such_bucket` for a missing bucket, `remote_unreachable` if no usable answer came before
 * the deadline of the store.
 */
export interface ObjectStore {
  /** Address for messages, such as `s3://bucket/prefix`. Contains no secret. */
  readonly name: string;
  /** The deadline of an operation that begins now, by the monotonic clock. One may hold for several operations. */
  deadline(): number;
  /** Waits before the attempt after `attempt` (1, 2, …), longer each time; returns false if the deadline does not allow it. */
  waitAfter(attempt: number, deadline: number): Promise<boolean>;
  /**
   * Reads an object; `null` if there is none.
   *
   * @throws {RepriseError} also `session_damaged` if it is longer than `maxBytes`, or than an object of its kind may be.
   */
  get(key: string, deadline?: number, maxBytes?: number): Promise<StoredObject | null>;
  /** Returns the length of an object in bytes, without reading it; `null` if there is none. */
  size(key: string, deadline?: number): Promise<number | null>;
  /** Creates an object that must not exist (`If-None-Match: *`). One attempt: the caller decides what `unknown` means. */
  putNew(key: string, bytes: Uint8Array, deadline?: number): Promise<PutAnswer>;
  /** Creates or replaces an object: only for a blob, whose name proves its content. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Lists objects whose key starts with `prefix`, in ascending order, those after key `after` only. The whole list is one
   * operation.
   */
  list(prefix: string, options?: { readonly after?: string }): AsyncIterable<ListedObject>;
  /** Removes an object; does nothing if there is none. */
  remove(key: string, deadline?: number): Promise<void>;
}
