/** `write_file`: a file with exactly this content. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { shownPath } from "../output.ts";
import { replaceFile } from "./replace_file.ts";
import { confirmJudged, defineTool, requiredArgument, type Tool } from "../tool.ts";
import { currentText } from "./current_text.ts";
import { refusal, writeTarget } from "./write_target.ts";

export const writeFile: Tool = defineTool({
  name: "write_file",
  description:
    "Write a text file of the workspace: creates it, with the directories on the way, or replaces all of its " +
    "content. To change a part of a file, use edit_file. Links, .git, .env files, CI configuration and other " +
    "protected names are refused.",
  arguments: {
    path: requiredArgument("string", "The file, relative to the workspace"),
    content: requiredArgument("string", "The whole new content"),
  },
  group: "write",
  target: ({ path }, context) => ({ kind: "path", path: writeTarget(path, context).shown }),
  async change({ path, content }, context) {
    const target = writeTarget(path, context);
    const before = target.exists ? await currentText(context.root, target.shown) : null;
    return { before, after: content, isPart: false };
  },
  // deno-lint-ignore require-await -- an error becomes a rejection; the write itself must not be interleaved
  async run({ path, content }, context) {
    const target = writeTarget(path, context);
    confirmJudged(context, target.shown);
    // The encoder would put U+FFFD in place of a lone surrogate without a word.
    if (!content.isWellFormed()) throw refusal(target.shown, "the content is not valid Unicode");
    const bytes = encodeUtf8(content);
    let replaced: number | null = null;
    replaceFile(context.root, target, (current) => {
      replaced = current === null ? null : current.size;
      return bytes;
    });
    const was = replaced === null ? "a new file" : `it had ${replaced} bytes before`;
    return { status: "ok", text: `Wrote ${shownPath(target.shown)}: ${bytes.length} bytes (${was})` };
  },
});
