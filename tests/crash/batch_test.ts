/** A run that is killed in a batch of commands keeps each finished result, and says of each other call what is known. */
import assert from "node:assert/strict";
import { isJsonObject } from "../../src/domain/json.ts";
import { HELLO, Place } from "../cli/harness.ts";
import { answer, functionCall, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { scaled } from "../support/scale.ts";
import { pause, signal } from "./killing.ts";

const CALLS = [1, 2, 3, 4];
/** Longer than all calls take together. */
const BATCH_MS = 400;

/** Asks for commands that leave a mark when they start, and take a moment. */
const script: Script = ({ input }) =>
  JSON.stringify(input.at(-1)).includes("Begin")
    ? answer([
      reasoning("Working"),
      ...CALLS.map((number) =>
        functionCall("shell", { command: `: > started-${number}; sleep 0.05; echo finished-${number}` })
      ),
    ])
    : HELLO;

/** Kills a run `delay` milliseconds after its first call started; returns the marks, and the outputs that are sent next. */
async function killedAfter(
  delay: number,
): Promise<{ readonly started: boolean[]; readonly outputs: string[] }> {
  await using place = new Place(script);
  const run = ["run", "--json", "-w", place.sandbox.workspace, "--allow", "shell", "-s", "s"];
  const killed = place.start([...run, "--new", "Begin"]);
  await killed.printed('"type":"tool.started"');
  await pause(delay);
  signal(killed, "SIGKILL");
  await killed.ended();
  const next = await place.call([...run, "Go on"]);
  assert.equal(next.code, 0, next.stdout);
  const input = place.server.requests.at(-1)?.input ?? [];
  const outputs = input.flatMap((item) =>
    isJsonObject(item) && item.type === "function_call_output" ? [JSON.stringify(item.output)] : []
  );
  const marks = new Set([...Deno.readDirSync(place.sandbox.workspace)].map(({ name }) => name));
  return { started: CALLS.map((number) => marks.has(`started-${number}`)), outputs };
}

Deno.test("a run killed in a batch of commands loses no finished result, and knows which calls were not started", async () => {
  const seen = new Set<string>();
  const kills = scaled(20, 200);
  for (let kill = 0; kill < kills; kill++) {
    const { started, outputs } = await killedAfter(kill / kills * BATCH_MS);
    assert.equal(outputs.length, CALLS.length);
    const states = outputs.map((output, index) =>
      output.includes(`finished-${index + 1}`)
        ? "finished"
        : output.includes("may or may not have run")
        ? "unknown"
        : output.includes("before this call was started")
        ? "not started"
        : output
    );
    assert.match(states.join(","), /^(finished,?)*(unknown,?)?(not started,?)*$/, `kill ${kill}`);
    states.forEach((state, index) => {
      if (started[index + 1]) assert.equal(state, "finished", `kill ${kill}: call ${index + 2} was started`);
      if (state === "not started") assert.ok(!started[index], `kill ${kill}: call ${index + 1}`);
      seen.add(state);
    });
  }
  assert.deepEqual([...seen].sort(), ["finished", "not started", "unknown"]);
});
