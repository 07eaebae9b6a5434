/**
 * Replaces what could be somebody's in a body: a document, a stream of events, or a list of them.
 *
 * @module
 */
import { isNaming, isPlacing } from "./kept.ts";
import { type Leaf, leavesOf, type PlacedLeaf, withLeaves } from "./leaves.ts";
import { ownCount, ownNumber } from "./text.ts";

/** Replacement of a text, by another of the same length. */
export type TextRule = (text: string) => string;

/** Members that tell the channels of a stream apart. */
const CHANNEL = ["type", "item_id", "output_index", "content_index", "summary_index", "index"];

/** Replaces the texts and numbers of a body. */
export function replaceBody(body: string, rule: TextRule): string {
  if (/^\s*[{[]/.test(body)) return replaceEvents([body], rule)[0] ?? "";
  if (!/^data: /m.test(body)) return rule(body);
  const lines = body.split("\n");
  const places = lines.flatMap((line, index) => line.startsWith("data: {") ? [index] : []);
  const replaced = replaceEvents(places.map((place) => lines[place]?.slice(6) ?? ""), rule);
  places.forEach((place, index) => lines[place] = `data: ${replaced[index]}`);
  return lines.join("\n");
}

/** Replaces the events of a stream, so that deltas still add up to the replacement of their text. */
export function replaceEvents(events: readonly string[], rule: TextRule): string[] {
  const leaves = events.map(leavesOf);
  const channels = new Map<string, { text: string; at: number }>();
  const inChannel = leaves.map((found, event) => {
    const byPath = new Map(found.map(({ path, value }) => [path.join("/"), value]));
    return found.map((leaf) => {
      const name = channelOf(leaf, event, byPath);
      if (name === null) return null;
      const channel = channels.get(name) ?? { text: "", at: 0 };
      channels.set(name, channel);
      channel.text += leaf.value;
      return channel;
    });
  });
  for (const channel of channels.values()) channel.text = rule(channel.text);
  return events.map((event, index) => {
    const found = leaves[index] ?? [];
    const values = replaceLeaves(found, rule);
    inChannel[index]?.forEach((channel, place) => {
      if (channel === null) return;
      const length = found[place]?.value.length ?? 0;
      values[place] = channel.text.slice(channel.at, channel.at += length);
    });
    return withBytes(withLeaves(event, found, values));
  });
}

/** The replacements of leaves, one for each. */
export function replaceLeaves(leaves: readonly Leaf[], rule: TextRule): string[] {
  const counts = new Map(
    leaves.filter(isCount).map(({ path, value }) => [path.join("/"), Number(value)]),
  );
  return leaves.map((leaf) => {
    const { kind, path, value } = leaf;
    if (kind === "name") return isOwnName(path) ? rule(value) : value;
    if (kind === "string") return isNaming(path, value) ? value : rule(value);
    if (isCount(leaf)) return String(replacedCount(path, counts));
    return isPlacing(path) ? value : ownNumber(value);
  });
}

/** A total stays the sum of its parts. */
function replacedCount(path: Leaf["path"], counts: ReadonlyMap<string, number>): number {
  const sibling = (name: string) => counts.get([...path.slice(0, -1), name].join("/")) ?? 0;
  const total = counts.get(path.join("/")) ?? 0;
  const parts = path.at(-1) === "total_tokens"
    ? ["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"].map(sibling)
    : [];
  const isSum = parts.length > 0 && parts.reduce((sum, part) => sum + part, 0) === total;
  return isSum ? parts.map(ownCount).reduce((sum, part) => sum + part, 0) : ownCount(total);
}

function isCount({ kind, path, value }: Leaf): boolean {
  return kind === "number" && /^\d+$/.test(value) && /_tokens$/.test(String(path.at(-1))) && !isPlacing(path);
}

/** True for names that a client chose: of a schema's properties, and of the arguments of a call. */
function isOwnName(path: Leaf["path"]): boolean {
  return /^(?:properties|\$defs|definitions)$/.test(String(path.at(-2))) ||
    path.some((part, index) =>
      part === "input" && typeof path[index + 1] === "string" && path[index - 1] !== "properties"
    );
}

/** The channel of a leaf whose text continues in the next events, `null` for others. */
function channelOf(leaf: PlacedLeaf, event: number, byPath: ReadonlyMap<string, string>): string | null {
  const { kind, path } = leaf;
  const name = path.findLast((part) => typeof part === "string");
  if (kind !== "string" || isNaming(path, leaf.value) || name === "id" || name === "name") return null;
  const isDelta = byPath.get("type")?.endsWith(".delta") ?? false;
  if (name === "token") {
    const list = path.slice(0, path.lastIndexOf("logprobs") + 1);
    return [isDelta ? CHANNEL.map((member) => byPath.get(member)) : event, ...list].join();
  }
  if (!path.includes("delta")) return null;
  const places = path.map((part, index) =>
    typeof part === "number" ? byPath.get([...path.slice(0, index + 1), "index"].join("/")) ?? part : part
  );
  return [...CHANNEL.map((member) => byPath.get(member)), ...places].join();
}

/** The bytes beside a token are those of its replacement. */
function withBytes(event: string): string {
  return event.replaceAll(
    /("token":("(?:[^"\\]|\\.)*"),"logprob":[^,]*,"bytes":)\[[^\]]*\]/g,
    (_, before, token) => `${before}[${new TextEncoder().encode(JSON.parse(token)).join()}]`,
  );
}
