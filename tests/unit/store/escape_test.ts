import assert from "node:assert/strict";
import { posix } from "node:path";
import fc from "fast-check";
import { isSessionId, parseSessionId } from "../../../src/domain/ids.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import type { Files } from "../../../src/domain/ports.ts";
import { exportSession } from "../../../src/store/transfer/export.ts";
import { planFork } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { chooseSessions, collectGarbage, removeSession } from "../../../src/store/lifecycle/remove.ts";
import { type Home, resolveSession } from "../../../src/store/home.ts";
import { importSession } from "../../../src/store/transfer/import.ts";
import { readBlob } from "../../../src/store/read/session.ts";
import { MemoryDisk, READ_ONLY } from "./memory_disk.ts";
import { ID, portsOn, testPorts, withHome } from "./support.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const HOME: Home = { path: "/srv/me/reprise", sessions: "/srv/me/reprise/sessions" };

/** Values that attackers and accidents write in place of an id or a path. */
const CORPUS = [
  "..",
  ".",
  "",
  "/",
  "../../etc/passwd",
  "..\\..\\x",
  "a/../../b",
  "a\u0000b",
  "/etc/passwd",
  "C:\\x",
  "c:x",
  "con",
  "nul.txt",
  "a.",
  "a ",
  " a",
  "a".repeat(300),
  "ａ",
  "e\u0301",
  "%2e%2e%2f",
  "-rf",
  "~",
  "$HOME",
  "@last",
  ".new-1-abc/../../x",
  ".removed-1-abc",
  "turns/000001.json",
  "blobs/../../x",
  "a\nb",
];

const word = fc.oneof(
  fc.constantFrom(...CORPUS),
  fc.string({ unit: "binary", maxLength: 70 }),
  fc.string({ unit: fc.constantFrom("a", "0", "-", ".", "/", "\\", "\u0000", ":", "A"), maxLength: 70 }),
  fc.array(fc.constantFrom(...CORPUS), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
);

/** Ports that see a home with one empty session in which `names` are listed, and refuse any path that is not inside it. */
function watched(names: readonly string[]) {
  const outside: string[] = [];
  const look = (path: string) => {
    const inside = path === HOME.path || path.startsWith(`${HOME.path}/`);
    if (!inside || posix.normalize(path) !== path || path.includes("\u0000")) outside.push(path);
  };
  const memory = new MemoryDisk().files(READ_ONLY);
  const files: Files = {
    ...memory,
    facts(path) {
      look(path);
      const isThere = path === HOME.path || path === HOME.sessions ||
        path === `${HOME.sessions}/${ID}`;
      return isThere
        ? { kind: "directory", size: 0, mode: 0o700, owner: Deno.uid(), device: 1, inode: 1, modified: 0 }
        : null;
    },
    read(path) {
      look(path);
      throw new Deno.errors.NotFound(path);
    },
    list(path) {
      look(path);
      return path === HOME.sessions ? [...names] : [];
    },
  };
  return { ports: portsOn(files), outside };
}

/** An export that says `text` wherever it names something. */
function hostile(text: string) {
  const source = [
    { format: "reprise.export/1", session: text, turns: 1 },
    { path: text, bytes: 1, sha256: text },
  ].map((line) => new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  return { source, name: text, dryRun: true };
}

/** Runs what may refuse, and lets through nothing but a refusal. */
async function refusing(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof RepriseError || error instanceof TypeError)) throw error;
  }
}

test.long(`${samples(100_000)} generated ids and paths lead nowhere outside the home, wherever they are given`, async () => {
  let valid = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 50, maxLength: 50 }), async (words) => {
      const { ports, outside } = watched(words);
      await collectGarbage(ports, HOME, { dryRun: true });
      chooseSessions(ports, HOME, { keep: 0 });
      for (const [index, text] of words.entries()) {
        await refusing(() => resolveSession(ports, HOME, { selector: text, workspace: "/w" }));
        await refusing(() => readBlob(ports, HOME, ID, text));
        // Reading a stream costs more than the rest: every fourth word.
        if (index % 4 === 0) await refusing(() => importSession(ports, HOME, hostile(text)));
        if (!isSessionId(text)) continue;
        valid++;
        const id = parseSessionId(text);
        await refusing(() => removeSession(ports, HOME, id));
        await refusing(() => planFork(ports, HOME, { parent: id }));
        await refusing(() => exportSession(ports, HOME, { id, redact: true }));
        await refusing(() => fsckSession(ports, HOME, id));
      }
      assert.deepEqual(outside, []);
    }),
    { seed: 6, numRuns: samples(2000) },
  );
  assert.ok(valid > samples(1000), `only ${valid} ids were valid: too few to show anything`);
});

Deno.test("foreign names in the home are not touched by gc, links among them", () =>
  withHome(async (home, root) => {
    Deno.mkdirSync(`${root}/precious`);
    Deno.writeTextFileSync(`${root}/precious/file`, "precious");
    for (const name of [".new-1-abc", ".removed-1-abc", "linked"]) {
      Deno.symlinkSync(`${root}/precious`, `${home.sessions}/${name}`);
    }
    for (const name of ["UPPER", "a.b", ".new-x", ".removed-1-", "with space"]) {
      Deno.mkdirSync(`${home.sessions}/${name}`);
    }
    const before = [...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort();
    const { removed, skipped } = await collectGarbage(testPorts(), home, { dryRun: false });
    assert.deepEqual(removed, []);
    assert.deepEqual(skipped.map(({ path }) => path), [".new-1-abc", ".removed-1-abc", "linked"]);
    assert.deepEqual([...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort(), before);
    assert.equal(Deno.readTextFileSync(`${root}/precious/file`), "precious");
  }));
