/**
 * A file port around the real one that reports each operation before it happens, so that a test can write the
 * order down or throw instead.
 */
import type { Files, WritableFile } from "../../src/domain/ports.ts";
import { denoFiles } from "../../src/store/deno_files.ts";

/** One operation of the file port, `write`, `sync` and `close` of an open file included. */
export interface Operation {
  readonly name: keyof Files | keyof WritableFile;
  readonly path: string;
  /** The second path of `link` and `rename`. */
  readonly to?: string;
}

/** Changes of a spy to one write. */
export interface SpyOptions {
  /** Returns the number of bytes that a write accepts. */
  readonly take?: (bytes: number) => number;
  /** False where no test asks what survives a power failure: fsyncs are reported, and left out. */
  readonly syncs?: boolean;
}

/** The real file port, with `before` called before each operation; what `before` throws is the operation's error. */
export function spyFiles(before: (operation: Operation) => void, options: SpyOptions = {}): Files {
  const spied = <A extends string[], R>(name: keyof Files, run: (path: string, ...rest: A) => R) => {
    return (path: string, ...rest: A): R => {
      const to = typeof rest[0] === "string" ? { to: rest[0] } : {};
      before({ name, path, ...to });
      return run(path, ...rest);
    };
  };
  return {
    facts: spied("facts", denoFiles.facts),
    read: spied("read", denoFiles.read),
    openRead: spied("openRead", denoFiles.openRead),
    holdDirectory: spied("holdDirectory", denoFiles.holdDirectory),
    list: spied("list", denoFiles.list),
    makeDirectory: (path, mode) => {
      before({ name: "makeDirectory", path });
      denoFiles.makeDirectory(path, mode);
    },
    createExclusive: (path, mode) => {
      before({ name: "createExclusive", path });
      return spyFile(denoFiles.createExclusive(path, mode), { path, before, options });
    },
    link: spied<[string], void>("link", denoFiles.link),
    rename: spied<[string], void>("rename", denoFiles.rename),
    unlink: spied("unlink", denoFiles.unlink),
    setMode: (path, mode) => {
      before({ name: "setMode", path });
      denoFiles.setMode(path, mode);
    },
    syncFiles: async (paths) => {
      for (const path of paths) {
        before({ name: "sync", path });
        if (options.syncs !== false) await denoFiles.syncFiles([path]);
      }
    },
    syncDirectory: spied("syncDirectory", options.syncs === false ? () => {} : denoFiles.syncDirectory),
  };
}

function spyFile(
  file: WritableFile,
  { path, before, options }: {
    readonly path: string;
    readonly before: (operation: Operation) => void;
    readonly options: SpyOptions;
  },
): WritableFile {
  return {
    write(bytes) {
      before({ name: "write", path });
      const count = options.take?.(bytes.length) ?? bytes.length;
      return count === 0 ? 0 : file.write(bytes.subarray(0, count));
    },
    sync() {
      before({ name: "sync", path });
      if (options.syncs !== false) file.sync();
    },
    close() {
      try {
        before({ name: "close", path });
      } finally {
        // A failing close has closed the descriptor all the same, as on Linux.
        file.close();
      }
    },
  };
}

/** A file system's error with that code, as the runtime throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`Injected ${code}`), { code });
}
