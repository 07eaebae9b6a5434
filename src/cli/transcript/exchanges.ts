/** A fixture as a transcript: what each request adds to the one before, the answer, and its events. */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, stringMember } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { addUsage, NO_USAGE } from "../../domain/usage.ts";
import { recordedOn } from "../../fixture/format.ts";
import { answerOf, listedItems } from "../../fixture/inspect/answer.ts";
import { eventText, socketText, timelineOf } from "../../fixture/inspect/timeline.ts";
import type { ExchangeTimeline } from "../../schemas/fixtures.ts";
import type { Fixture } from "../../fixture/read.ts";
import type { Exchange } from "../../fixture/exchange.ts";
import { recordedDays, recordingOf } from "../../fixture/recordings.ts";
import { answerChunks } from "../../transport/player.ts";
import { type PrefixReport, prefixReport } from "../../run/prefix.ts";
import { type Block, type CallBlock, type Entry, note, type Transcript } from "./blocks.ts";
import { inLineOrBelow, itemBlocks, reasoningKeys, resultBlock, shownCallId } from "./items.ts";
import { anyUsage } from "../../apis/usage.ts";
import { cacheNote, usageText } from "./usage.ts";
import { partsText } from "./words.ts";

/** Earlier requests that one may extend: parallel conversations of a recording take turns. */
const COMPARED = 8;

interface ReadExchange {
  readonly exchange: Exchange;
  readonly timeline: ExchangeTimeline;
  /** The members of the request's body beside its items; `{}` if it is no JSON object. */
  readonly fields: JsonObject;
  readonly items: readonly JsonObject[];
  readonly answer: readonly JsonObject[];
}

export function fixtureTranscript(
  { header, exchanges, recordings, path }: Fixture,
  chosen: readonly Exchange[] = exchanges,
): Transcript {
  const read = chosen.map((exchange): ReadExchange => {
    const { json } = exchange.request;
    const { input, messages, ...fields } = isJsonObject(json) ? json : {};
    const listed = input ?? messages;
    const items = typeof listed === "string" ? [{ role: "user", content: listed }] : objectsIn(listed);
    const answer = listedItems(answerOf(exchange));
    return { exchange, timeline: timelineOf(exchange), fields, items, answer };
  });
  const fates = fatesOf(read);
  const known = new Set<string>();
  const calls = new Map<unknown, CallBlock>();
  const fateOf = (keys: readonly string[]) =>
    keys.map((key) => fates.get(key)).find((fate) => fate !== undefined) ?? "in no later request";
  const entries = read.map((each, index): Entry => {
    const { timeline } = each;
    const { number, request, response, usage } = timeline;
    const isError = response.status >= 400 || !response.terminal;
    const blocks = [
      ...requestBlocks(each, read[index - 1], known),
      ...answerBlocks(each, isError),
      ...(usage === null ? [] : [note(usageText(anyUsage(usage)))]),
      ...cacheNotes(each, read.slice(0, index)),
    ];
    for (const key of each.answer.flatMap(keysOf).flat()) known.add(key);
    return {
      id: `exchange-${number}`,
      name: `Exchange ${number}`,
      words: [
        `${request.method} ${request.path}`,
        ...(request.model === null ? [] : [request.model]),
        String(response.status),
        `at ${(request.at_ms / 1000).toFixed(3)} s`,
      ],
      from: "other",
      isError,
      group: recordings.indexOf(recordingOf(recordings, number)),
      blocks: blocks.map((block) => {
        if (block.kind === "call") calls.set(block.key, block);
        if (block.kind === "result") {
          const { name = block.name, subject = "" } = calls.get(block.key) ?? {};
          return { ...block, name, subject };
        }
        return block.kind === "reasoning" && block.keys.length > 0
          ? { ...block, fate: [fateOf(block.keys)] }
          : block;
      }),
    };
  });
  const used = read.reduce((sum, { timeline }) => addUsage(sum, anyUsage(timeline.usage ?? {})), NO_USAGE);
  return {
    name: path,
    title: "",
    facts: [
      ["provider", `${header.provider} at ${header.base_url}`],
      ["models", header.models.join(", ") || "no model named"],
      ["recorded", recordings.length === 1 ? createdText(header) : recordedDays(recordings)],
      ...(header.note === undefined ? [] : [["note", header.note] as const]),
      ["exchanges", counted(exchanges.length, "exchange")],
      ["tokens", usageText(used)],
    ],
    groups: recordings.length === 1 ? [] : recordings.map((recording, index) => ({
      name: `Recording ${index + 1} of ${recordings.length}`,
      state: createdText(recording),
      isError: false,
      about: recording.producer ?? "",
    })),
    entries,
  };
}

function createdText({ created }: { readonly created: string }): string {
  return recordedOn({ created }) === null ? "date unknown" : created;
}

/** The requests that hold each reasoning item, in words, by its keys. */
function fatesOf(read: readonly ReadExchange[]): ReadonlyMap<string, string> {
  const sent = new Map<string, number[]>();
  for (const { timeline: { number }, items } of read) {
    for (const key of items.flatMap(withParts).flatMap(reasoningKeys)) {
      sent.set(key, [...sent.get(key) ?? [], number]);
    }
  }
  return new Map([...sent].map(([key, numbers]) => [key, spansText(numbers)]));
}

/** Such as `sent in exchanges 2 to 4, 7`. */
function spansText(numbers: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const number of new Set(numbers)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else spans.push([number, number]);
  }
  const text = spans.map(([first, last]) => first === last ? `${first}` : `${first} to ${last}`).join(", ");
  return `sent in exchange${/\D/.test(text) ? "s" : ""} ${text}`;
}

/** An item and the parts of its content: some APIs put calls and thinking there. */
function withParts(item: JsonObject): JsonObject[] {
  return [item, ...objectsIn(item.content), ...objectsIn(item.tool_calls)];
}

/**
 * Texts that identify the parts of an item when a request sends it back: for each part, texts of which one is enough. The
 * result of a call has its own.
 */
function keysOf(item: JsonObject): string[][] {
  const result = resultBlock(item);
  if (result !== null) return [[`result ${result.key}`]];
  const call = shownCallId(item);
  if (call !== null) return [[call]];
  const own = reasoningKeys(item);
  if (own.length > 0) return [own];
  const parts = [...objectsIn(item.content), ...objectsIn(item.tool_calls)];
  if (parts.length > 0) return parts.flatMap(keysOf);
  const text = partsText(item.content ?? item.text);
  return text === "" ? [] : [[text]];
}

function requestBlocks(
  { fields, items, timeline }: ReadExchange,
  before: ReadExchange | undefined,
  known: Set<string>,
): Block[] {
  const { socket } = timeline;
  const blocks: Block[] = [];
  if (socket !== null) {
    const to = socket.continues === null ? undefined : `exchange-${socket.continues}`;
    blocks.push(note(`WebSocket: ${socketText(socket)}`, { to }));
  }
  blocks.push(...fieldBlocks(fields, before?.fields ?? {}));
  const same = items.findIndex((item, index) =>
    JSON.stringify(item) !== JSON.stringify(before?.items[index])
  );
  const repeated = same < 0 ? items.length : same;
  if (repeated > 0 && before !== undefined) {
    const { number } = before.timeline;
    blocks.push(note(`${counted(repeated, "item")} as in exchange ${number}`, { to: `exchange-${number}` }));
  }
  let earlier = 0;
  const added: Block[] = [];
  for (const item of items.slice(repeated)) {
    const keys = keysOf(item);
    if (keys.length > 0 && keys.every((each) => each.some((key) => known.has(key)))) earlier += 1;
    else added.push(...itemBlocks(item, "user"));
    for (const key of keys.flat()) if (key.startsWith("result ")) known.add(key);
  }
  if (earlier > 0) blocks.push(note(`${counted(earlier, "item")} of earlier exchanges`));
  if (timeline.request.body_sha256 === null) blocks.push(note("no body recorded"));
  return [...blocks, ...added];
}

/** The members of a body that the request before does not have, or has with another value. */
function fieldBlocks(fields: JsonObject, before: JsonObject): Block[] {
  const blocks: Block[] = [];
  const settings: string[] = [];
  for (const [name, value = null] of Object.entries(fields)) {
    if (name === "model" || JSON.stringify(before[name] ?? null) === JSON.stringify(value)) continue;
    if (name === "instructions" || name === "system") {
      blocks.push({ kind: "message", from: name, text: partsText(value) });
    } else if (name === "tools" && Array.isArray(value)) {
      blocks.push(toolsNote(objectsIn(value)));
    } else settings.push(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  }
  if (settings.length === 0) return blocks;
  const { subject, text } = inLineOrBelow(settings.join(", "));
  return [...blocks, note(`settings ${subject}`.trim(), { text })];
}

function toolsNote(tools: readonly JsonObject[]): Block {
  const lines = tools.map((tool) => {
    const named = isJsonObject(tool.function) ? tool.function : tool;
    const name = stringMember(named, "name") ?? stringMember(tool, "type") ?? "?";
    const about = stringMember(named, "description")?.split("\n", 1)[0] ?? "";
    return about === "" ? name : `${name}: ${about}`;
  });
  return note(counted(tools.length, "tool"), { text: lines.join("\n") });
}

function answerBlocks(
  { timeline, answer, exchange }: ReadExchange,
  isError: boolean,
): Block[] {
  const { response, events } = timeline;
  const first = exchange.answer.hasChunks ? answerChunks(exchange.answer)[0]?.ms : undefined;
  const facts = [
    `answer: ${response.status} ${response.content_type}`.trim(),
    `${counted(response.bytes, "byte")} in ${counted(response.chunks, "chunk")}`,
    ...(first === undefined ? [] : [`first after ${Math.round(first)} ms`]),
    response.ended === "complete" && response.terminal
      ? "complete"
      : `ended: ${response.ended}${response.terminal ? "" : ", without its terminal event"}`,
  ];
  const isShown = answer.length > 0 || response.error !== null || events.length > 0;
  const body = isShown || response.bytes === 0 ? "" : decodeUtf8Leniently(exchange.answer.body);
  return [
    note(facts.join(", "), { isError, text: body, isHeading: true }),
    ...(response.error === null ? [] : [note(response.error, { isError })]),
    ...(response.fault === null ? [] : [
      note(`this is what was recorded; it is played with the fault ${JSON.stringify(response.fault)}`),
    ]),
    ...answer.flatMap((item) => itemBlocks(item, "assistant")),
    ...(events.length === 0 ? [] : [{ kind: "events", lines: events.map(eventText) } as const]),
  ];
}

/** Compares a request with those just before it: if it extends none of them, with the last. */
function cacheNotes(
  { exchange: { request }, timeline }: ReadExchange,
  before: readonly ReadExchange[],
): Block[] {
  const isComparable = ({ body, json }: Exchange["request"]) =>
    body !== null && isJsonObject(json as JsonValue);
  if (!isComparable(request)) return [];
  const earlier = before.filter((each) =>
    each.exchange.request.path === request.path && isComparable(each.exchange.request) &&
    each.timeline.request.model === timeline.request.model
  ).slice(-COMPARED);
  const text = decodeUtf8Leniently(request.body as Uint8Array);
  const texts = earlier.map(({ exchange }) => decodeUtf8Leniently(exchange.request.body as Uint8Array));
  // An equal request, such as a retry, is served from the cache as a whole.
  const extended = texts.findLastIndex((each) => text.startsWith(each.slice(0, -2)));
  const last = earlier.at(extended);
  if (last === undefined) return [];
  const prefix: PrefixReport = extended >= 0 ? { extends: true } : prefixReport(texts.at(-1) as string, text);
  return cacheNote(prefix, anyUsage(last.timeline.usage ?? {}), anyUsage(timeline.usage ?? {}));
}
