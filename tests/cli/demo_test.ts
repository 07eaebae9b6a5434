import assert from "node:assert/strict";
import { PROGRAM, Sandbox } from "../support/reprise.ts";

const root = new URL("../../", import.meta.url).pathname;

// The demo runs the sources, whatever binary there is.
if (PROGRAM.length > 1) {
  Deno.test({
    name: "the demo shows two runs, the files, what went back and why, and that all is sound",
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      await using sandbox = new Sandbox();
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", `${root}scripts/demo.ts`],
        clearEnv: true,
        env: sandbox.environment(),
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      for (
        const sign of [
          "[request 3] 10 items, 2 of them reasoning",
          "[request 1] 14 items, 4 of them reasoning", // the second process sends the first one's reasoning
          "-> read_file",
          "000010.json",
          '{"format":"reprise.turn/1"',
          "Reasoning: 5 sent, 0 left out.",
          "demo: 10 turns, ok",
        ]
      ) assert.ok(text.includes(sign), `${sign} is missing in: ${text}`);
      const processes = [...text.matchAll(/\(process (\d+) ended with exit code 0\)/g)].map(([, pid]) => pid);
      assert.equal(new Set(processes).size, 2, "two processes");
    },
  });
}
