/** Streams of both APIs: bytes in any cutting, and the turn that a run leaves of them. */
import assert from "node:assert/strict";
import { interactionsIn } from "../../support/recordings.ts";
import { type RecordedStream, recordedStreams } from "../../support/recorded_streams.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import type { Json } from "../../support/files.ts";
import { type Received, StreamHome } from "./streams.ts";
import { streamOf } from "./streams_answers.ts";
import { MESSAGES_STREAMS } from "./streams_messages.ts";
import { DOUBLED, ONLY_DELTAS } from "./streams_bare.ts";
import { RESPONSES_STREAMS } from "./streams_responses.ts";

/** JSON of a value without members that are undefined. */
const plain = (value: Json) => JSON.parse(JSON.stringify(value));

const OF_RESPONSES = { ...RESPONSES_STREAMS, ...DOUBLED, ...ONLY_DELTAS };
for (const [api, rows] of [["responses", OF_RESPONSES], ["messages", MESSAGES_STREAMS]] as const) {
  for (const [name, { events, isNamed, raw = [], ...expected }] of Object.entries(rows)) {
    Deno.test(`a stream of ${api}: ${name}`, async () => {
      await using home = new StreamHome();
      const received = await home.receive(api, streamOf(events, isNamed));
      for (const [member, value] of Object.entries(expected)) {
        assert.deepEqual(received[member as keyof Received], plain(value), member);
        if (member === "items") assert.equal(JSON.stringify(received.items), JSON.stringify(value));
      }
      for (const part of raw) assert.ok(received.file.includes(part), part);
    });
  }
}

/** Answers of other servers that are no stream, each as the event that would end one. */
const WHOLE = ["azure", "bedrock", "deepseek_loop"].map((name): RecordedStream => {
  const [first] = interactionsIn(`responses/${name}.yaml`);
  const { parsed_body, body }: Json = first?.response;
  const response = parsed_body ?? JSON.parse(body.string);
  const bytes = new TextEncoder().encode(streamOf([{ type: "response.completed", response }]));
  return { api: "responses", name, bytes };
});

const RECORDED = [...WHOLE, ...recordedStreams()];

/** The data of the events of a stream, read line by line. */
function eventsOf(bytes: Uint8Array): Json[] {
  const blocks = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n").split("\n\n");
  return blocks.flatMap((block) => {
    const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) =>
      line.slice(5).trim()
    );
    return data.length === 0 || data[0] === "[DONE]" ? [] : [parsed(data.join("\n"))];
  });
}

/** One recording has an event that is no JSON. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Items that events of the Responses API list: each when it is done, or all at the end. */
function itemsOfResponses(events: readonly Json[]): Json[] {
  const listed: Json[] = events.at(-1)?.response?.output ?? [];
  const items = events.filter(({ type }) => type === "response.output_item.done")
    .map(({ item, output_item }) => item ?? output_item);
  return items.length < listed.length ? listed : items;
}

/** Blocks that events of the Messages API add up to. */
function itemsOfMessages(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  const inputs: string[] = [];
  let id = null;
  for (const { type, index, content_block, delta, message } of events) {
    if (type === "message_start" && message.id !== id) {
      // Another message voids the one before it.
      blocks.splice(0, Infinity, ...message.content);
      inputs.length = 0;
      id = message.id;
    }
    if (type === "content_block_start") blocks[index] = structuredClone(content_block);
    if (type !== "content_block_delta") continue;
    const block = blocks[index];
    if (delta.type === "text_delta") block.text += delta.text;
    if (delta.type === "thinking_delta") block.thinking += delta.thinking;
    if (delta.type === "signature_delta") block.signature = delta.signature;
    if (delta.type === "citations_delta") (block.citations ??= []).push(delta.citation);
    if (delta.type === "compaction_delta") Object.assign(block, delta, { type: block.type });
    if (delta.type === "input_json_delta") inputs[index] = (inputs[index] ?? "") + delta.partial_json;
  }
  for (const [index, text] of inputs.entries()) if (text) blocks[index].input = JSON.parse(text);
  return blocks;
}

/** Streams of which nothing is kept: one is no JSON, and the other fails before its first item. */
const UNFINISHED: ReadonlySet<string> = new Set([
  "responses/broken_json.chunks.txt",
  "responses/failed.chunks.txt",
]);

/** Facts that do not depend on the cutting. */
const essence = ({ items, response, usage, notices, text, reasoning, error }: Received) =>
  JSON.stringify({ items, response, usage, notices, text, reasoning, error });

test.long("a recorded stream leaves the items that its events list, however a network cuts it", async () => {
  await using home = new StreamHome();
  assert.ok(RECORDED.length > 20);
  const wrong: string[] = [];
  for (const [index, { api, name, bytes }] of RECORDED.entries()) {
    const whole = await home.receive(api, bytes);
    const events = eventsOf(bytes);
    const items = api === "responses" ? itemsOfResponses(events) : itemsOfMessages(events);
    const deltas = events.map(({ type, delta }) =>
      /output_text\.delta$|refusal\.delta$/.test(type)
        ? delta
        : delta?.type === "text_delta"
        ? delta.text
        : ""
    ).join("");
    const same = JSON.stringify(whole.items) === JSON.stringify(items);
    const usage = events.at(-1)?.response?.usage;
    if (api === "responses" && !UNFINISHED.has(name)) assert.deepEqual(whole.usage, usage ?? null, name);
    if (!(same && (deltas === "" || whole.text.startsWith(deltas))) && !UNFINISHED.has(name)) {
      wrong.push(name);
    }
    const dice = new Dice(index);
    for (let round = 0; round < samples(4); round++) {
      const places = Array.from({ length: dice.count(1, 40) }, () => dice.count(1, bytes.length - 1));
      const cuts = round === 0 && bytes.length < 20_000
        ? Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)
        : [...new Set(places)].sort((a, b) => a - b);
      assert.equal(essence(await home.receive(api, bytes, cuts)), essence(whole), `${name} cut at ${cuts}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Changes some lines or bytes of a stream. */
function damaged(bytes: Uint8Array, dice: Dice): Uint8Array {
  let lines = new TextDecoder().decode(bytes).split("\n");
  for (let steps = dice.count(1, 4); steps > 0; steps--) {
    const at = dice.count(0, lines.length - 1);
    const line = lines[at] ?? "";
    lines = dice.pick([
      () => lines.toSpliced(at, 1),
      () => lines.toSpliced(at, 0, line, ""),
      () => lines.with(at, line.slice(0, dice.count(0, line.length))),
      () =>
        lines.with(
          at,
          line.replace(/"[^"]*"(?=[,}\]])/, dice.pick(["null", "[]", "{}", "-1", '"\\ud800"', "1e999"])),
        ),
      () => lines.with(at, line.replace(/"(output_)?index":\d+/, '"$1index":7')),
      () => lines.slice(0, at),
    ])();
  }
  const changed = new TextEncoder().encode(lines.join("\n"));
  if (dice.chance(0.2) && changed.length > 0) changed[dice.count(0, changed.length - 1)] = 0xff;
  return changed;
}

test.long("a damaged stream leaves a sound session and the same turn however it is cut, or a known error", async () => {
  await using home = new StreamHome();
  for (let seed = 0; seed < samples(100); seed++) {
    const dice = new Dice(seed);
    const { api, name, bytes } = dice.pick(RECORDED);
    const stream = damaged(bytes, dice);
    const whole = await home.receive(api, stream);
    assert.notEqual(whole.error, "internal", `${name}, seed ${seed}: ${whole.says}`);
    if (stream.length < 3) continue;
    const cuts = [...new Set([dice.count(1, stream.length - 1), dice.count(1, stream.length - 1)])].sort((
      a,
      b,
    ) => a - b);
    assert.equal(essence(await home.receive(api, stream, cuts)), essence(whole), `${name}, seed ${seed}`);
  }
  const { code, stdout } = await home.call(["fsck", "--all"]);
  assert.equal(code, 0, stdout);
});
