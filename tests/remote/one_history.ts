/** Judge of copies of one session, which shares no code with the program's checks. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Acknowledged } from "./machine.ts";
import type { Objects } from "./place.ts";

/** The texts of a session's turns on a remote, by number. */
export async function turnsOn(objects: Objects, session: string): Promise<Map<number, string>> {
  const there = new Map<number, string>();
  for (const key of await objects.keys(`${session}/turns/`)) {
    there.set(Number(key.slice(-11, -5)), new TextDecoder().decode(await objects.get(key)));
  }
  return there;
}

/** Requires equal copies of an unbroken chain, with every acknowledged turn. */
export function assertOneHistory(
  acknowledged: Acknowledged,
  copies: readonly ReadonlyMap<number, string>[],
): void {
  const [first = new Map<number, string>()] = copies;
  for (const copy of copies) assert.deepEqual([...copy].sort(), [...first].sort());
  let prev: string | null = null;
  for (let number = 1; number <= first.size; number++) {
    const text = first.get(number) ?? "";
    assert.equal((JSON.parse(text) as { prev: unknown }).prev, prev, `turn ${number}`);
    prev = sumIn(text);
    const hashed = text.slice(0, text.lastIndexOf('"sum"'));
    assert.equal(createHash("sha256").update(hashed).digest("hex"), prev);
  }
  for (const [number, sum] of acknowledged) {
    assert.equal(sumIn(first.get(number) ?? ""), sum, `turn ${number} was acknowledged`);
  }
}

/** The sum in the text of a turn file. */
function sumIn(file: string): string {
  return /"sum":"([0-9a-f]{64})"\}\n$/.exec(file)?.[1] ?? "";
}
