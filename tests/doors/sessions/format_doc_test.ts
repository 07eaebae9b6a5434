/** docs/format.md and the README show turns that readers accept, and name the findings that there are. */
import assert from "node:assert/strict";
import { withHome } from "./home.ts";
import { FIVE_TURNS, write } from "./session_files.ts";
import { EVENTS, MANIFEST, TURNS } from "./shapes.ts";

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

const FORMAT = textOf("docs/format.md");

Deno.test("docs/format.md names every finding that these tests expect, and each of them is expected", () => {
  const directory = new URL("./", import.meta.url);
  const tests = [...Deno.readDirSync(directory)]
    .map(({ name }) => Deno.readTextFileSync(new URL(name, directory))).join("\n");
  const expected = [...tests.matchAll(/["`](?:error|warning|info) (\w+) /g)].map(([, code = ""]) => code);
  const section = FORMAT.slice(FORMAT.indexOf("\n## Findings of fsck"));
  const named = [...section.matchAll(/`([a-z]+_[a-z_]+|symlink|leftover)`/g)].map(([, code = ""]) => code);
  assert.deepEqual(expected.filter((code) => !named.includes(code)), []);
  assert.deepEqual(named.filter((code) => !new RegExp(`\\b${code}\\b`).test(tests)), []);
  assert.ok(named.length > 25);
});

Deno.test("docs/format.md names every member of turns, events and manifests", () => {
  const named = new Set([...FORMAT.matchAll(/`[^`]*`/g)].flatMap(([code]) => code.match(/\w+/g) ?? []));
  const members = [...Object.values(EVENTS), ...Object.values(TURNS), MANIFEST].flatMap(Object.keys)
    .map((name) => name.replace(/[?~!]+$/, ""));
  assert.deepEqual(members.filter((member) => !named.has(member)), []);
});
