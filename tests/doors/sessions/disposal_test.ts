/** `rm`: what it deletes, what it leaves, and which sessions its rules choose. */
import assert from "node:assert/strict";
import { holdLock } from "../../cli/harness.ts";
import { bytesBelow, type Json } from "../../support/files.ts";
import { ID, withHome } from "./home.ts";
import { FIVE_TURNS, type GivenTurn, model, user, write } from "./session_files.ts";

withHome("rm removes links inside a session, and never what they lead to", async (home) => {
  const session = home.session();
  Deno.mkdirSync(`${home.directory}/precious`);
  Deno.writeTextFileSync(`${home.directory}/precious/file`, "precious");
  Deno.symlinkSync(`${home.directory}/precious`, `${session.path}/blobs/link`);
  Deno.symlinkSync(`${home.directory}/precious/file`, session.turn(9));
  await home.json(["rm", ID, "--yes"]);
  assert.deepEqual(home.names(), []);
  assert.equal(Deno.readTextFileSync(`${home.directory}/precious/file`), "precious");
});

withHome("rm --unused removes what no turn names and what kills left, and nothing else", async (home) => {
  const session = home.session();
  const [unnamed, quarantined, waiting, attached] = ["unnamed", "quarantined", "waiting", "attached"].map((
    text,
  ) => session.blob(text));
  const file = {
    type: "attachment",
    name: "a",
    media_type: "text/plain",
    blob: { sha256: attached, bytes: 8 },
  };
  session.replaceLast({ ...user("Look", 2), events: [file, ...user("Look").events] } as GivenTurn);
  const waits = [["quarantine", "000002.json.diverged-00", quarantined], ["pending", "000006.json", waiting]];
  for (const [directory, name, blob] of waits) {
    Deno.mkdirSync(`${session.path}/${directory}`, { mode: 0o700 });
    write(`${session.path}/${directory}/${name}`, `{"blob":"${blob}"}`);
  }
  write(`${session.path}/.tmp-1-abc`, "half");
  write(`${session.path}/blobs/notes.txt`, "mine");
  const sessions = `${home.home}/sessions`;
  for (const name of [".new-1-abc", ".removed-2-abc", ".other", "begun/turns"]) {
    Deno.mkdirSync(`${sessions}/${name}`, { recursive: true, mode: 0o700 });
  }
  write(`${sessions}/.new-1-abc/lock`, "");
  const expected = [
    "half_made .new-1-abc",
    "half_removed .removed-2-abc",
    "begun_session begun",
    `temporary ${ID}/.tmp-1-abc`,
    `blob ${ID}/blobs/${unnamed}`,
  ];
  const before = bytesBelow(home.home, "lock");
  const removed = async (...flags: string[]) => {
    const { removed, changes, skipped } = await home.json(["rm", "--unused", ...flags]);
    assert.deepEqual(skipped ?? [], []);
    return (removed ?? changes).map(({ kind, what, path, name }: Json) => `${kind ?? what} ${path ?? name}`);
  };
  await removed("--dry-run");
  assert.deepEqual(bytesBelow(home.home, "lock"), before);
  assert.deepEqual(await removed(), expected);
  assert.deepEqual(home.names(), [".other", ID]);
  const left = [...bytesBelow(session.path, "lock").keys()];
  for (const name of [quarantined, waiting, attached, "notes.txt"]) {
    assert.ok(left.includes(`blobs/${name}`), name);
  }
  assert.deepEqual(left.filter((path) => path.includes("tmp") || path.endsWith(unnamed as string)), []);
  assert.deepEqual(await removed(), []);
});

withHome(
  "rm --unused leaves a session in use, one that is being made and a damaged one, and names them",
  async (home) => {
    home.session().blob("for the next turn");
    const damaged = home.session(FIVE_TURNS, "damaged");
    damaged.blob("of a lost turn");
    Deno.truncateSync(damaged.turn(2), 10);
    Deno.mkdirSync(`${home.home}/sessions/.new-1-abc`, { mode: 0o700 });
    using _one = holdLock(`${home.home}/sessions/${ID}/lock`);
    using _other = holdLock(`${home.home}/sessions/.new-1-abc/lock`);
    const before = bytesBelow(home.home, "lock");
    const { removed, skipped } = await home.json(["rm", "--unused"], 0, 12);
    assert.deepEqual(removed, []);
    assert.deepEqual(skipped.map(({ path }: Json) => path).sort(), [".new-1-abc", "damaged", ID]);
    assert.deepEqual(bytesBelow(home.home, "lock"), before);
  },
);

const HOUR = 3_600_000;
/** Rules, and the sessions that they choose: a is 5 hours old, b 4, c 3 and d 2. */
const RULES: Record<string, { flags: readonly string[]; chosen: readonly string[] }> = {
  "by age": { flags: ["--older-than", "210m"], chosen: ["a", "b"] },
  "by number": { flags: ["--keep", "3"], chosen: ["a"] },
  "all but none": { flags: ["--keep", "0"], chosen: ["a", "b", "c", "d"] },
  "by age and number": { flags: ["--older-than", "270m", "--keep", "2"], chosen: ["a", "b"] },
  "by size, all of them": { flags: ["--larger-than", "1kB"], chosen: ["a", "b", "c", "d"] },
};

for (const [name, { flags, chosen }] of Object.entries(RULES)) {
  withHome(`rm chooses sessions ${name}, and never one whose age is unknown`, async (home) => {
    for (const [index, id] of ["a", "b", "c", "d"].entries()) {
      const at = new Date(Date.now() - (5 - index) * HOUR).toISOString();
      home.session([{ ...user("Hi"), at }, { ...model([]), at }], id);
    }
    Deno.mkdirSync(`${home.home}/sessions/undated`);
    const { removed } = await home.json(["rm", ...flags, "--yes"]);
    assert.deepEqual(removed.map(({ session, id, path }: Json) => session ?? id ?? path), chosen);
    assert.deepEqual(home.names(), ["a", "b", "c", "d", "undated"].filter((id) => !chosen.includes(id)));
  });
}
