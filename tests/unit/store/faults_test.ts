import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { CHANGING, type Operation, spyFiles, systemError } from "./spy_files.ts";
import {
  call,
  endDraft,
  ID,
  modelDraft,
  newSession,
  portsOn,
  putPinned,
  result,
  testPorts,
  userDraft,
} from "./support.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const STORAGE = new Set(["storage_full", "storage_denied", "storage_failed"]);
const CODE_FOR: Record<string, string> = {
  ENOSPC: "storage_full",
  EDQUOT: "storage_full",
  EACCES: "storage_denied",
  EROFS: "storage_denied",
  EIO: "storage_failed",
  EMFILE: "storage_failed",
};

/** Creates a session, puts blobs and appends three turns; passes each finished turn to `acknowledge`. */
async function firstTurns(ports: ReturnType<typeof portsOn>, home: Home, acknowledge: (turn: Turn) => void) {
  const writer = await SessionWriter.create(ports, home, { id: ID });
  try {
    putPinned(writer);
    acknowledge(writer.append(userDraft("hello")));
    acknowledge(writer.append(modelDraft([call("call_a")])));
    const blob = writer.putBlob(new TextEncoder().encode("a large output"));
    acknowledge(
      writer.append({ kind: "tools", run: 1, events: [{ ...result("call_a", 2), blob } as never] }),
    );
  } finally {
    writer.close();
  }
}

/** Opens a session with one run and appends two turns of the next. */
async function nextTurns(ports: ReturnType<typeof portsOn>, home: Home, acknowledge: (turn: Turn) => void) {
  const writer = await SessionWriter.open(ports, home, { id: ID });
  try {
    acknowledge(writer.append(userDraft("go on", 2)));
    acknowledge(writer.append(modelDraft([], 2)));
  } finally {
    writer.close();
  }
}

/** The session must be sound, hold every acknowledged turn, and take the next one. */
async function assertStillGood(home: Home, acknowledged: readonly Turn[], where: string): Promise<void> {
  const ports = testPorts();
  const path = `${home.sessions}/${ID}`;
  const hasTurn = ports.files.facts(`${path}/turns/000001.json`) !== null;
  if (!hasTurn) assert.deepEqual(acknowledged, [], where);
  const writer = hasTurn
    ? await SessionWriter.open(ports, home, { id: ID })
    : await SessionWriter.create(ports, openHome(ports, home.path, { create: true }), { id: ID });
  try {
    assert.deepEqual(writer.turns.slice(0, acknowledged.length), acknowledged, where);
    putPinned(writer);
    if (writer.turns.length > 0 && !writer.end.runEnded) writer.append(endDraft(writer.end.run));
    writer.append(userDraft("next", writer.end.run + 1));
    writer.append(endDraft(writer.end.run));
  } finally {
    writer.close();
  }
  const errors = (await fsckSession(ports, home, ID)).findings.filter(({ severity }) => severity === "error");
  assert.deepEqual(errors, [], where);
  const leftovers = ports.files.list(path).filter((name) => name.startsWith(".tmp-"));
  assert.deepEqual(leftovers, [], where);
}

/** Fails operation 1, 2, 3, … of a scenario, each in a new home, until none is left to fail. */
async function failEach(
  code: string,
  scenario: typeof firstTurns,
  prepare: (home: Home) => Promise<unknown>,
): Promise<number> {
  let points = 0;
  for (let at = 1;; at++) {
    const root = await Deno.makeTempDir({ prefix: "reprise-faults-" });
    try {
      const home = openHome(testPorts(), `${root}/home`, { create: true });
      await prepare(home);
      const acknowledged = [
        ...(home.sessions && hasSession(home) ? readSession(testPorts(), home, ID).turns : []),
      ];
      let count = 0;
      let failed: Operation | null = null;
      const faulty = portsOn(spyFiles((operation) => {
        if (++count !== at) return;
        failed = operation;
        throw systemError(code);
      }));
      const outcome = await scenario(faulty, home, (turn) => acknowledged.push(turn)).then(
        () => null,
        (e) => e,
      );
      if (failed === null) {
        assert.equal(outcome, null);
        return points;
      }
      points++;
      const { name, path } = failed as Operation;
      const where = `${code} at operation ${at}, ${name} ${path.slice(root.length)}`;
      assertTyped(outcome, { code, name, path, where });
      await assertStillGood(home, acknowledged, where);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  }
}

function hasSession(home: Home): boolean {
  return testPorts().files.facts(`${home.sessions}/${ID}`) !== null;
}

/** Accepts a failure without an error only if it is harmless: after the turn has its name, or of the manifest cache. */
function assertTyped(
  outcome: unknown,
  at: { code: string; name: string; path: string; where: string },
): void {
  if (outcome === null) {
    const harmless = ["unlink", "createExclusive", "write", "close", "rename", "facts"].includes(at.name) ||
      (at.name === "syncDirectory" && at.code === "EACCES");
    assert.ok(harmless, `${at.where}: was swallowed`);
    return;
  }
  assert.ok(outcome instanceof RepriseError, `${at.where}: ${outcome}`);
  assert.ok(STORAGE.has(outcome.code), `${at.where}: ${outcome.code}`);
  assert.equal(outcome.exitCode, 14);
  assert.equal(outcome.code, CODE_FOR[at.code], at.where);
  assert.match(outcome.message, /^Cannot .+: .+[^.]$/, at.where);
}

/** The errors of a disk that is full, broken, closed or mounted read-only; in the gate only the first one. */
const CODES = ["ENOSPC", "EIO", "EACCES", "EROFS"].slice(0, Math.ceil(samples(20)));

for (const code of CODES) {
  test.long(`${code} at any file operation of a first run is a storage error, loses nothing, and the next try works`, async () => {
    const points = await failEach(code, firstTurns, () => Promise.resolve());
    assert.ok(points > 60, `only ${points} points`);
  });
}

for (const code of CODES.slice(0, 2)) {
  test.long(`${code} at any file operation of a later run is a storage error and loses nothing`, async () => {
    const points = await failEach(code, nextTurns, (home) => newSession(testPorts(), home));
    assert.ok(points > 30, `only ${points} points`);
  });
}

for (const operation of ["write", "sync", "close", "link"] as const) {
  Deno.test(`a ${operation} that fails leaves no temporary file, for a turn and for a blob`, async () => {
    const root = await Deno.makeTempDir({ prefix: "reprise-faults-" });
    try {
      const home = openHome(testPorts(), `${root}/home`, { create: true });
      let failing = false;
      const ports = portsOn(spyFiles(({ name }) => {
        if (failing && name === operation) throw systemError("ENOSPC");
      }));
      for (const attempt of ["turn", "blob"]) {
        const writer = await SessionWriter.create(ports, home, { id: ID });
        putPinned(writer);
        failing = true;
        const write = () =>
          attempt === "turn" ? writer.append(userDraft("hello")) : writer.putBlob(new Uint8Array(9));
        assert.throws(write, { code: "storage_full", exitCode: 14 });
        failing = false;
        const left = [...Deno.readDirSync(writer.path)].filter(({ name }) => name.startsWith(".tmp-"));
        assert.deepEqual(left, [], attempt);
        writer.close();
      }
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

Deno.test("a failed fsync of the turn ends the writer: nothing is retried on the same session handle", async () => {
  const root = await Deno.makeTempDir({ prefix: "reprise-faults-" });
  try {
    const home = openHome(testPorts(), `${root}/home`, { create: true });
    let failing = false;
    let changes = 0;
    const ports = portsOn(spyFiles(({ name }) => {
      // The close fails as well: that must not hide what happened before it.
      if (failing && (name === "sync" || name === "close")) throw systemError("EIO");
      if (CHANGING.has(name)) changes++;
    }));
    const writer = await SessionWriter.create(ports, home, { id: ID });
    putPinned(writer);
    failing = true;
    assert.throws(() => writer.append(userDraft("hello")), { code: "storage_failed" });
    failing = false;
    changes = 0;
    assert.throws(() => writer.append(userDraft("hello")), {
      code: "storage_failed",
      message: /has stopped/,
    });
    assert.throws(() => writer.putBlob(new Uint8Array(3)), { code: "storage_failed" });
    assert.equal(changes, 0);
    writer.close();
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
