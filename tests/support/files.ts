import { createHash } from "node:crypto";

/** Any value of JSON. */
// deno-lint-ignore no-explicit-any
export type Json = any;

/** Hex digits of the sha256 of a text or of bytes. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The bytes of all plain files below a directory, by their paths inside it, sorted; files called `except` are left out. */
export function bytesBelow(directory: string, except?: string): Map<string, Uint8Array<ArrayBuffer>> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const visit = (prefix: string) => {
    const entries = [...Deno.readDirSync(`${directory}/${prefix}`)].sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, isDirectory, isFile } of entries) {
      if (isDirectory) visit(`${prefix}${name}/`);
      else if (isFile && name !== except) {
        files.set(prefix + name, Deno.readFileSync(`${directory}/${prefix}${name}`));
      }
    }
  };
  visit("");
  return files;
}

/** The texts of all files below a directory, as {@linkcode bytesBelow} gives their bytes. */
export function textsBelow(directory: string, except?: string): Map<string, string> {
  const decoder = new TextDecoder();
  return new Map([...bytesBelow(directory, except)].map(([path, bytes]) => [path, decoder.decode(bytes)]));
}

/** Calls `work` with a folder that is gone afterwards. */
export function inFolder<T>(work: (root: string) => T): T {
  const root = Deno.makeTempDirSync({ prefix: "reprise-tend-" });
  try {
    return work(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}
