/** All access to the outside, as one value: a replayed run swaps it and writes the same bytes anywhere. */

/** Facts about a path, without following a final symbolic link. */
export interface FileFacts {
  readonly kind: "file" | "directory" | "symlink" | "other";
  /** Length in bytes. */
  readonly size: number;
  /** Permission bits, such as `0o600`; `null` where the platform has none. */
  readonly mode: number | null;
  /** Owner's user id; `null` where the platform has none. */
  readonly owner: number | null;
  readonly device: number;
  readonly inode: number | null;
  /** Last change in milliseconds since the epoch, `null` where unknown. */
  readonly modified: number | null;
}

/** A file opened for writing by {@linkcode Files.createExclusive}. */
export interface WritableFile {
  /** Writes some of `bytes` and returns how many: callers loop. */
  write(bytes: Uint8Array): number;
  /** Makes the written bytes durable (fsync). */
  sync(): void;
  close(): void;
}

/** A file opened for reading by {@linkcode Files.openRead}. */
interface ReadableFile {
  /** Reads some of the next bytes into `into` and returns how many; 0 at the end. */
  read(into: Uint8Array): number;
  close(): void;
}

/**
 * The file operations of the store, synchronous so that their order is the order of the calls. Errors are
 * the runtime's own (`Deno.errors.*`); tests wrap these operations to inject errors.
 */
export interface Files {
  /** Facts about `path` itself, or `null` if it does not exist. */
  facts(path: string): FileFacts | null;
  read(path: string): Uint8Array;
  /** Opens a file that is too large to be read at once. */
  openRead(path: string): ReadableFile;
  /** Keeps a directory open until it is closed, so that no other directory gets its inode number. */
  holdDirectory(path: string): { close(): void };
  /** Names in a directory, unsorted. */
  list(path: string): string[];
  makeDirectory(path: string, mode: number): void;
  /** Creates a file that must not exist (`O_EXCL`). */
  createExclusive(path: string, mode: number): WritableFile;
  /** Gives a file a second name; fails if `to` exists. */
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  /** Removes a file, or an empty directory. */
  unlink(path: string): void;
  setMode(path: string, mode: number): void;
  /** Makes the content of closed files durable. */
  syncFiles(paths: readonly string[]): Promise<void>;
  /** Makes the names in a directory durable (fsync of the directory). */
  syncDirectory(path: string): void;
}

export interface Clock {
  /** Wall time in milliseconds since the epoch. Seeded by the fixture when one is played. */
  now(): number;
  /** Monotonic milliseconds, for timeouts and durations. */
  monotonic(): number;
  /** Resolves after `milliseconds`, or at once when `signal` aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Distinguishes a process from all others with the same number. The lock's owner line uses these names. */
export type ProcessIdentity = {
  /** PID namespace in which the number is valid, such as `pid:[4026531836]`. */
  readonly pid_namespace: string;
  /** Id of the kernel's current boot. */
  readonly boot_id: string;
  /** Start of the process after that boot, in clock ticks. */
  readonly start_time: number;
};

/** Facts about this process and others, for the lock's owner line. */
interface ProcessFacts {
  readonly pid: number;
  readonly host: string;
  /** Our user id; `null` where the platform has none. */
  readonly user: number | null;
  /** Identity of a running process of this host; `null` if it does not run or the platform does not tell. */
  readonly identityOf: (pid: number) => ProcessIdentity | null;
  /** True if the platform shows that the process has the file at `path` open. */
  readonly hasOpen: (pid: number, path: string) => boolean;
}

export interface Ports {
  readonly clock: Clock;
  /** A number in [0, 1), for back-off jitter and session ids. */
  readonly random: () => number;
  readonly env: (name: string) => string | undefined;
  readonly process: ProcessFacts;
  readonly files: Files;
  readonly fetch: typeof globalThis.fetch;
  /** The directory that relative paths are resolved against: absolute. */
  readonly workingDirectory: () => string;
  /** The path to pin as the workspace: the real directory, or `/workspace` if a fixture is played. */
  readonly workspacePin: (directory: string) => string;
}

export const DAY_MS = 24 * 60 * 60 * 1000;
