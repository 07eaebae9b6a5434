/** A disk for calls in the tests' own process that reports each operation before it happens, or fails there. */
import type { Json } from "./files.ts";
import type { HereCall } from "./in_process.ts";

/** One operation on files; `write`, `sync` and `close` are those of a new file. */
export interface Operation {
  readonly name: string;
  readonly path: string;
  /** Second path of `link` and `rename`. */
  readonly to?: string;
}

/**
 * Returns the disk with `before` called before each operation; the error that it throws is the operation's. A number that
 * it returns is the share of its bytes that a write takes.
 */
export function spiedDisk(before: (operation: Operation) => number | void): NonNullable<HereCall["disk"]> {
  return (files) =>
    Object.fromEntries(
      Object.entries(files).map(([name, act]) => [name, (...args: Json[]) => {
        const [path, to] = args;
        before({ name, path: String(path), ...(typeof to === "string" ? { to } : {}) });
        const result = (act as Json)(...args);
        if (name !== "createExclusive") return result;
        const inner = (name: string) => (...args: Json[]) => {
          let share: number | void;
          try {
            share = before({ name, path });
          } catch (error) {
            // A close that fails has closed the descriptor all the same, as on Linux.
            if (name === "close") result.close();
            throw error;
          }
          if (share !== undefined) args = [args[0].subarray(0, Math.ceil(args[0].length * share))];
          return result[name](...args);
        };
        return { write: inner("write"), sync: inner("sync"), close: inner("close") };
      }]),
    ) as Json;
}

/** An error of the file system, as the runtime throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`Injected ${code}`), { code });
}
