/** Tests for the matches of `search`, and the places that it prints. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { SearchResult } from "../../src/cli/inspection/search.ts";
import { answer, message, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";
import { assertError, begun, Place } from "./harness.ts";

/** A long output; the turn keeps its head and tail. */
const LONG = `${"x".repeat(80)}\n`.repeat(1000);
const MIDDLE = LONG.length / 2;

const script: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([
      reasoning("Thinking about marmalade"),
      functionCall("read_file", { path: "long.txt", offset: null, limit: null }),
      functionCall("search_text", { pattern: 'say "quoted"\nnew line', path: null }),
    ])
    : answer([message("The Quick brown fox; über Größe; 修复 done.")]);

const searched = begun(script, async (place) => {
  const text = `${LONG.slice(0, MIDDLE)}needle in the middle\n${LONG.slice(MIDDLE)}`;
  Deno.writeTextFileSync(`${place.sandbox.workspace}/long.txt`, text);
  await place.session("fox", "Tell me of\nthe fox");
  await place.session("other", "Something else");
  await place.call(["fork", "fox", "--json"]);
});

async function found(place: Place, text: string, ...args: string[]): Promise<SearchResult> {
  const called = await place.call(["search", text, "--json", ...args]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return JSON.parse(called.stdout);
}

const KINDS: readonly (readonly [string, string])[] = [
  ["of the fox", "user_message"],
  ["quick BROWN", "assistant_message"],
  ["ÜBER größe", "assistant_message"],
  ["修复", "assistant_message"],
  ["marmalade", "reasoning"],
  ["long.txt", "tool_call"],
  ['"quoted"', "tool_call"],
];

test("search finds prompts, answers, summaries of reasoning, calls and outputs, whatever the case", async () => {
  await using place = await searched();
  for (const [text, type] of KINDS) {
    const query = text === "of the fox" ? "of\nthe fox" : text;
    const { sessions } = await found(place, query);
    const fox = sessions.find(({ id }) => id === "fox");
    const hit = fox?.hits.find((each) => each.type === type);
    assert.ok(hit !== undefined, `${text}: ${JSON.stringify(sessions)}`);
    const [from, to] = hit.at;
    assert.equal(hit.text.slice(from, to).toLowerCase(), text.toLowerCase());
  }
});

test("search finds a text that only the blob of a long output has, in the turn that names it", async () => {
  await using place = await searched();
  const turns = place.sandbox.turns("other");
  const named = turns.find(({ events }) => events.some(({ blob }: { blob?: object }) => blob !== undefined));
  assert.ok(named !== undefined && !JSON.stringify(turns).includes("needle"), "the output was cut");
  const { sessions } = await found(place, "Needle in the MIDDLE");
  const other = sessions.find(({ id }) => id === "other");
  assert.deepEqual(other?.hits.map(({ turn, type }) => [turn, type]), [[named.turn, "tool_result"]]);
});

test("search reports turns that a fork shares once, in the session that wrote them", async () => {
  await using place = await searched();
  const { sessions } = await found(place, "of\nthe fox");
  assert.deepEqual(sessions.map(({ id }) => id), ["fox"]);
  await place.call(["rm", "fox", "--yes"]);
  const after = await found(place, "of\nthe fox");
  assert.equal(after.sessions.length, 1, "the fork still has them");
});

test("search finds no ids, hashes or encrypted bytes, and nothing is no error", async () => {
  await using place = await searched();
  const [turn] = place.sandbox.turns("fox");
  const item = place.sandbox.turns("fox")[1].events[0].item;
  for (const text of [turn.sum, item.encrypted_content, item.id, turn.pins.tools, "provider_usage"]) {
    assert.equal((await found(place, text)).hits, 0, text);
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
  Deno.truncateSync(place.turnPath("other", 4), 200);
  Deno.writeTextFileSync(place.turnPath("fox", 2), "brown fox, but no turn");
  const { skipped } = await found(place, "brown fox");
  assert.deepEqual(skipped.map(({ path }) => path), ["fox/turns/000002.json"]);
});
