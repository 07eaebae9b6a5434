/** Output of a run for scripts and people: the answer on stdout, everything else on stderr. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message } from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";
import { HELLO, Place } from "./harness.ts";

const READS = answer([
  message("Let me look.", { phase: "commentary" }),
  functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
]);

test("stdout of a run stays empty unless an answer was completed", async () => {
  const cut = { end: { kind: "cut" } } as const;
  const cases = [
    { code: 10, script: [answer([message("Half of it")], cut)] },
    { code: 10, script: [answer([{ ...message("Half of it"), unfinished: true } as const], cut)] },
    {
      code: 6,
      script: [answer([message("So far")], { end: { kind: "incomplete", reason: "max_output_tokens" } })],
    },
    { code: 6, script: [answer([message("I will not.", { refusal: true })])] },
    { code: 4, script: [READS], flags: ["--max-steps", "1"] },
  ];
  for (const { code, script, flags = [] } of cases) {
    await using place = new Place(script);
    const called = await place.call(["run", ...flags, "-o", "answer.txt", "Look"]);
    assert.equal(called.code, code, called.stderr);
    assert.equal(called.stdout, "");
    assert.throws(() => Deno.statSync(`${place.sandbox.workspace}/answer.txt`), Deno.errors.NotFound);
  }
});

test("the session id is on stderr, also if stderr is no terminal, and not with --quiet", async () => {
  await using place = new Place([HELLO, HELLO, HELLO]);
  const first = await place.call(["run", "--new", "-s", "s", "Hi"]);
  assert.match(first.stderr, /^session s \(new\)$/m);
  assert.match((await place.call(["run", "-s", "s", "Hi"])).stderr, /^session s$/m);
  assert.equal((await place.call(["run", "-s", "s", "--quiet", "Hi"])).stderr, "");
});

test.process("--stream prints text of the model as it comes", async () => {
  const stall = answer([{ ...message("Half of it"), unfinished: true } as const], { end: { kind: "stall" } });
  await using place = new Place([READS, stall, HELLO]);
  const started = place.start(["run", "--stream", "--new", "-s", "s", "Look"]);
  await started.printed("Half of it");
  started.process.kill("SIGTERM");
  const called = await started.ended();
  assert.equal(called.code, 143, called.stderr);
  assert.equal(called.stdout, "Let me look.\nHalf of it\n");
  assert.equal((await place.call(["run", "--stream", "-s", "s", "Hi"])).stdout, "Hello.\n");
});

test("--stream prints a message whose server sent no deltas, once", async () => {
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text: "All at once.", annotations: [] }];
  await using place = new Place([answer([{ kind: "item", item: { ...item, content } }])]);
  assert.equal((await place.call(["run", "--stream", "Hi"])).stdout, "All at once.\n");
});
