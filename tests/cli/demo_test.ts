import assert from "node:assert/strict";
import { denoCache, Sandbox } from "../support/reprise.ts";

const root = new URL("../../", import.meta.url).pathname;

// The demo runs the sources, whatever binary there is.
Deno.test("the demo repairs a file and runs the check, answers in a second process, and shows what is kept and sent", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${root}scripts/demo.ts`],
    clearEnv: true,
    env: { ...sandbox.environment(), ...denoCache() },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  for (
    const sign of [
      "order 17: 1197 cents, but 1196 were quoted", // the check, before
      "order 17: 1196 cents, as quoted", // and after: the edit is real
      "[request 3] 10 items, 2 of them reasoning",
      "[request 1] 20 items, 5 of them reasoning", // the second process sends the first one's reasoning
      "[saved] turn 7 (harness)", // the decisions are on disk before the edit
      "-> edit_file",
      "<- edit_file: ok",
      "-> shell",
      "<- shell: ok",
      "000013.json",
      '{"format":"reprise.turn/1"',
      "It extends the last request: a prompt cache can be used up to there.", // no false alarm
      "run it with --allow 'shell:sh check.sh' --allow write to keep its prompt cache",
      "Reasoning: 6 sent, 0 left out.",
      "demo: 13 turns, ok",
    ]
  ) assert.ok(text.includes(sign), `${sign} is missing in: ${text}`);
  const processes = [...text.matchAll(/\(process (\d+) ended with exit code 0\)/g)].map(([, pid]) => pid);
  assert.equal(new Set(processes).size, 2, "two processes");
});
