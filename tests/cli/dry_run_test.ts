/** Dry runs: one shape for every verb. */
import assert from "node:assert/strict";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import { Place, readsThenAnswers } from "./harness.ts";

/** A call of each verb that has `--dry-run`, in a place with a session `s`, its export and its recording. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  "run": ["run", "-s", "s", "More"],
  "interrupt": ["interrupt", "s"],
  "compact": ["compact", "s", "--tail-events", "0"],
  "uncompact": ["uncompact", "compacted"],
  "fork": ["fork", "s"],
  "repair": ["repair", "s"],
  "export": ["export", "s", "other.export"],
  "import": ["import", "gone.export"],
  "rm": ["rm", "s"],
  "prune": ["prune", "--keep", "0"],
  "gc": ["gc"],
  "record": ["record", "--out", "new", "--", "true"],
  "fixture redact": ["fixture", "redact", "recorded"],
  "fixture seal": ["fixture", "seal", "recorded"],
  "fixture import": ["fixture", "import", "answer.sse", "imported"],
  "fixture prune": ["fixture", "prune", "recorded", "--events", "used.jsonl"],
};

Deno.test("every verb with --dry-run prints one JSON object of the same shape", async () => {
  const declared = [...VERBS.map((verb) => [verb.name, verb] as const), ...FIXTURE_VERBS.map((verb) =>
    [`fixture ${verb.name}`, verb] as const
  )].filter(([, verb]) => "dryRun" in verb.flags).map(([name]) => name);
  await using place = new Place(readsThenAnswers);
  const { sandbox } = place;
  for (const id of ["s", "gone", "compacted"]) {
    await place.session(id, `Look at a.txt. ${"It matters a lot. ".repeat(300)}`);
  }
  assert.equal((await place.call(["compact", "compacted", "--tail-events", "0"])).code, 0);
  assert.equal((await place.call(["export", "gone", "gone.export"])).code, 0);
  assert.equal((await place.call(["rm", "gone", "--yes"])).code, 0);
  const judged: string[] = [];
  for (const name of declared) {
    const args = CALLS[name];
    // Verbs of fixtures need files that are made elsewhere: their own tests hold the same members.
    if (args === undefined || name.startsWith("fixture")) continue;
    const before = sandbox.turnNames("s");
    const cut = args.indexOf("--");
    const flags = ["--dry-run", "--json"];
    const called = await place.call(
      cut === -1 ? [...args, ...flags] : [...args.slice(0, cut), ...flags, ...args.slice(cut)],
    );
    assert.equal(called.code, 0, `${name}: ${called.stdout}${called.stderr}`);
    const { type, verb, dry_run, changes } = JSON.parse(called.stdout);
    assert.deepEqual([type, verb, dry_run], ["dry_run", name, true]);
    assert.ok(Array.isArray(changes), name);
    for (const change of changes) assert.deepEqual(Object.keys(change), ["action", "what", "name"], name);
    assert.deepEqual(sandbox.turnNames("s"), before, name);
    judged.push(name);
  }
  assert.deepEqual(declared.filter((name) => CALLS[name] === undefined), []);
  assert.ok(judged.length >= 12, judged.join(", "));
});
