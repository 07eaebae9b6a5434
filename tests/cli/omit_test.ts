/** The verb omit, as a user calls it: requests, copies and views of a session. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { PNG } from "./attached_files.ts";
import { assertError, begun, ok, Place, readsThenAnswers } from "./harness.ts";

const SECRET = "the password is hunter2";

/** image(1), notes(2), prompt(3), reasoning(4), call(5), …; then a second run. */
async function fill(place: Place): Promise<void> {
  write(place, "shot.png", PNG);
  write(place, "notes.txt", new TextEncoder().encode(SECRET));
  await ok(place, ["run", "--new", "-s", "s", "--attach", "shot.png", "--attach", "notes.txt", SECRET]);
  await ok(place, ["run", "-s", "s", "And now?"]);
}
const placed = begun(readsThenAnswers, fill);

function write({ sandbox }: Place, name: string, bytes: Uint8Array): void {
  Deno.writeFileSync(`${sandbox.workspace}/${name}`, bytes);
}

/** The `seq` of the events of a kind, oldest first. */
function seqsOf(place: Place, type: string): number[] {
  return place.sandbox.turnNames("s").flatMap((name) =>
    JSON.parse(Deno.readTextFileSync(`${place.path("s")}/turns/${name}`)).events as JsonObject[]
  ).filter((event) => event.type === type).map(({ seq }) => Number(seq));
}

test("omit takes a call out with its group, and --undo sends the same bytes again; nothing on disk changes", async () => {
  await using place = new Place(readsThenAnswers);
  await fill(place);
  const before = await ok(place, ["run", "-s", "s", "--dry-run", "--body"]);
  const turns = place.sandbox.turnNames("s");
  const [first = 0] = seqsOf(place, "tool_call");
  const plan = JSON.parse(await ok(place, ["omit", "s", "--seq", `${first}`, "--dry-run", "--json"]));
  assert.deepEqual(place.sandbox.turnNames("s"), turns);
  const result = seqsOf(place, "tool_result")[0];
  assert.deepEqual(plan.seqs, [first - 1, first, result]);
  assert.equal(plan.before.entries - plan.after.entries, 3);
  assert.match(
    await ok(place, ["omit", "s", "--seq", `${first}`]),
    /^s: seq 4, 5, \d+ omitted from later requests; the next request has \d+ items instead of \d+/,
  );
  const items = (text: string): JsonObject[] => JSON.parse(text).input;
  const short = await ok(place, ["run", "-s", "s", "--dry-run", "--body"]);
  assert.equal(items(before).length - items(short).length, 3);
  await ok(place, ["omit", "s", "--undo"]);
  assert.equal(await ok(place, ["run", "-s", "s", "--dry-run", "--body"]), before);
  await ok(place, ["omit", "s", "--seq", `${result}`]);
  await ok(place, ["run", "-s", "s", "Go on"]);
  assert.ok(!JSON.stringify(place.server.requests.at(-1)?.input).includes(String(items(before)[2]?.call_id)));
  await ok(place, ["fsck", "s", "--requests"]);
  const explained = JSON.parse(await ok(place, ["explain", "s", "--json"]));
  const omitted = [...explained.reasoning, ...explained.dropped].filter(({ reason }) => reason === "omitted");
  assert.deepEqual(omitted.map(({ seq }) => seq), plan.seqs);
  await ok(place, ["omit", "s", "--undo"]);
  assert.ok(
    (await ok(place, ["run", "-s", "s", "--dry-run", "--body"])).startsWith(
      before.slice(0, before.lastIndexOf("]")),
    ),
  );
  await ok(place, ["fsck", "s", "--requests"]);
});

test("omit --part leaves a note in place of a file or a text, by the seq of the message or of the file", async () => {
  await using place = await placed();
  const whole = await ok(place, ["run", "-s", "s", "--dry-run", "--body"]);
  await ok(place, ["omit", "s", "--seq", "3", "--part", "1"]);
  await ok(place, ["omit", "s", "--seq", "2"]);
  const [message] = JSON.parse(await ok(place, ["run", "-s", "s", "--dry-run", "--body"])).input;
  assert.deepEqual(message.content.map(({ text }: JsonObject) => text), [
    "[omitted image/png, 264 bytes]",
    "[omitted text/plain, 23 bytes]",
    SECRET,
  ]);
  await ok(place, ["omit", "s", "--seq", "3"]);
  assert.doesNotMatch(
    await ok(place, ["run", "-s", "s", "--dry-run", "--body"]),
    /hunter2|omitted (image|text)/,
  );
  await ok(place, ["omit", "s", "--undo", "--seq", "2,3"]);
  assert.equal(await ok(place, ["run", "-s", "s", "--dry-run", "--body"]), whole);
});

test("omit refuses what it cannot do with exit 2 and the reason", async () => {
  await using place = await placed();
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [["--seq", "999"], /Cannot omit seq 999 of session "s", where no event is that a request holds/],
    [["--seq", "3", "--part", "4"], /part 4, but it has only 3/],
    [["--seq", "x"], /"x": it is no seq/],
    [["--seq", "3,4", "--part", "1"], /--part: it is for a part of one message/],
    [[], /--seq is missing/],
  ];
  for (const [args, says] of rows) {
    assertError(await place.call(["omit", "s", "--json", ...args]), { code: "usage", exit: 2, says });
  }
  const undo = ["omit", "s", "--undo", "--json"];
  assertError(await place.call(undo), { code: "nothing_to_withdraw", exit: 2, says: /it has no omission/ });
  await ok(place, ["compact", "s", "--tail-events", "0"]);
  assertError(await place.call(["omit", "s", "--seq", "3", "--json"]), {
    code: "usage",
    exit: 2,
    says: /which the checkpoint up to seq \d+ replaces/,
    hint: /reprise compact s --undo/,
  });
  const last = place.turnPath("s", place.sandbox.turnNames("s").length);
  Deno.removeSync(last);
  Deno.removeSync(`${place.path("s")}/manifest.json`);
  const opened = place.sandbox.turnNames("s").findLast((name) => name !== "")?.replace(/\D/g, "");
  // The turn that ended the last run is lost as well: that run is open.
  Deno.removeSync(place.turnPath("s", Number(opened)));
  assertError(await place.call(["omit", "s", "--seq", "3", "--json"]), {
    code: "usage",
    exit: 2,
    says: /run 2 is open/,
    hint: /reprise interrupt s/,
  });
});

test("views mark what is omitted, copies say that they hold it, and --redact drops it", async () => {
  await using place = await placed();
  await ok(place, ["omit", "s", "--seq", "2,3,5"]);
  assert.match(await ok(place, ["show", "s"]), /\(omitted from later requests:\)/);
  assert.match(await ok(place, ["show", "s", "--events"]), /5 +tool_call +\(omitted\)/);
  assert.match(await ok(place, ["show", "s", "--markdown"]), /omitted from later requests/);
  await ok(place, ["show", "s", "--html", "s.html"]);
  assert.match(
    Deno.readTextFileSync(`${place.sandbox.workspace}/s.html`),
    /seq 2, 3, 5 omitted from later requests/,
  );
  const plain = await place.call(["export", "s", "s.export"]);
  assert.match(plain.stderr, /notice: 5 omitted items are in the copy: --redact drops their content/);
  const redacted = JSON.parse(await ok(place, ["export", "s", "r.export", "--redact", "--json"]));
  assert.equal(redacted.omitted, 0);
  const text = Deno.readTextFileSync(`${place.sandbox.workspace}/r.export`);
  assert.doesNotMatch(text, /hunter2|shot\.png|notes\.txt/);
  assert.ok(!text.includes(btoa(SECRET)), "the omitted file is there");
  await ok(place, ["export", "s", "--to", "codex", "-o", "codex.jsonl"]);
  assert.doesNotMatch(Deno.readTextFileSync(`${place.sandbox.workspace}/codex.jsonl`), /hunter2/);
  const request = await ok(place, ["run", "-s", "s", "--dry-run", "--body"]);
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "r.export"]);
  await ok(place, ["fsck", "s", "--requests"]);
  assert.equal(await ok(place, ["run", "-s", "s", "--dry-run", "--body"]), request);
});

test("forks and checkpoints bring nothing back that is omitted", async () => {
  await using place = await placed();
  const [, answered = 0] = seqsOf(place, "run_ended");
  const [ended = 0] = seqsOf(place, "run_ended");
  await ok(place, ["omit", "s", "--seq", "1,2,3"]);
  for (const cut of [ended, answered]) {
    const fork = (await ok(place, ["fork", "s", "--to-seq", String(cut), "--summarize"])).trim();
    assert.doesNotMatch(await ok(place, ["run", "-s", fork, "--dry-run", "--body"]), /hunter2|input_image/);
    await ok(place, ["fsck", fork]);
  }
  const plan = JSON.parse(await ok(place, ["compact", "s", "--tail-events", "2", "--json"]));
  assert.doesNotMatch(JSON.stringify(plan), /hunter2|shot\.png/);
  assert.doesNotMatch(await ok(place, ["run", "-s", "s", "--dry-run", "--body"]), /hunter2/);
});
