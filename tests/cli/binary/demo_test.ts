import assert from "node:assert/strict";
import { denoCache, Sandbox } from "../../support/reprise.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

// The demo runs the sources, whatever binary there is.
Deno.test("the demo prints each command and the command's own output, and keeps the session", async () => {
  await using sandbox = new Sandbox();
  const kept = `${sandbox.directory}/kept`;
  const temporary = `${sandbox.directory}/tmp`;
  Deno.mkdirSync(temporary);
  const { PATH = "", HOME = "" } = sandbox.environment();
  // Settings of the user play no part.
  const settings = { REPRISE_MODEL: "other", OPENAI_BASE_URL: "http://127.0.0.1:1/v1", TMPDIR: temporary };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${ROOT}scripts/demo.ts`, kept],
    cwd: sandbox.workspace,
    clearEnv: true,
    env: { PATH, HOME, ...denoCache(), ...settings },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  for (
    const sign of [
      "$ (cd ", // each command as it is typed
      "order 17: 1197 cents, but 1196 were quoted", // the check, before
      "$ reprise run --new -s demo --allow write --allow 'shell:sh check.sh' --fixture fixtures/demo/first -w ",
      "Fixed: `src/total.sh` rounded the tax of each line",
      "order 17: 1196 cents, as quoted", // and after: the edit is real
      "It extends the last request: the prompt cache can serve that part.", // no false alarm
      "give --allow 'shell:sh check.sh' --allow write again to keep its prompt cache",
      "Reasoning: 5 sent, 0 left out.", // the second process sends the first one's reasoning
      "$ reprise run -s demo ",
      "192 cents: 64 for each of the three lines.",
      "000013.json",
      '{"format":"reprise.turn/1"',
      "demo: 14 turns, ok",
      `The session is kept in ${kept}. Look at it:`,
    ]
  ) assert.ok(text.includes(sign), `${sign} is missing in: ${text}`);

  assert.deepEqual([...Deno.readDirSync(temporary)], [], "nothing else is left");
  assert.deepEqual([...Deno.readDirSync(kept)].map(({ name }) => name).sort(), [
    "home",
    "workspace",
  ]);
});
