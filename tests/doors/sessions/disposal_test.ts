/** `rm`: what it deletes, what it leaves, and which sessions its rules choose. */
import assert from "node:assert/strict";
import { holdLock } from "../../cli/harness.ts";
import { bytesBelow, type Json } from "../../support/files.ts";
import { fill, lacksMount, overlayOptions, withMount } from "../../support/mounts.ts";
import { needing } from "../../support/needs.ts";
import { test } from "../../support/test.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
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

/** Registers a test that mounts a file system. */
async function mounted(
  type: "tmpfs" | "overlay",
  name: string,
  fn: (home: SessionHome) => Promise<void>,
): Promise<void> {
  const { ignore, ...named } = needing(name, await lacksMount(type));
  withHome(named.name, fn, (name, fn) => test.long({ name, ignore, fn }));
}

await mounted(
  "overlay",
  "sessions of an overlay's lower layer, which cannot be renamed, are continued and removed",
  async (home) => {
    const [root, at] = [`${home.directory}/layers`, home.home];
    for (const id of [ID, "child", "kept"]) home.session(FIVE_TURNS, id);
    Deno.mkdirSync(`${at}/sessions/begun/turns`, { recursive: true, mode: 0o700 });
    Deno.mkdirSync(root);
    Deno.renameSync(at, `${root}/lower`);
    for (const path of [`${root}/upper`, `${root}/work`, at]) Deno.mkdirSync(path, { mode: 0o700 });
    await withMount(at, { type: "overlay", options: overlayOptions(root) }, async () => {
      const rename = () => Deno.renameSync(`${at}/sessions/${ID}`, `${at}/sessions/.other`);
      assert.throws(rename, { code: "EXDEV" });
      await home.json(["rename", "kept", "Another"]);
      await home.json(["rm", ID, "--yes"]);
      assert.deepEqual((await home.json(["rm", "--unused"])).skipped, []);
      assert.deepEqual(home.names(), ["child", "kept"]);
      await home.json(["rm", "--keep", "1", "--yes"]);
      assert.equal(home.names().length, 1);
      assert.deepEqual(await home.findings(home.names()[0]), []);
    });
  },
);

await mounted(
  "tmpfs",
  "on a file system that is really full, rm works, and a failed fork leaves nothing",
  async (home) => {
    Deno.mkdirSync(home.home, { mode: 0o700 });
    await withMount(home.home, { type: "tmpfs", options: "mode=700,size=512k" }, async () => {
      home.session().blob("x".repeat(4096));
      write(`${home.home}/sessions/${ID}/.tmp-1-abc`, "half");
      for (const id of ["a", "b"]) home.session(FIVE_TURNS, id);
      fill(`${home.home}/full`);
      assert.equal((await home.json(["fork", ID], 14)).code, "storage_full");
      assert.deepEqual(home.names(), ["a", "b", ID]);
      await home.json(["rm", "a", "--yes"]);
      fill(`${home.home}/again`);
      const { removed, skipped } = await home.json(["rm", "--unused"]);
      assert.deepEqual([removed.length, skipped], [2, []]);
      fill(`${home.home}/more`);
      await home.json(["rm", "--keep", "1", "--yes"]);
      assert.deepEqual(home.names().length, 1);
      assert.deepEqual(await home.findings(home.names()[0]), []);
    });
  },
);
