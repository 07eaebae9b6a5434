/** `interrupt` and `repair` on a log in which an older call has no result: what they record, and what stays the same. */
import assert from "node:assert/strict";
import { openHome } from "../../src/store/home.ts";
import {
  answer as said,
  call,
  endDraft,
  ID,
  modelDraft,
  newWriter,
  reasoning,
  testPorts,
  userDraft,
} from "../unit/store/support.ts";
import { Place, readsThenAnswers } from "./harness.ts";

/** A place with a closed session whose first response holds a call without a result. */
async function edited(): Promise<Place> {
  const place = new Place(readsThenAnswers);
  const ports = testPorts();
  const writer = await newWriter(ports, openHome(ports, place.sandbox.home, { create: true }));
  writer.append(userDraft("x"));
  writer.append(modelDraft([reasoning("rs_1"), call("call_a")]));
  writer.append(modelDraft([said("Done.")]));
  writer.append(endDraft());
  writer.close();
  return place;
}

/** The body of the next request. */
async function nextBody(place: Place): Promise<string> {
  const { code, stdout, stderr } = await place.call(["run", "-s", ID, "--dry-run", "--body", "--json"]);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The events of the newest turn. */
function newestEvents(place: Place): { type: string; call_seq?: number; status?: string }[] {
  const name = place.sandbox.turnNames(ID).at(-1);
  return JSON.parse(Deno.readTextFileSync(`${place.path(ID)}/turns/${name}`)).events;
}

const RECORDED = [["tool_result", 3, "orphaned"]];

Deno.test("a call without a result, before later turns, is answered on disk: by repair, which says so first", async () => {
  await using place = await edited();
  const before = await nextBody(place);
  const foreseen = await place.call(["repair", ID, "--dry-run"]);
  assert.equal(foreseen.stdout, `${ID}: 1 repair would be made\n  answer 1 open call\n`);
  const repaired = await place.call(["repair", ID, "--json"]);
  assert.equal(repaired.code, 0, repaired.stderr);
  const { answered_calls, closed_run } = JSON.parse(repaired.stdout);
  assert.deepEqual([answered_calls, closed_run], [[3], null]);
  assert.deepEqual(
    newestEvents(place).map(({ type, call_seq, status }) => [type, call_seq, status]),
    RECORDED,
  );
  assert.equal(await nextBody(place), before);
  assert.equal((await place.call(["repair", ID])).stdout, `${ID}: nothing to repair\n`);
  const { findings } = JSON.parse((await place.call(["fsck", ID, "--json"])).stdout).sessions[0];
  assert.deepEqual(findings, []);
});

Deno.test("a call without a result, before later turns, is answered on disk: by interrupt", async () => {
  await using place = await edited();
  const before = await nextBody(place);
  const foreseen = await place.call(["interrupt", ID, "--dry-run"]);
  assert.equal(foreseen.stdout, "Would record a result for 1 open call. Nothing was done.\n");
  const { code, stdout, stderr } = await place.call(["interrupt", ID]);
  assert.deepEqual(
    [code, stdout],
    [0, `${ID}: nothing is running; a result was recorded for 1 open call\n`],
    stderr,
  );
  assert.deepEqual(
    newestEvents(place).map(({ type, call_seq, status }) => [type, call_seq, status]),
    RECORDED,
  );
  assert.equal(await nextBody(place), before);
  assert.equal((await place.call(["interrupt", ID])).stdout, `${ID}: nothing is running\n`);
});

Deno.test("a call without a result, before later turns, is answered on disk: by interrupt, which names the calls with --json", async () => {
  await using place = await edited();
  const { stdout } = await place.call(["interrupt", ID, "--json"]);
  assert.deepEqual(JSON.parse(stdout), {
    session: ID,
    interrupted: null,
    closed_run: null,
    answered_calls: [3],
  });
});
