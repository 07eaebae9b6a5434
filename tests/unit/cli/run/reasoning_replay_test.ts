/** The reasoning that the requests of several runs hold, by the flags, endpoints and refusals between them. */
import assert from "node:assert/strict";
import { read } from "../../../support/calls.ts";
import { type GivenRun, type PlayedRequest, PlayedSession } from "../../../support/played_session.ts";
import { answer, message, reasoning } from "../../../support/responses_server.ts";
import { refuse } from "../../../support/responses_server/refusing.ts";

const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
const READS_A = answer([reasoning("Looking"), read("a.txt")]);
const DONE = answer([message("Done.")]);
const ELSEWHERE = "https://eu.api.openai.com/v1";
const OLD_MODEL = "gpt-4.1";
const NO_INCLUDE = refuse({
  message: "Encrypted content is not supported with this model.",
  param: "include",
}, "http");

Deno.test("a later run sends the reasoning of the runs before it", async () => {
  await assertReasoning([reads(), reads(), hello()], [[0, 1], [2, 3], [4]]);
});

Deno.test("--replay none holds in every request of its run, and in no other run", async () => {
  await assertReasoning([reads(), reads("--replay", "none"), reads()], [[0, 1], [0, 0], [4, 5]]);
});

Deno.test("--replay last:N bounds the reasoning from before the prompt, not the run's own", async () => {
  await assertReasoning([reads(), reads(), reads("--replay", "last:3")], [[0, 1], [2, 3], [3, 4]]);
});

Deno.test("--replay family sends what another model of the family made", async () => {
  await assertReasoning([hello(), { ...hello("--replay", "family"), model: "gpt-5.6-mini" }], [[0], [1]]);
});

Deno.test("back at its own endpoint, a session sends what was made there and nothing made elsewhere", async () => {
  const runs = [reads(), { ...reads(), baseUrl: ELSEWHERE }, reads()];
  await assertReasoning(runs, [[0, 1], [0, 1], [2, 3]]);
});

Deno.test("a member that one model at one endpoint refuses is left out there, and sent elsewhere", async () => {
  const runs: readonly GivenRun[] = [
    { answers: [NO_INCLUDE, DONE], model: OLD_MODEL },
    { answers: [DONE], model: OLD_MODEL },
    { answers: [DONE] },
    { answers: [NO_INCLUDE, DONE], model: OLD_MODEL, baseUrl: ELSEWHERE },
  ];
  const asked = await requestsOf(runs);
  assert.deepEqual(asked.map((run) => run.map((request) => "include" in request)), [
    [true, false],
    [false],
    [true],
    [true, false],
  ]);
});

/** A run with one call and an answer: two reasoning items. */
function reads(...flags: readonly string[]): GivenRun {
  return { args: [...flags, "What is in a.txt?"], answers: [READS_A, HELLO] };
}

function hello(...flags: readonly string[]): GivenRun {
  return { args: [...flags, "Hello?"], answers: [HELLO] };
}

/** Checks how many reasoning items each request of each run holds, and that requests without any hold no item ids. */
async function assertReasoning(runs: readonly GivenRun[], counts: readonly (readonly number[])[]) {
  const requests = await requestsOf(runs);
  const isReasoning = ({ type }: { readonly type?: unknown }) => type === "reasoning";
  const found = requests.map((run) => run.map(({ input = [] }) => input.filter(isReasoning).length));
  assert.deepEqual(found, counts);
  // An id would make the API demand the reasoning that the item was made with.
  for (const { input = [] } of requests.flat()) {
    assert.ok(input.some(isReasoning) || input.every(({ id }) => id === undefined));
  }
}

async function requestsOf(runs: readonly GivenRun[]): Promise<readonly (readonly PlayedRequest[])[]> {
  await using session = await PlayedSession.open({ "a.txt": "alpha\n" });
  const requests = [];
  for (const run of runs) {
    const played = await session.run(run);
    assert.deepEqual([played.exit, played.state], [0, "completed"]);
    requests.push(played.requests);
  }
  assert.equal((await session.call("fsck", "s", "--requests")).exit, 0);
  return requests;
}
