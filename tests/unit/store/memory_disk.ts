/**
 * A disk in memory that can be written to, so that thousands of repairs cost no fsync. Hard links are real: two
 * names of one node.
 *
 * @module
 */
import type { Files } from "../../../src/domain/ports.ts";
import { CHANGING, type Operation } from "./spy_files.ts";

interface Node {
  readonly inode: number;
  /** `null` for a directory. */
  bytes: Uint8Array | null;
  mode: number;
}

/** Options of a memory disk. */
export interface MemoryDiskOptions {
  /** Called before each operation that changes something; what it throws is the operation's error. */
  readonly before?: (operation: Operation) => void;
  /** A file system without hard links. */
  readonly noLinks?: boolean;
}

/** For tests of readers, which change nothing. */
export const READ_ONLY: MemoryDiskOptions = {
  before: ({ name, path }) => {
    throw new Error(`A reader tried to ${name} ${path}`);
  },
};

/** A small file system. Parents must exist, as on a real one. */
export class MemoryDisk {
  readonly #nodes = new Map<string, Node>();
  #inodes = 0;

  /** A directory with everything above it. */
  directory(path: string): void {
    let at = "";
    for (const part of path.split("/").slice(1)) {
      at += `/${part}`;
      if (!this.#nodes.has(at)) this.#nodes.set(at, this.#node(null, 0o700));
    }
  }

  /** Writes a file, over whatever is there. */
  write(path: string, bytes: Uint8Array, mode = 0o600): void {
    this.directory(path.slice(0, path.lastIndexOf("/")));
    this.#nodes.set(path, this.#node(bytes, mode));
  }

  remove(path: string): void {
    this.#nodes.delete(path);
  }

  read(path: string): Uint8Array | undefined {
    return this.#nodes.get(path)?.bytes ?? undefined;
  }

  /** The paths of all files, sorted. */
  paths(): string[] {
    return [...this.#nodes].filter(([, { bytes }]) => bytes !== null).map(([path]) => path).sort();
  }

  /** Another disk with the same content. */
  copy(): MemoryDisk {
    const copy = new MemoryDisk();
    for (const [path, { bytes, mode }] of this.#nodes) copy.#nodes.set(path, copy.#node(bytes, mode));
    return copy;
  }

  /** Everything as text: path, mode, and the bytes themselves. */
  listing(): string {
    return [...this.#nodes].map(([path, { bytes, mode }]) =>
      `${path} ${mode.toString(8)} ${bytes === null ? "" : new TextDecoder("latin1").decode(bytes)}`
    ).sort().join("\n");
  }

  /** The file port of this disk. */
  files({ before = () => {}, noLinks = false }: MemoryDiskOptions = {}): Files {
    const nodes = this.#nodes;
    const change = (name: Operation["name"], path: string, to?: string) => {
      if (CHANGING.has(name)) before({ name, path, ...(to === undefined ? {} : { to }) });
    };
    const find = (path: string): Node => {
      const node = nodes.get(path);
      if (node === undefined) throw new Deno.errors.NotFound(path);
      return node;
    };
    const free = (path: string) => {
      if (nodes.has(path)) throw new Deno.errors.AlreadyExists(path);
      find(path.slice(0, path.lastIndexOf("/")));
    };
    const read = (path: string) => {
      const { bytes } = find(path);
      if (bytes === null) throw Object.assign(new Error(path), { code: "EISDIR" });
      return bytes;
    };
    return {
      facts: (path) => {
        const node = nodes.get(path);
        if (node === undefined) return null;
        return {
          kind: node.bytes === null ? "directory" : "file",
          size: node.bytes?.length ?? 0,
          mode: node.mode,
          owner: Deno.uid(),
          device: 1,
          inode: node.inode,
          modified: 0,
        };
      },
      read,
      openRead: (path) => {
        let rest = read(path);
        return {
          read: (into) => {
            const chunk = rest.subarray(0, into.length);
            into.set(chunk);
            rest = rest.subarray(chunk.length);
            return chunk.length;
          },
          close: () => {},
        };
      },
      holdDirectory: () => ({ close: () => {} }),
      list: (path) => {
        find(path);
        return [...nodes.keys()].filter((name) => name.startsWith(`${path}/`))
          .map((name) => name.slice(path.length + 1)).filter((name) => !name.includes("/"));
      },
      makeDirectory: (path, mode) => {
        change("makeDirectory", path);
        free(path);
        nodes.set(path, this.#node(null, mode));
      },
      createExclusive: (path, mode) => {
        change("createExclusive", path);
        free(path);
        const node = this.#node(new Uint8Array(0), mode);
        nodes.set(path, node);
        return {
          write: (bytes) => {
            change("write", path);
            node.bytes = Uint8Array.of(...node.bytes ?? [], ...bytes);
            return bytes.length;
          },
          sync: () => change("sync", path),
          close: () => {},
        };
      },
      link: (from, to) => {
        change("link", from, to);
        const node = find(from);
        if (noLinks || node.bytes === null) throw Object.assign(new Error(from), { code: "EPERM" });
        free(to);
        nodes.set(to, node);
      },
      rename: (from, to) => {
        change("rename", from, to);
        const node = find(from);
        if (node === nodes.get(to)) return;
        for (const [path, inside] of [...nodes]) {
          if (!path.startsWith(`${from}/`)) continue;
          nodes.delete(path);
          nodes.set(to + path.slice(from.length), inside);
        }
        nodes.delete(from);
        nodes.set(to, node);
      },
      unlink: (path) => {
        change("unlink", path);
        find(path);
        nodes.delete(path);
      },
      setMode: (path, mode) => {
        change("setMode", path);
        find(path).mode = mode;
      },
      syncFiles: async (paths) => {
        await Promise.resolve();
        for (const path of paths) change("sync", path);
      },
      syncDirectory: (path) => change("syncDirectory", path),
    };
  }

  #node(bytes: Uint8Array | null, mode: number): Node {
    return { inode: ++this.#inodes, bytes, mode };
  }
}
