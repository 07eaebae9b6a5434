/** Dry runs: one shape for every verb. */
import assert from "node:assert/strict";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import { Place, readsThenAnswers } from "./harness.ts";

/**
 * A call of each verb that has `--dry-run`, except `fixture prune`, which needs the events of a server, and `sync`,
 * which needs a remote: sync_test.ts calls it.
 */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  "run": ["run", "-s", "s", "More"],
  "interrupt": ["interrupt", "s"],
  "compact": ["compact", "s", "--tail-events", "0"],
  "omit": ["omit", "s", "--seq", "2"],
  "fork": ["fork", "s"],
  "repair": ["repair", "s"],
  "export": ["export", "s", "other.export"],
  "import": ["import", "gone.export"],
  "rm": ["rm", "s"],
  "rename": ["rename", "s", "Another title"],
  "config": ["config", "set", "model", "gpt-5.6"],
  "record": ["record", "--out", "new", "--", "true"],
  "fixture redact": ["fixture", "redact", "recorded"],
  "fixture seal": ["fixture", "seal", "recorded"],
  "fixture import": ["fixture", "import", "answer.sse", "imported"],
};

Deno.test("every verb with --dry-run prints one JSON object of the same shape, and writes no turn", async () => {
  const named = [
    ...VERBS.map((verb) => ({ name: verb.name, verb })),
    ...FIXTURE_VERBS.map((verb) => ({ name: `fixture ${verb.name}`, verb })),
  ];
  const declared = named.filter(({ verb }) => "dryRun" in verb.flags).map(({ name }) => name);
  assert.deepEqual(declared.filter((name) => CALLS[name] === undefined), ["sync", "fixture prune"]);
  await using place = new Place(readsThenAnswers);
  const { sandbox } = place;
  for (const id of ["s", "gone", "compacted"]) {
    await place.session(id, `Look at a.txt. ${"It matters a lot. ".repeat(300)}`);
  }
  for (
    const args of [
      ["compact", "compacted", "--tail-events", "0"],
      ["export", "gone", "gone.export"],
      ["rm", "gone", "--yes"],
      ["run", "--record", "recorded", "Look at a.txt"],
    ]
  ) {
    const called = await place.call(args);
    assert.equal(called.code, 0, `${args.join(" ")}: ${called.stderr}`);
  }
  const body = Deno.readFileSync(`${sandbox.workspace}/recorded/exchanges/0001/body`);
  Deno.writeFileSync(`${sandbox.workspace}/answer.sse`, body);
  const before = sandbox.turnNames("s");
  for (const name of declared) {
    const args = CALLS[name];
    if (args === undefined) continue;
    const cut = args.includes("--") ? args.indexOf("--") : args.length;
    const called = await place.call([...args.slice(0, cut), "--dry-run", "--json", ...args.slice(cut)]);
    assert.equal(called.code, 0, `${name}: ${called.stdout}${called.stderr}`);
    const { type, verb, dry_run, changes } = JSON.parse(called.stdout);
    assert.deepEqual([type, verb, dry_run], ["dry_run", name, true]);
    assert.ok(Array.isArray(changes), name);
    for (const change of changes) assert.deepEqual(Object.keys(change), ["action", "what", "name"], name);
    assert.deepEqual(sandbox.turnNames("s"), before, name);
  }
});
