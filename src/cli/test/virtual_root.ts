/**
 * Tools of a session test: what they return names its scratch directory as the root of everything, so that `pwd` prints
 * `/workspace` on any machine.
 *
 * @module
 */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { Buffer } from "node:buffer";
import { finishText, type ToolText } from "../../tools/output.ts";
import { runCommand } from "../../tools/shell/run_command.ts";
import { shell, shellTool } from "../../tools/shell/shell.ts";
import type { Tool } from "../../tools/tool.ts";

/** `tool`, with paths below `root` beginning with `/` in its output, and `root` itself as `/`. */
export function withVirtualRoot(tool: Tool, root: string): Tool {
  // The shell counts the bytes of an output and cuts it: that has to happen after the paths are short.
  if (tool.name === shell.name) {
    return shellTool(async (argv, options) => {
      const result = await runCommand(argv, options);
      return { ...result, output: { ...result.output, bytes: rootedBytes(result.output.bytes, root) } };
    });
  }
  return {
    ...tool,
    async run(args, context) {
      const { output: text, ...rest } = await tool.run(args, { ...context, maxOutputChars: Infinity });
      return finishText(rooted({ ...rest, text }, root), context.maxOutputChars);
    },
  };
}

function rooted(text: ToolText, root: string): ToolText {
  const { full } = text;
  return {
    ...text,
    text: rootedText(text.text, root),
    ...(full === undefined ? {} : { full: { ...full, bytes: rootedBytes(full.bytes, root) } }),
  };
}

/** Bytes of any encoding in which paths below `root` begin with `/`, and `root` itself is `/`. */
export function rootedBytes(bytes: Uint8Array, root: string): Uint8Array {
  // One character a byte: bytes that are not UTF-8 survive.
  const latin1 = (part: Uint8Array) =>
    Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1");
  const path = latin1(encodeUtf8(root));
  const text = latin1(bytes);
  return text.includes(path) ? new Uint8Array(Buffer.from(rootedText(text, path), "latin1")) : bytes;
}

/** The same of a text. */
export function rootedText(text: string, root: string): string {
  return text.replaceAll(`${root}/`, "/").replaceAll(root, "/");
}
