/**
 * Counts how much of one stream is in another one, whatever its ids and chunks.
 *
 * @module
 */
import { isJsonObject, type JsonValue, parsedObject } from "../src/domain/json.ts";
import type { RunApi } from "../src/apis/api.ts";
import { readEvents } from "../tests/support/streams.ts";

/** Counts of a stream. */
export const MEASURES = ["events", "kinds", "text", "items", "blobs", "usage", "numbers", "bytes"] as const;

/** One count: how many there were, and how many of these are still there. */
export interface Count {
  readonly kept: number;
  readonly all: number;
}

/** All counts of one stream. */
export type Kept = Readonly<Record<(typeof MEASURES)[number], Count>>;

/** Compares `played` with the `original` that it should be. */
export async function compared(original: Uint8Array, played: Uint8Array, api: RunApi): Promise<Kept> {
  const [before, after] = [await contentOf(original, api), await contentOf(played, api)];
  return {
    events: common(before.kinds, after.kinds),
    kinds: common([...new Set(before.kinds)], [...new Set(after.kinds)]),
    text: common(before.text, after.text),
    items: common(before.items, after.items),
    blobs: common(before.blobs, after.blobs),
    usage: common(before.usage, after.usage),
    numbers: common(before.numbers, after.numbers),
    bytes: { kept: isSame(original, played) ? 1 : 0, all: 1 },
  };
}

/** The sums of all counts. */
export function total(all: readonly Kept[]): Kept {
  const sum = (measure: keyof Kept, side: keyof Count) =>
    all.reduce((before, kept) => before + kept[measure][side], 0);
  return Object.fromEntries(
    MEASURES.map((measure) => [measure, { kept: sum(measure, "kept"), all: sum(measure, "all") }]),
  ) as unknown as Kept;
}

interface Content {
  /** The type of each event. */
  readonly kinds: readonly string[];
  /** All visible text as one, where there is any. */
  readonly text: readonly string[];
  /** Each finished item as JSON with sorted members, without its id. */
  readonly items: readonly string[];
  readonly blobs: readonly string[];
  readonly usage: readonly string[];
  readonly numbers: readonly string[];
}

async function contentOf(bytes: Uint8Array, api: RunApi): Promise<Content> {
  const { events } = await readEvents([bytes]);
  const assembler = api.newAssembler();
  const updates = [...events.flatMap((event) => assembler.feed(event)), ...assembler.end()];
  const text = updates.map((update) => update.kind === "text_delta" ? update.delta : "").join("");
  const payloads = events.map(({ event, data }) => ({ event, payload: parsedObject(data) }));
  return {
    kinds: payloads.map(({ event, payload }) => String(payload?.type ?? event)),
    text: text === "" ? [] : [text],
    items: updates.flatMap((update) => update.kind === "item" ? [sorted({ ...update.item, id: null })] : []),
    blobs: [...new Set(payloads.flatMap(({ payload }) => blobsIn(payload)))],
    usage: updates.flatMap((update) =>
      update.kind === "finished" && update.response.usage !== null ? [sorted(update.response.usage)] : []
    ),
    numbers: payloads.flatMap(({ payload }) =>
      typeof payload?.sequence_number === "number" ? [String(payload.sequence_number)] : []
    ),
  };
}

/** Returns the number of elements of `before` that are in `after`, each counted once. */
function common(before: readonly string[], after: readonly string[]): Count {
  const left = new Map<string, number>();
  for (const value of after) left.set(value, (left.get(value) ?? 0) + 1);
  let kept = 0;
  for (const value of before) {
    const there = left.get(value) ?? 0;
    if (there === 0) continue;
    left.set(value, there - 1);
    kept++;
  }
  return { kept, all: before.length };
}

/** Returns the values that only the server can read: a change or a loss of one breaks the next request. */
function blobsIn(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(blobsIn);
  if (!isJsonObject(value)) return [];
  const own = [
    value.encrypted_content,
    value.signature,
    value.type === "redacted_thinking" ? value.data : "",
  ];
  return [
    ...own.filter((blob): blob is string => typeof blob === "string" && blob !== ""),
    ...Object.values(value).flatMap(blobsIn),
  ];
}

function sorted(value: JsonValue): string {
  return JSON.stringify(
    value,
    (_name, member) =>
      isJsonObject(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : 1))
        : member,
  );
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
