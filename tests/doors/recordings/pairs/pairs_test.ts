/** Pairs of requests that only look alike stay two questions; the same request elsewhere gets its recorded answer. */
import assert from "node:assert/strict";
import { test } from "../../../support/test.ts";
import { CONTINUED, DIVERGED } from "./conversations.ts";
import { DECLARED, UNDECLARED } from "./declared.ts";
import { LABEL_PAIRS } from "./labels.ts";
import type { Pair } from "./pair.ts";
import { unsentPairs, writtenFor, wrongPairs } from "./playing.ts";
import { QUESTIONS, SAME_QUESTIONS } from "./questions.ts";
import { VALUES } from "./same.ts";
import { OTHER_TIMES, OWN_TIMES } from "./times.ts";
import { ORDINARY_CLIENTS } from "./unknown.ts";
import { NO_VALUES } from "./values.ts";
import { WRITTEN } from "./written.ts";

const TABLES: Readonly<Record<string, readonly Pair[]>> = {
  "a label, a tag or a sentence makes no text a value of the machine": LABEL_PAIRS,
  "values of the machine count in a question": QUESTIONS,
  "a question that differs in a directory of the machine alone is the same one": SAME_QUESTIONS,
  "a text that is not the machine's own value counts": NO_VALUES,
  "values of the machine are replaced in all their notations": VALUES,
  "days and moments of no run, and UUIDs of no session, count": OTHER_TIMES,
  "days and moments of the runs, and the UUID of the session, are replaced": OWN_TIMES,
  "ordinary clients and other APIs get no other answer": ORDINARY_CLIENTS,
  "values that are declared, or in the block of a client that names itself, are replaced": DECLARED,
  "neither a flag nor the name of a client makes other texts equal": UNDECLARED,
  "values of the recorder that came back in a played answer are the client's own": CONTINUED,
  "a conversation with values that no answer gave is another one": DIVERGED,
};

for (const [name, pairs] of Object.entries(TABLES)) {
  test.long(name, async () => {
    const wrong = await wrongPairs(pairs);
    const shown = wrong.map(({ pair: { kind, recorded, received }, outcome, isArmed }) =>
      `${kind}${isArmed ? ", with all rules" : ""}: ${outcome}\n` +
      [recorded, received].map(({ body }) => `  ${JSON.stringify(body)}\n`).join("")
    );
    assert.equal(wrong.length, 0, `${wrong.length} of ${2 * pairs.length}:\n${shown.join("")}`);
  });
}

test.long("record --missing sends and records another question, of each kind", async () => {
  const missing = Object.values(TABLES).flat().filter(({ expected, isShared }) =>
    expected === "miss" && !isShared
  );
  const ofEachKind = [...new Map(missing.map((pair) => [pair.kind, pair])).values()];
  assert.deepEqual((await unsentPairs(ofEachKind)).map(({ kind }) => kind), []);
});

test.long("record writes the rules of values that stand outside of questions, and names a place of each", async () => {
  const found: Record<string, string> = {};
  for (const [name, , place, asked, more] of WRITTEN) {
    const { match, notes } = await writtenFor(asked, more);
    found[name] = `${match.normalize ?? "none"}`;
    for (const word of [...match.normalize ?? [], place]) {
      assert.ok(notes.includes(word), `${name}: ${word} is not in ${notes}`);
    }
  }
  assert.deepEqual(found, Object.fromEntries(WRITTEN.map(([name, rules]) => [name, rules])));
});
