/** Tests for the matches of `search`, and the places that it prints. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, message, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";
import { assertError, begun, ok, type Place } from "./harness.ts";

/** Half of a long output; the turn keeps its head and tail. */
const HALF = `${"x".repeat(80)}\n`.repeat(500);

/** Arguments as encoders write them that leave only ASCII, or escape what HTML gives a meaning. */
const ESCAPED = String
  .raw`{"pattern":"Caf\u00e9 \ud83d\ude00 a\u003cb c\/d e\\f \u0022g\u0022 \u00C5ngstr\u00f6m","path":null}`;

const script: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([
      reasoning("Thinking about marmalade"),
      functionCall("read_file", { path: "long.txt", offset: null, limit: null }),
      functionCall("search_text", { pattern: 'say "quoted"\nnew line', path: null }),
      functionCall("search_text", ESCAPED),
    ])
    : answer([message("The Quick brown fox; über Größe; 修复 done.")]);

const searched = begun(script, async (place) => {
  Deno.writeTextFileSync(`${place.sandbox.workspace}/long.txt`, `${HALF}needle in the middle\n${HALF}`);
  await place.session("fox", "Tell me of\nthe fox");
  await place.session("other", "Something else");
  await ok(place, ["fork", "fox"]);
});

/** The hits of a search as `id turn type`, and the whole report. */
async function found(place: Place, text: string): Promise<{ hits: string[]; report: Json }> {
  const report = JSON.parse(await ok(place, ["search", text, "--json"]));
  const hits = report.sessions.flatMap(({ id, hits }: Json) =>
    hits.map(({ turn, type, at: [from, to], text: around }: Json) => {
      assert.equal(around.slice(from, to).toLowerCase(), text.replace("\n", " ").toLowerCase());
      return `${id} ${turn} ${type}`;
    })
  );
  return { hits, report };
}

test("search finds prompts, answers, summaries of reasoning, calls and outputs, whatever the case", async () => {
  await using place = await searched();
  // A turn that a fork shares is reported once, in the session that wrote it.
  assert.deepEqual((await found(place, "of\nthe fox")).hits, ["fox 1 user_message"]);
  for (
    const [text, hit] of [
      ["quick BROWN", "4 assistant_message"],
      ["ÜBER größe", "4 assistant_message"],
      ["修复", "4 assistant_message"],
      ["marmalade", "2 reasoning"],
      ["long.txt", "2 tool_call"],
      ['"quoted"', "2 tool_call"],
      ['say "quoted"\nnew', "2 tool_call"],
      ...["café", "CAFÉ 😀", "A<b", "c/d", "e\\f", '"g"', "ångström"].map((text) =>
        [text, "2 tool_call"] as const
      ),
    ] as const
  ) {
    assert.deepEqual((await found(place, text)).hits, [`other ${hit}`, `fox ${hit}`], text);
  }
  assert.ok(!JSON.stringify(place.sandbox.turns("other")).includes("needle"), "the output was cut");
  assert.deepEqual((await found(place, "Needle in the MIDDLE")).hits, [
    "other 3 tool_result",
    "fox 3 tool_result",
  ]);
  await ok(place, ["rm", "fox", "--yes"]);
  assert.equal((await found(place, "of\nthe fox")).hits.length, 1, "the fork still has them");
});

test("search finds no ids, hashes or encrypted bytes, and nothing is no error", async () => {
  await using place = await searched();
  const [turn, { events: [{ item }] }] = place.sandbox.turns("fox");
  for (const text of [turn.sum, item.encrypted_content, item.id, turn.pins.tools, "provider_usage"]) {
    assert.deepEqual((await found(place, text)).hits, [], text);
  }
  const { code, stdout, stderr } = await place.call(["search", "nowhere at all"]);
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(stderr, /no match in 3 sessions/);
  assertError(await place.call(["search", " ", "--json"]), { code: "usage", exit: 2 });
});

test("search prints session, turn and the text around, and names damaged turns that it could not search", async () => {
  await using place = await searched();
  const text = await place.call(["search", "brown fox", "--limit", "1"]);
  assert.match(
    text.stdout,
    /^other {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}Something else\n {2}turn +\d+ {2}assistant_message +The Quick brown fox;/,
  );
  assert.match(text.stderr, /1 hit in 1 session of 3/);
  Deno.writeTextFileSync(place.turnPath("fox", 2), "brown fox, but no turn");
  const { report: { skipped } } = await found(place, "brown fox");
  assert.deepEqual(skipped.map(({ path }: Json) => path), ["fox/turns/000002.json"]);
});

test("search shows the first five hits of a session, and counts the others", async () => {
  for (const [hits, more] of [[5, ""], [6, "  and 1 more\n"]] as const) {
    await using place = await searched();
    for (let count = 0; count < hits; count++) await ok(place, ["rename", "other", `Marigold ${count}`]);
    const text = await ok(place, ["search", "marigold"]);
    assert.equal(text.split("\n").filter((line) => line.startsWith("  turn ")).length, 5);
    assert.equal(/ {2}and .*\n/.exec(text)?.[0] ?? "", more);
  }
});
