/**
 * A directory tree in memory, read-only, so that ten thousand damaged copies of a session cost no disk.
 *
 * @module
 */
import type { Files } from "../../../src/domain/ports.ts";

/** Files by full path. Directories are what the paths imply. */
export type Tree = Map<string, Uint8Array>;

/** Reads a real directory into memory; names in `without` are left out. */
export function treeOf(root: string, without: readonly string[] = []): Tree {
  const tree: Tree = new Map();
  const visit = (directory: string) => {
    for (const entry of Deno.readDirSync(directory)) {
      if (without.includes(entry.name)) continue;
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory) visit(path);
      else tree.set(path, Deno.readFileSync(path));
    }
  };
  visit(root);
  return tree;
}

/** The file port of a tree: everything is ours and has the right mode; whatever would write throws. */
export function memoryFiles(tree: Tree): Files {
  const writes = () => {
    throw new Error("A reader tried to write");
  };
  const common = { owner: Deno.uid(), device: 1, inode: 1, modified: 0 };
  const isDirectory = (path: string) => {
    for (const name of tree.keys()) if (name.startsWith(`${path}/`)) return true;
    return false;
  };
  return {
    facts(path) {
      const bytes = tree.get(path);
      if (bytes !== undefined) return { ...common, kind: "file", size: bytes.length, mode: 0o600 };
      return isDirectory(path) ? { ...common, kind: "directory", size: 0, mode: 0o700 } : null;
    },
    read(path) {
      const bytes = tree.get(path);
      if (bytes === undefined) throw new Deno.errors.NotFound(path);
      return bytes;
    },
    openRead(path) {
      const bytes = this.read(path);
      let at = 0;
      return {
        read(into) {
          const chunk = bytes.subarray(at, at + into.length);
          into.set(chunk);
          at += chunk.length;
          return chunk.length;
        },
        close: () => {},
      };
    },
    holdDirectory: () => ({ close: () => {} }),
    list(path) {
      const names = new Set<string>();
      for (const name of tree.keys()) {
        if (name.startsWith(`${path}/`)) names.add(name.slice(path.length + 1).split("/")[0] as string);
      }
      return [...names];
    },
    makeDirectory: writes,
    createExclusive: writes,
    link: writes,
    rename: writes,
    unlink: writes,
    setMode: writes,
    syncDirectory: writes,
  };
}
