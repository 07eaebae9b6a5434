/** The verb omit, as a user calls it: requests, copies and views of a session. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { PNG } from "./attached_files.ts";
import { assertError, begun, ok, Place, readsThenAnswers } from "./harness.ts";

const SECRET = "the password is hunter2";
const BODY = ["run", "-s", "s", "--dry-run", "--body"];

/** image(1), notes(2), prompt(3), reasoning(4), call(5), usage(6), decision or result(7), …; then a second run. */
async function fill(place: Place): Promise<void> {
  Deno.writeFileSync(`${place.sandbox.workspace}/shot.png`, PNG);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/notes.txt`, SECRET);
  await ok(place, ["run", "--new", "-s", "s", "--attach", "shot.png", "--attach", "notes.txt", SECRET]);
  await ok(place, ["run", "-s", "s", "And now?"]);
}
const placed = begun(readsThenAnswers, fill);

/** The `seq` of the events of a kind, oldest first. */
function seqsOf(place: Place, type: string): number[] {
  const events = place.sandbox.turns("s").flatMap((turn): Json[] => turn.events);
  return events.filter((event) => event.type === type).map(({ seq }) => seq);
}

test("omit takes a call out with its group, of a result it leaves a note; --undo sends the same bytes again", async () => {
  await using place = new Place(readsThenAnswers);
  await fill(place);
  const before = await ok(place, BODY);
  const turns = place.sandbox.turnNames("s");
  const [[call = 0], [result = 0]] = [seqsOf(place, "tool_call"), seqsOf(place, "tool_result")];
  const plan = JSON.parse(await ok(place, ["omit", "s", "--seq", `${call}`, "--dry-run", "--json"]));
  assert.deepEqual(place.sandbox.turnNames("s"), turns);
  assert.deepEqual([plan.seqs, plan.before.entries - plan.after.entries], [[call - 1, call, result], 3]);
  const ofReasoning = JSON.parse(
    await ok(place, ["omit", "s", "--seq", `${call - 1}`, "--dry-run", "--json"]),
  );
  assert.deepEqual(ofReasoning.seqs, plan.seqs, "a group is whole from any of its items");
  const said = await ok(place, ["omit", "s", "--seq", `${call}`]);
  assert.match(
    said,
    /^s: seq 4, 5, \d+ omitted from later requests; the next request has \d+ items instead of/,
  );
  const items = (text: string): Json[] => JSON.parse(text).input;
  assert.equal(items(before).length - items(await ok(place, BODY)).length, 3);
  await ok(place, ["omit", "s", "--undo"]);
  assert.equal(await ok(place, BODY), before);
  await ok(place, ["omit", "s", "--seq", `${result}`]);
  await ok(place, ["run", "-s", "s", "Go on"]);
  const { call_id } = items(before)[2];
  const sent = place.server.requests.at(-1)?.input.filter((item: Json) => item.call_id === call_id) ?? [];
  assert.deepEqual(sent.map(({ type }: Json) => type), ["function_call", "function_call_output"]);
  assert.match(sent[1]?.output, /^\[omitted result, \d+ bytes\]$/);
  const { dropped, repairs } = JSON.parse(await ok(place, ["explain", "s", "--json"]));
  assert.deepEqual(dropped, []);
  assert.deepEqual(repairs.map(({ seq, kind }: Json) => [seq, kind]), [[result, "content_omitted"]]);
  await ok(place, ["fsck", "s", "--requests"]);
});

test("omit --part leaves a note in place of a file or a text, by the seq of the message or of the file", async () => {
  await using place = await placed();
  const whole = await ok(place, BODY);
  await ok(place, ["omit", "s", "--seq", "3", "--part", "1"]);
  await ok(place, ["omit", "s", "--seq", "2"]);
  const [message] = JSON.parse(await ok(place, BODY)).input;
  const notes = ["[omitted image/png, 264 bytes]", "[omitted text/plain, 23 bytes]"];
  assert.deepEqual(message.content.map(({ text }: Json) => text), [...notes, SECRET]);
  await ok(place, ["omit", "s", "--seq", "3"]);
  assert.doesNotMatch(await ok(place, BODY), /hunter2|omitted (image|text)/);
  await ok(place, ["omit", "s", "--undo", "--seq", "2,3"]);
  assert.equal(await ok(place, BODY), whole);
});

test("omit --undo names what is sent again: a part, or one of two items, whose other one stays out", async () => {
  await using place = await placed();
  const whole = await ok(place, BODY);
  await ok(place, ["omit", "s", "--seq", "3", "--part", "1"]);
  const dry = JSON.parse(await ok(place, ["omit", "s", "--undo", "--dry-run", "--json"]));
  assert.deepEqual([dry.seqs, dry.part], [[3], 1]);
  assert.match(await ok(place, ["omit", "s", "--undo"]), /^s: part 1 of seq 3 sent again;/);
  await ok(place, ["omit", "s", "--seq", "2,5"]);
  await ok(place, ["omit", "s", "--seq", "5"]);
  assert.match(
    await ok(place, ["omit", "s", "--undo"]),
    /^s: nothing, because another omission names the same, sent/,
  );
  assert.match(await ok(place, ["omit", "s", "--undo", "--seq", "2"]), /^s: seq 2 sent again;/);
  assert.notEqual(await ok(place, BODY), whole, "the other item is still left out");
  assert.doesNotMatch(await ok(place, BODY), /\[omitted/);
  assert.match(await ok(place, ["omit", "s", "--undo", "--seq", "5"]), /^s: seq 4, 5, \d+ sent again;/);
  assert.equal(await ok(place, BODY), whole);
});

test("omit refuses what it cannot do with exit 2 and the reason", async () => {
  await using place = await placed();
  const refuse = async (args: readonly string[], says: RegExp, hint = /./, code = "usage") => {
    assertError(await place.call(["omit", "s", "--json", ...args]), { code, exit: 2, says, hint });
  };
  await refuse(
    ["--seq", "999"],
    /Cannot omit seq 999 of session "s", where no event is that a request holds/,
  );
  await refuse(["--seq", "3", "--part", "4"], /part 4, but it has only 3/);
  await refuse(["--seq", "3,4", "--part", "1"], /--part: it is for a part of one message/);
  await refuse(["--undo"], /it has no omission/, /./, "nothing_to_withdraw");
  await ok(place, ["compact", "s", "--tail-events", "0"]);
  await refuse(["--seq", "3"], /which the checkpoint up to seq \d+ replaces/, /reprise compact s --undo/);
  // Without the checkpoint and the turn before it, the last run is open.
  const { length } = place.sandbox.turnNames("s");
  for (const turn of [length, length - 1]) Deno.removeSync(place.turnPath("s", turn));
  Deno.removeSync(`${place.path("s")}/manifest.json`);
  await refuse(["--seq", "3"], /run 2 is open/, /reprise interrupt s/);
});

test("views mark what is omitted, copies say that they hold it, and --redact drops it", async () => {
  await using place = await placed();
  const read = (name: string) => Deno.readTextFileSync(`${place.sandbox.workspace}/${name}`);
  await ok(place, ["omit", "s", "--seq", "2,3,5"]);
  assert.match(await ok(place, ["show", "s"]), /\(omitted from later requests:\)/);
  assert.match(await ok(place, ["show", "s", "--events"]), /5 +tool_call +\(omitted\)/);
  assert.match(await ok(place, ["show", "s", "--markdown"]), /omitted from later requests/);
  await ok(place, ["show", "s", "--html", "s.html"]);
  assert.match(read("s.html"), /seq 2, 3, 5 omitted from later requests/);
  const plain = await place.call(["export", "s", "s.export"]);
  assert.match(plain.stderr, /notice: 5 omitted items are in the copy: --redact drops their content/);
  const redacted = JSON.parse(await ok(place, ["export", "s", "r.export", "--redact", "--json"]));
  assert.equal(redacted.omitted, 0);
  assert.doesNotMatch(read("r.export"), /hunter2|shot\.png|notes\.txt/);
  assert.ok(!read("r.export").includes(btoa(SECRET)), "the omitted file is there");
  await ok(place, ["export", "s", "--to", "codex", "-o", "codex.jsonl"]);
  assert.doesNotMatch(read("codex.jsonl"), /hunter2/);
  const request = await ok(place, BODY);
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "r.export"]);
  await ok(place, ["fsck", "s", "--requests"]);
  assert.equal(await ok(place, BODY), request);
});

test("forks and checkpoints bring nothing back that is omitted", async () => {
  await using place = await placed();
  await ok(place, ["omit", "s", "--seq", "1,2,3"]);
  const [ended] = seqsOf(place, "run_ended");
  const fork = (await ok(place, ["fork", "s", "--to-seq", `${ended}`, "--summarize"])).trim();
  assert.doesNotMatch(await ok(place, ["run", "-s", fork, "--dry-run", "--body"]), /hunter2|input_image/);
  await ok(place, ["fsck", fork]);
  assert.doesNotMatch(await ok(place, ["compact", "s", "--tail-events", "2", "--json"]), /hunter2|shot\.png/);
  assert.doesNotMatch(await ok(place, BODY), /hunter2/);
});
