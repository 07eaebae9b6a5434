/** Input that once took minutes. Measures time, so it is for a soak only. */
import assert from "node:assert/strict";
import { lacksBinary } from "../support/needs.ts";
import { IS_SOAK } from "../support/scale.ts";
import { Sandbox } from "../support/reprise.ts";

const message = (role: string, text: string) => {
  const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
  return `${JSON.stringify({ type: "response_item", payload: { type: "message", role, content } })}\n`;
};
const RUN = message("user", "Question") + message("assistant", "Answer");

const SHAPES = ["**_a", "a.", "_a/", "*a!", "~[*", "> ", ">\t", "\n=", "*\n", "[ ", "1. ", "--\n"];

/** Registers a test with a sandbox, and the path of an agent's session in it. */
function soak(name: string, fn: (sandbox: Sandbox, path: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: lacksBinary() !== null || !IS_SOAK,
    fn: async () => {
      await using sandbox = new Sandbox();
      await fn(sandbox, `${sandbox.workspace}/x.jsonl`);
    },
  });
}

/** Seconds that a call takes; it must end with 0, or with any code if `mayFail`. */
async function secondsOf(sandbox: Sandbox, args: readonly string[], mayFail = false): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await sandbox.call(args);
  assert.ok(code === 0 || mayFail, stderr);
  return (performance.now() - start) / 1000;
}

for (const blank of ["\n", "\r\n", "\0\n"]) {
  soak(
    `a source with 100 MB of ${JSON.stringify(blank)} is read or refused in 20 seconds`,
    async (sandbox, path) => {
      Deno.writeTextFileSync(path, RUN + blank.repeat(100e6 / blank.length));
      const seconds = await secondsOf(sandbox, ["import", path, "--dry-run"], true);
      assert.ok(seconds < 20, `${seconds} s`);
    },
  );
}

soak(
  "an import of 120,000 messages takes less than six times as long as a dry run, which writes nothing",
  async (sandbox, path) => {
    Deno.writeTextFileSync(path, RUN.repeat(60_000));
    const work = await secondsOf(sandbox, ["import", path, "--dry-run"]);
    const all = await secondsOf(sandbox, ["import", path]);
    assert.ok(all < 6 * work, `${all} s, of which ${work} s are work`);
  },
);

soak(
  "a page of a megabyte of Markdown that is slow to render takes less than 30 seconds",
  async (sandbox, path) => {
    const texts = SHAPES.map((shape) => message("assistant", shape.repeat(48_000 / shape.length)));
    Deno.writeTextFileSync(path, message("user", "Question") + [...texts, ...texts].join(""));
    const { stdout } = await sandbox.call(["import", path]);
    const seconds = await secondsOf(sandbox, ["show", stdout.trim(), "--html", `${path}.html`]);
    assert.ok(seconds < 30, `${seconds} s`);
  },
);
