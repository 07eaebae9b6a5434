/**
 * What tools tell where a session test is played: as if its scratch directory were the root of everything.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { ToolText } from "./output.ts";
import type { ToolContext } from "./tool.ts";

/** A text and what is kept of it in full, rooted; as it is where no root is given. */
export function rootedText(text: ToolText, { playRoot }: Pick<ToolContext, "playRoot">): ToolText {
  if (playRoot === undefined) return text;
  const { full } = text;
  return {
    ...text,
    text: rooted(text.text, playRoot),
    ...(full === undefined ? {} : { full: { ...full, bytes: rootedBytes(full.bytes, playRoot) } }),
  };
}

/** Bytes of any encoding in which paths below `root` begin with `/`, and `root` itself is `/`. */
export function rootedBytes(bytes: Uint8Array, root: string | undefined): Uint8Array {
  if (root === undefined) return bytes;
  // One character a byte: what is no UTF-8 stays what it is.
  const latin1 = (part: Uint8Array) =>
    Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1");
  const path = latin1(new TextEncoder().encode(root));
  const text = latin1(bytes);
  return text.includes(path) ? new Uint8Array(Buffer.from(rooted(text, path), "latin1")) : bytes;
}

function rooted(text: string, root: string): string {
  return text.replaceAll(`${root}/`, "/").replaceAll(root, "/");
}
