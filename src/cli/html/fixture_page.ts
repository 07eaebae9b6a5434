/**
 * The page of a fixture: its exchanges as entries, with what each request adds, the answer, and its events.
 *
 * @module
 */
import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import { isJsonObject, type JsonObject, type JsonValue, stringMember } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { answerOf, listedItems } from "../../fixture/inspect/answer.ts";
import { type ExchangeTimeline, socketText, timelineOf } from "../../fixture/inspect/timeline.ts";
import { type Fixture, type FixtureExchange } from "../../fixture/read.ts";
import { recordingOf } from "../../fixture/recordings.ts";
import { type PrefixReport, prefixReport } from "../../run/verify.ts";
import { type AnyItem, callIdOf, itemBlocks, opaqueOf, requestedResult } from "./any_item.ts";
import { objectsIn, pretty, textOf } from "./item_blocks.ts";
import type { Block, CallResult, Entry, FateSpan, Group, Page, RequestPoint } from "./page.ts";
import { anyUsage } from "./usage.ts";

/** Earlier requests that one may extend: parallel conversations of a recording take turns. */
const COMPARED = 8;

/** One exchange, read once. */
interface ReadExchange {
  readonly exchange: FixtureExchange;
  readonly timeline: ExchangeTimeline;
  /** The members of the request's body beside its items; `{}` if it is no JSON object. */
  readonly fields: JsonObject;
  readonly items: readonly JsonObject[];
  readonly answer: readonly JsonObject[];
  /** Value of a text or JSON with its secrets replaced. */
  readonly clean: <T>(value: T) => T;
}

/** Creates the page of a fixture. `clean` replaces secrets in a value. */
export function fixturePage(fixture: Fixture, clean: <T>(value: T) => T): Page {
  const { header, exchanges, recordings, path } = fixture;
  const read = exchanges.map((exchange): ReadExchange => {
    const { json } = exchange.request;
    const { input, messages, ...fields } = clean(isJsonObject(json) ? json : {});
    const listed = input ?? messages;
    const items = typeof listed === "string" ? [{ role: "user", content: listed }] : objectsIn(listed);
    const answer = clean(listedItems(answerOf(exchange)));
    return { exchange, timeline: clean(timelineOf(exchange)), fields, items, answer, clean };
  });
  const links = linksOf(read);
  const requests: RequestPoint[] = [];
  const groups = recordings.map((recording, index): Group => ({
    name: recordings.length === 1 ? "Recording" : `Recording ${index + 1}`,
    state: counted(recording.last - recording.first + 1, "exchange"),
    tone: "plain",
    first: recording.first - 1,
    about: recording.producer ?? "",
  }));
  const entries = read.map((each, index): Entry => {
    const { number, request, response } = each.timeline;
    requests.push(pointOf(each, index, read));
    const created = recordingOf(recordings, number);
    const begun = Date.parse(created.created);
    const last = each.exchange.response.chunks.at(-1)?.ms;
    return {
      id: `exchange-${number}`,
      name: `Exchange ${number}`,
      kind: String(response.status),
      about: [`${request.method} ${request.path}`, request.model, connectionOf(each)].filter((part) =>
        part !== null
      ).join(" · "),
      at: begun > 0 ? new Date(begun + request.at_ms).toISOString() : null,
      took: last ?? null,
      group: recordings.indexOf(created),
      tone: response.status < 400 && response.terminal ? "plain" : "bad",
      seq: null,
      blocks: [...requestBlocks(each, read[index - 1], links), ...answerBlocks(each, links), {
        type: "usage",
        request: index,
      }],
    };
  });
  const fact = (name: string, text: string) => text === "" ? [] : [{ name, text: clean(text) }];
  return {
    kind: "fixture",
    title: clean(path),
    facts: [
      ...fact("provider", header.provider),
      ...fact("base URL", header.base_url),
      ...fact("models", header.models.join(", ")),
      ...(fixture.created > 0 ? [{ name: "recorded", text: "", at: header.created }] : []),
      ...fact("note", header.note ?? ""),
      ...fact("exchanges", String(exchanges.length)),
    ],
    warnings: [],
    groups,
    entries,
    requests,
  };
}

function connectionOf({ timeline: { socket } }: ReadExchange): string | null {
  if (socket === null) return null;
  const lane = socket.lane === null ? "" : `, lane ${socket.lane}`;
  return `connection ${socket.connection}${lane}${socket.warm_up ? ", warm-up" : ""}`;
}

/** Relations between exchanges. */
interface Links extends AnyItem {
  /** Keys of all items of answers, by the number of their exchange. */
  readonly answered: ReadonlyMap<string, number>;
}

function linksOf(read: readonly ReadExchange[]): Links {
  const answered = new Map<string, number>();
  const results = new Map<string, CallResult>();
  const sent = new Map<string, number[]>();
  for (const { timeline: { number }, items, answer } of read) {
    for (const item of items.flatMap(withParts)) {
      const found = requestedResult(item);
      if (found !== null && !results.has(found.id)) results.set(found.id, found.result);
      const opaque = opaqueOf(item);
      if (opaque !== null) sent.set(opaque, [...new Set([...sent.get(opaque) ?? [], number])]);
    }
    for (const item of answer.flatMap(withParts)) {
      const key = keyOf(item);
      if (key !== null && !answered.has(key)) answered.set(key, number);
    }
  }
  return {
    answered,
    resultOf: (id) => results.get(id) ?? null,
    fateOf: (opaque) => spansOf(sent.get(opaque) ?? []),
  };
}

/** An item and the parts of its content: some APIs put calls and thinking there. */
function withParts(item: JsonObject): JsonObject[] {
  return [item, ...objectsIn(item.content), ...objectsIn(item.tool_calls)];
}

/** A text that identifies an item of an answer when a request sends it back. */
function keyOf(item: JsonObject): string | null {
  const text = textOf(item.content ?? item.text);
  return callIdOf(item) ?? opaqueOf(item) ?? (text === "" ? null : text);
}

function spansOf(numbers: readonly number[]): FateSpan[] {
  const spans: { turns: [number, number]; dropped: null }[] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last !== undefined && last.turns[1] === number - 1) last.turns[1] = number;
    else spans.push({ turns: [number, number], dropped: null });
  }
  return spans;
}

function requestBlocks(
  { fields, items, timeline }: ReadExchange,
  before: ReadExchange | undefined,
  links: Links,
): Block[] {
  const blocks: Block[] = [];
  const { socket } = timeline;
  if (socket !== null) {
    const to = socket.continues === null ? {} : { to: `exchange-${socket.continues}` };
    blocks.push({ type: "note", text: `WebSocket: ${socketText(socket)}`, tone: "plain", ...to });
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (JSON.stringify(before?.fields[name]) === JSON.stringify(value)) continue;
    blocks.push({
      type: "raw",
      name: `request: ${name}`,
      text: typeof value === "string" ? value : pretty(value),
    });
  }
  const same = items.findIndex((item, index) =>
    JSON.stringify(item) !== JSON.stringify(before?.items[index])
  );
  const repeated = same < 0 ? items.length : same;
  if (repeated > 0 && before !== undefined) {
    const { number } = before.timeline;
    const text = `${counted(repeated, "item")} as in exchange ${number}`;
    blocks.push({ type: "note", text, tone: "plain", to: `exchange-${number}` });
  }
  let known = 0;
  for (const item of items.slice(repeated)) {
    const keys = withParts(item).flatMap((part) => keyOf(part) ?? requestedResult(part)?.id ?? []);
    const isKnown = keys.length > 0 &&
      keys.every((key) => (links.answered.get(key) ?? Infinity) < timeline.number);
    if (isKnown) known += 1;
    else blocks.push(...itemBlocks(item, stringMember(item, "role") ?? "user", links));
  }
  if (known > 0) {
    blocks.push({
      type: "note",
      text: `${counted(known, "item")} of earlier answers and their results`,
      tone: "plain",
    });
  }
  if (timeline.request.body_sha256 === null) {
    blocks.push({ type: "note", text: "No body is recorded", tone: "plain" });
  }
  return blocks;
}

function answerBlocks({ timeline, answer, exchange, clean }: ReadExchange, links: Links): Block[] {
  const { response, events } = timeline;
  const first = exchange.response.chunks[0]?.ms;
  const facts = [
    `${response.status} ${response.content_type}`.trim(),
    `${counted(response.bytes, "byte")} in ${counted(response.chunks, "chunk")}`,
    ...(first === undefined ? [] : [`first byte after ${Math.round(first)} ms`]),
    `ended: ${response.ended}${response.terminal ? "" : ", without its terminal event"}`,
    ...(response.fault === null ? [] : [`played with the fault ${JSON.stringify(response.fault)}`]),
  ];
  const tone = response.status < 400 && response.terminal ? "plain" : "bad";
  const rows = events.map(({ at_ms: at, kind, count, item, about, text }) => [
    `+${Math.round(at)} ms`,
    kind,
    count === 1 ? "" : `×${count}`,
    item === null ? "" : String(item),
    about ?? "",
    text ?? "",
  ]);
  const isShown = answer.length > 0 || response.error !== null || events.length > 0;
  return [
    { type: "note", text: facts.join(" · "), tone },
    ...(response.error === null ? [] : [{ type: "note", text: response.error, tone: "bad" } as const]),
    ...answer.flatMap((item) => itemBlocks(item, stringMember(item, "role") ?? "assistant", links)),
    ...(rows.length === 0
      ? []
      : [{ type: "events", rows: [["at", "event", "", "item", "about", "text"], ...rows] } as const]),
    ...(isShown || response.bytes === 0
      ? []
      : [{ type: "raw", name: "body", text: clean(decodeUtf8Leniently(exchange.response.body)) } as const]),
  ];
}

function pointOf(
  { exchange, timeline }: ReadExchange,
  entry: number,
  read: readonly ReadExchange[],
): RequestPoint {
  return { entry, ...anyUsage(timeline.usage), cost: null, prefix: prefixOf(exchange, entry, read) };
}

/** Whether a request extends one of those just before it; otherwise its difference from the last of them. */
function prefixOf(
  { request }: FixtureExchange,
  index: number,
  read: readonly ReadExchange[],
): PrefixReport | null {
  const isComparable = ({ body, json }: FixtureExchange["request"]) =>
    body !== null && isJsonObject(json as JsonValue);
  if (!isComparable(request)) return null;
  const earlier = read.slice(0, index).map(({ exchange }) => exchange.request)
    .filter((each) => each.path === request.path && isComparable(each)).slice(-COMPARED);
  const text = decodeUtf8Leniently(request.body as Uint8Array);
  const texts = earlier.map(({ body }) => decodeUtf8Leniently(body as Uint8Array));
  // An equal request, such as a retry, is served from the cache as a whole.
  if (texts.some((before) => text.startsWith(before.slice(0, -2)))) return { extends: true };
  const last = texts.at(-1);
  return last === undefined ? null : prefixReport(last, text);
}
