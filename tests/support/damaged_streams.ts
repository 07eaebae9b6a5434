/**
 * Damage to streams, by seed: what networks, proxies and servers with faults of their own make of them.
 *
 * @module
 */
import type { Dice } from "../unit/fold/dice.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes with a meaning to some reader: NUL, line ends, quotes, braces, a lone continuation, what no UTF-8 holds. */
const TELLING_BYTES = [
  0x00,
  0x0a,
  0x0d,
  0x20,
  0x22,
  0x2c,
  0x3a,
  0x5c,
  0x7b,
  0x7d,
  0x80,
  0xc0,
  0xed,
  0xf0,
  0xff,
];

/** Lines that servers, gateways and proxies put between events. */
const FOREIGN_LINES = [
  "",
  "data",
  "data: [DONE]",
  "data: null",
  "data: []",
  "data: {}",
  'data: "text"',
  'data: {"type":7}',
  'data: {"type":"error","error":null}',
  'data: {"error":"upstream is gone"}',
  'data: {"type":"response.output_item.done","output_index":1e99,"item":[]}',
  'data: {"type":"content_block_delta","index":-1,"delta":{"type":"text_delta"}}',
  `data: ${"[".repeat(3000)}`,
  "event: response.completed",
  "event: message_stop",
  "id: \u0000",
  "retry: 99999999999999999999",
  ": keep-alive",
  "\ufeff",
  "<html>502 Bad Gateway</html>",
];

/** Values of which none is what a member should hold. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  0.5,
  1e308,
  "",
  "\ud800",
  "__proto__",
  "\u0000\r\n\u2028",
  [],
  {},
  [null],
  { type: null },
  JSON.parse('{"__proto__":null,"constructor":1}'),
];

type Damage = (bytes: Uint8Array, dice: Dice, other: Uint8Array) => Uint8Array;

const DAMAGES: Readonly<Record<string, Damage>> = {
  "a bit flips": (bytes, dice) => {
    const at = dice.count(0, bytes.length - 1);
    return bytes.with(at, (bytes[at] as number) ^ (1 << dice.count(0, 7)));
  },
  "a byte becomes another": (bytes, dice) =>
    bytes.with(dice.count(0, bytes.length - 1), dice.pick(TELLING_BYTES)),
  "bytes are put in": (bytes, dice) => {
    const inserted = Uint8Array.from({ length: dice.count(1, 4) }, () => dice.pick(TELLING_BYTES));
    const at = dice.count(0, bytes.length);
    return joined(bytes.subarray(0, at), inserted, bytes.subarray(at));
  },
  "bytes are lost": (bytes, dice) => {
    const at = dice.count(0, bytes.length);
    return joined(bytes.subarray(0, at), bytes.subarray(at + dice.count(1, 200)));
  },
  "the end is lost": (bytes, dice) => bytes.subarray(0, dice.count(0, bytes.length)),
  "the beginning is lost": (bytes, dice) => bytes.subarray(dice.count(0, bytes.length)),
  "another stream follows": (bytes, _dice, other) => joined(bytes, other),
  "another stream cuts in": (bytes, dice, other) =>
    joined(bytes.subarray(0, dice.count(0, bytes.length)), other.subarray(dice.count(0, other.length))),
  "a line is lost": lines((all, at) => all.toSpliced(at, 1)),
  "a line comes twice": lines((all, at) => all.toSpliced(at, 0, all[at] as string)),
  "two lines change places": lines((all, at, dice) => {
    const other = dice.count(0, all.length - 1);
    return all.with(at, all[other] as string).with(other, all[at] as string);
  }),
  "a line is put in": lines((all, at, dice) => all.toSpliced(at, 0, dice.pick(FOREIGN_LINES))),
  "line ends change": (bytes, dice) => {
    const some = dice.chance(0.5) ? 1 : 0.2;
    return encoder.encode(
      decoder.decode(bytes).replaceAll("\n", (end) => dice.chance(some) ? dice.pick(["\r\n", "\r"]) : end),
    );
  },
  "a member holds something else": lines((all, at, dice) =>
    all.with(at, withOddMember(all[at] as string, dice))
  ),
  "an escape is half a character": lines((all, at, dice) =>
    all.with(
      at,
      (all[at] as string).replace(/":"/, `":"${dice.pick(["\\ud83e", "\\udd8a", "\\u0000", "\\u"])}`),
    )
  ),
};

/** One to four kinds of damage, and what they made of `bytes`, which holds at least one byte. */
export function damaged(
  bytes: Uint8Array,
  other: Uint8Array,
  dice: Dice,
): { readonly bytes: Uint8Array; readonly by: readonly string[] } {
  const by: string[] = [];
  let result = bytes;
  for (let left = dice.count(1, 4); left > 0 && result.length > 0; left--) {
    const [name, damage] = dice.pick(Object.entries(DAMAGES));
    result = damage(result, dice, other);
    by.push(name);
  }
  return { bytes: result, by };
}

function lines(edit: (all: readonly string[], at: number, dice: Dice) => readonly string[]): Damage {
  return (bytes, dice) => {
    const all = decoder.decode(bytes).split("\n");
    return encoder.encode(edit(all, dice.count(0, all.length - 1), dice).join("\n"));
  };
}

/** The line with one member, at any depth of its JSON, given another value. */
function withOddMember(line: string, dice: Dice): string {
  if (!line.startsWith("data:")) return line;
  let payload: unknown;
  try {
    payload = JSON.parse(line.slice(5));
  } catch {
    return line;
  }
  const holders: Record<string, unknown>[] = [];
  const collect = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    if (Object.keys(value).length > 0) holders.push(value as Record<string, unknown>);
    Object.values(value).forEach(collect);
  };
  collect(payload);
  if (holders.length === 0) return line;
  const holder = dice.pick(holders);
  const name = dice.pick(Object.keys(holder));
  if (dice.chance(0.2)) delete holder[name];
  else holder[name] = dice.pick(ODD_VALUES);
  return `data: ${JSON.stringify(payload)}`;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
