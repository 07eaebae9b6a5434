/** docs/format.md and the README show turns that readers accept, and name the findings that there are. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { withHome } from "./home.ts";
import { FIVE_TURNS, write } from "./session_files.ts";

const ROOT = new URL("../../../", import.meta.url);
const textOf = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

for (const page of ["docs/format.md", "README.md"]) {
  withHome(`the turn file that ${page} shows is one that readers accept`, async (home) => {
    const shown = /```text\n(\{"format":"reprise\.turn\/1".+?\n)```/s.exec(textOf(page))?.[1];
    assert.ok(shown !== undefined, "it shows no turn");
    const { turn, session } = JSON.parse(shown);
    const files = home.session(FIVE_TURNS, session);
    write(files.turn(turn), shown);
    const ofTurn = (await home.findings(session)).filter((line) => line.endsWith(`turns/00000${turn}.json`));
    // Its history is another one.
    assert.deepEqual(
      ofTurn.filter((line) => !/ (wrong_prev|wrong_seq|orphan_call|open_run) /.test(line)),
      [],
    );
  });
}

Deno.test("docs/format.md names every finding that the store can make, and no other", () => {
  const source = new URL("src/store/", ROOT);
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
  const doc = textOf("docs/format.md");
  const section = doc.slice(doc.indexOf("\n## Findings of fsck"));
  const named = new Set(
    Array.from(section.matchAll(/`([a-z]+_[a-z_]+|symlink|leftover)`/g), (match) => match[1] as string),
  );
  assert.deepEqual([...named].sort(), [...made].sort());
  assert.ok(made.size > 25);
});

Deno.test("docs/format.md names every member of turns, events and manifests", () => {
  const named = new Set(
    [...textOf("docs/format.md").matchAll(/`[^`]*`/g)].flatMap(([code]) => code.match(/\w+/g) ?? []),
  );
  for (const file of ["event", "fingerprint", "manifest", "turn"]) {
    const members = [...textOf(`src/domain/${file}.ts`).matchAll(/^ {2}readonly (\w+)\??:/gm)].map((
      [, member = ""],
    ) => member);
    assert.ok(members.length > 3, file);
    assert.deepEqual(members.filter((member) => !named.has(member) && !/[A-Z]/.test(member)), [], file);
  }
});
