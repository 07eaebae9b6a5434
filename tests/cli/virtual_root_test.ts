import assert from "node:assert/strict";
import { hideRootInBytes, withVirtualRoot } from "../../src/cli/test/step.ts";
import { finishText, type ToolText } from "../../src/tools/output.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";

const ROOT = "/tmp/é/reprise-session-1";
/** Context of a call in this directory. */
const CONTEXT: ToolContext = {
  ...{ root: Deno.cwd(), signal: new AbortController().signal, protectedPaths: [] },
  ...{ env: () => undefined, isHidden: () => false },
};
const utf8 = (text: string) => new TextEncoder().encode(text);

/** A tool that returns `text`, cut as every tool cuts it. */
function saying(text: ToolText): Tool {
  const run: Tool["run"] = (_args, { maxOutputChars }) => Promise.resolve(finishText(text, maxOutputChars));
  return { ...shell, name: "says", run };
}

Deno.test("in a played session paths below its scratch directory begin with /, in texts and in what is kept in full", async () => {
  const text = `${ROOT}/workspace/a.txt:1\n${ROOT}\nPWD=${ROOT}/workspace\n/tmp/é\n`;
  const rooted = "/workspace/a.txt:1\n/\nPWD=/workspace\n/tmp/é\n";
  const full = { bytes: utf8(text), lossy: false };
  const live = saying({ status: "ok", text, full });
  assert.deepEqual(await withVirtualRoot(live, ROOT).run({}, CONTEXT), {
    status: "ok",
    output: rooted,
    full: { bytes: utf8(rooted), lossy: false },
  });
  assert.deepEqual(await live.run({}, CONTEXT), { status: "ok", output: text, full });
});

Deno.test("an output is cut after its paths are short: the same characters are left wherever the session is played", async () => {
  const context = { ...CONTEXT, maxOutputChars: 200 };
  const text = (root: string) => `${root}/a\n`.repeat(100);
  const played = await withVirtualRoot(saying({ status: "ok", text: text(ROOT) }), ROOT).run({}, context);
  assert.deepEqual(played, await saying({ status: "ok", text: text("") }).run({}, context));
  assert.ok(played.output.length <= 200 && played.full !== undefined);
});

Deno.test("the shell counts the bytes of an output whose paths are short", async () => {
  const args = { command: "pwd", argv: null, timeout_seconds: null };
  const { root } = CONTEXT;
  const played = await withVirtualRoot(shell, root.slice(0, root.lastIndexOf("/"))).run(
    args,
    CONTEXT,
  );
  const shown = root.slice(root.lastIndexOf("/"));
  assert.equal(played.output, `[Exit code 0; ${shown.length + 1} bytes of output follow]\n${shown}\n`);
});

Deno.test("bytes that are no UTF-8 stay what they are around a path", () => {
  const bytes = new Uint8Array([0xff, ...utf8(`${ROOT}/x`), 0xc3, 0x00]);
  assert.deepEqual(hideRootInBytes(bytes, ROOT), new Uint8Array([0xff, ...utf8("/x"), 0xc3, 0x00]));
});
