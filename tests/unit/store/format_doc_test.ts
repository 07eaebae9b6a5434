import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openEnvelope } from "../../../src/store/read/turn_file.ts";
import { judgeTurn } from "../../../src/store/read/turn.ts";

const doc = Deno.readTextFileSync(new URL("../../../docs/format.md", import.meta.url));

Deno.test("the turn file that docs/format.md shows is one that readers accept", () => {
  const shown = /```text\n(\{"format":"reprise\.turn\/1".+?\n)```/s.exec(doc)?.[1];
  assert.ok(shown !== undefined, "docs/format.md shows no turn");
  const envelope = openEnvelope(new TextEncoder().encode(shown));
  assert.equal(envelope.status, "ok", JSON.stringify(envelope));
  assert.equal(envelope.status === "ok" && judgeTurn(envelope.value).status, "ok");
});

Deno.test("docs/format.md names every member of turns, events and manifests", () => {
  const named = new Set([...doc.matchAll(/`[^`]*`/g)].flatMap(([code]) => code.match(/\w+/g) ?? []));
  for (const file of ["event", "fingerprint", "manifest", "turn"]) {
    const source = Deno.readTextFileSync(new URL(`../../../src/domain/${file}.ts`, import.meta.url));
    const members = [...source.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = ""]) => member);
    assert.ok(members.length > 3, file);
    assert.deepEqual(members.filter((member) => !named.has(member) && !/[A-Z]/.test(member)), [], file);
  }
});

Deno.test("docs/format.md names every finding that the store can make, and no other", () => {
  const source = new URL("../../../src/store/", import.meta.url);
  const made = new Set<string>();
  const patterns = [
    /\badd\(\s*(?:"(?:error|warning|info)"|severity),\s*"([a-z_]+)"/g,
    /\badd\(\s*"([a-z]+_[a-z_]+)"/g,
    /\b(?:unusable|newerThanUs|refused)\(\s*"([a-z_]+)"/g,
    /\bcode: "((?:missing|damaged)_[a-z]+|bad_shape)"/g,
  ];
  for (const { parentPath, name } of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!name.endsWith(".ts")) continue;
    const text = Deno.readTextFileSync(join(parentPath, name));
    for (const pattern of patterns) {
      for (const match of text.matchAll(pattern)) made.add(match[1] as string);
    }
  }
  const section = doc.slice(doc.indexOf("\n## Findings of fsck"));
  const named = new Set(
    Array.from(section.matchAll(/`([a-z]+_[a-z_]+|symlink|leftover)`/g), (match) => match[1] as string),
  );
  assert.deepEqual([...named].sort(), [...made].sort());
  assert.ok(made.size > 25);
});
