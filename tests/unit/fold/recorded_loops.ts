/**
 * Recorded tool loops in either API: each request's history beside what our fold makes of the responses before it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { EventDraft, Item } from "../../../src/domain/event.ts";
import { callIdOf } from "../../../src/domain/item.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { apiOf, foldNeedsOf } from "../../../src/apis/apis.ts";
import { readSse } from "../../../src/transport/sse.ts";
import { FINGERPRINT, History, TARGET } from "../../support/history.ts";
import { type Interaction, interactionsIn } from "../../support/recordings.ts";

/** One request of a loop and its answer. */
export interface RecordedStep {
  readonly provider: "openai" | "anthropic";
  readonly body: JsonObject;
  readonly status: number;
  /** The items of the response; none where it was refused. */
  readonly items: readonly Item[];
  /** The parsed body of an answer that is not a stream. */
  readonly answer: JsonValue;
}

/** Conversion of an element that a recorded client and we write differently to one form. */
export interface Difference {
  readonly theirs?: (element: JsonObject) => JsonObject | null;
  readonly ours?: (element: JsonObject) => JsonObject;
}

/** Our history for a request, and the recorded one. */
export type Pair = readonly [ours: readonly JsonObject[], theirs: readonly JsonObject[]];

/** The steps of one recording, in order. */
export async function recordedLoop(file: string): Promise<RecordedStep[]> {
  return await Promise.all(
    interactionsIn(file).map(async ({ request, response }) => {
      const provider = /\/messages\b/.test(request.uri) ? "anthropic" : "openai";
      const status = response.status?.code ?? 0;
      const text = textOf(response.body?.string ?? "");
      const streamed = text.startsWith("event: ");
      const answer = streamed ? null : response.parsed_body ?? JSON.parse(text);
      const output = isJsonObject(answer) ? answer[provider === "anthropic" ? "content" : "output"] : [];
      const items = Array.isArray(output) ? output as Item[] : [];
      return {
        provider,
        body: bodyOf(request),
        status,
        answer,
        items: streamed ? await itemsOf(text, provider) : items,
      };
    }),
  );
}

/** Our history before each request, beside the recorded one. */
export function foldedBeside(steps: readonly RecordedStep[]): Pair[] {
  const history = new History();
  return steps.map(({ provider, body, items }, index) => {
    const before = steps[index - 1];
    const known = before === undefined ? 0 : saidIn(before.body).length;
    reply(history, saidIn(body).slice(known));
    const fingerprint = { ...FINGERPRINT, provider };
    const { entries } = foldHistory(history.turns, {
      ...TARGET,
      fingerprint,
      needs: foldNeedsOf(provider),
    });
    const spec = { model: "m", instructions: "", tools: [], entries, cacheKey: "s" };
    const built = JSON.parse(apiOf(provider).buildRequest(spec).body);
    if (items.length > 0) history.model(items, { fingerprint });
    return [elementsOf(built), elementsOf(body)];
  });
}

/** Both sides of a pair with the differences taken out, and the members of every object in one order. */
export function alike([ours, theirs]: Pair, differences: readonly Difference[]): [JsonValue, JsonValue] {
  const left = ours.map((element) => differences.reduce((made, { ours = same }) => ours(made), element));
  const right = theirs.flatMap((element) => {
    let made: JsonObject | null = element;
    for (const { theirs = same } of differences) if (made !== null) made = theirs(made);
    return made === null ? [] : [made];
  });
  return [sorted(left), sorted(right)];
}

/** Asserts that the pairs differ in `names` of `table` and in nothing else, and that none of them is too many. */
export function assertDifferences<Name extends string>(
  pairs: readonly Pair[],
  table: Readonly<Record<Name, Difference>>,
  names: readonly Name[],
): void {
  const chosen = (some: readonly Name[]): Difference[] => some.map((name) => table[name]);
  for (const pair of pairs) assert.deepEqual(...alike(pair, chosen(names)));
  for (const one of names) {
    const others = chosen(names.filter((name) => name !== one));
    const needed = pairs.some((pair) => {
      const [left, right] = alike(pair, others);
      return JSON.stringify(left) !== JSON.stringify(right);
    });
    assert.ok(needed, `${one} makes no difference`);
  }
}

/** An object without one of its members. */
export function without(element: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(element).filter(([member]) => member !== name));
}

/** Input from the client: a user's text, or the output of a call. */
type Said = { readonly text: string } | { readonly callId: string; readonly output: string };

function saidIn(body: JsonObject): readonly Said[] {
  return elementsOf(body).flatMap((element) => {
    const { role, content, call_id, output } = element;
    if (typeof output === "string") return [{ callId: String(call_id), output }];
    if (role !== "user") return [];
    if (!Array.isArray(content)) return [{ text: String(content) }];
    return content.filter(isJsonObject).map((block) =>
      block.type === "tool_result"
        ? { callId: String(block.tool_use_id), output: String(block.content) }
        : { text: String(block.text) }
    );
  });
}

function reply(history: History, said: readonly Said[]): void {
  const calls = history.turns.at(-1)?.events.filter((event) => event.type === "tool_call") ?? [];
  const events = said.flatMap((one): EventDraft[] => {
    const call = "callId" in one ? calls.find(({ item }) => callIdOf(item) === one.callId) : undefined;
    if (call === undefined || !("output" in one)) return [];
    return [{
      type: "tool_result",
      call_id: one.callId,
      call_seq: call.seq,
      tool: String(call.item.name),
      status: "ok",
      output: one.output,
    }];
  });
  if (events.length > 0) history.add({ kind: "tools", run: 1, events });
  for (const one of said) if ("text" in one) history.user(one.text);
}

/** The elements of a request's history: items of `input`, or `messages`. */
function elementsOf({ input, messages }: JsonObject): readonly JsonObject[] {
  const elements = messages ?? input;
  if (!Array.isArray(elements)) return [{ role: "user", content: elements ?? null }];
  return elements.filter(isJsonObject);
}

function bodyOf({ parsed_body: parsed, body }: Interaction["request"]): JsonObject {
  if (isJsonObject(parsed)) return parsed;
  return JSON.parse(typeof body === "object" ? body.string ?? "" : body ?? "");
}

/** Bodies that are bytes were recorded compressed. */
function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : new TextDecoder().decode(gunzipSync(body));
}

async function itemsOf(text: string, provider: RecordedStep["provider"]): Promise<Item[]> {
  const assembler = apiOf(provider).newAssembler();
  const items: Item[] = [];
  for await (const batch of readSse(ReadableStream.from([new TextEncoder().encode(text)]))) {
    for (const event of batch) {
      for (const update of assembler.feed(event)) if (update.kind === "item") items.push(update.item);
    }
  }
  return items;
}

function same(element: JsonObject): JsonObject {
  return element;
}

/** Members in one order: a recording keeps its own. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member ?? null)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1));
}
