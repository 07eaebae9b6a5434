import assert from "node:assert/strict";
import fc from "fast-check";
import type { EventDraft } from "../../../src/domain/event.ts";
import { type SessionId } from "../../../src/domain/ids.ts";
import { seal } from "../../../src/domain/seal.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { readForShow } from "../../../src/store/read/show.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  answer,
  appendRun,
  call,
  endDraft,
  ID,
  modelDraft,
  newSession,
  newWriter,
  pinsFor,
  putPinned,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

test.long("append returns the turn that every reader gets, whatever the items hold", () =>
  withHome(async (home) => {
    let count = 0;
    // Awkward on purpose: __proto__ as own member, integer-like names, lone surrogates, -0, deep values.
    const member = fc.oneof(
      fc.jsonValue({ maxDepth: 3, noUnicodeString: false } as never),
      fc.constantFrom<unknown>(
        { "2": 1, "1": 2 },
        "\ud800",
        -0,
        JSON.parse('{"__proto__":{"x":1}}'),
        1e21,
        undefined,
      ),
    );
    const item = fc.dictionary(fc.string(), member, { maxKeys: 4 }).map((extra) => ({
      ...extra,
      type: "later_kind",
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 3 }), async (items) => {
        const id = `p-${++count}` as SessionId;
        const writer = await newWriter(testPorts(), home, id);
        writer.append(userDraft("hello"));
        const events = items.map((item): EventDraft => ({ type: "provider_item", item: item as never }));
        writer.append(modelDraft(events));
        writer.close();
        const { turns, manifest } = readSession(testPorts(), home, id);
        assert.deepEqual(turns, writer.turns);
        assert.equal(JSON.stringify(turns), JSON.stringify(writer.turns));
        assert.deepEqual(manifest, writer.manifest);
        assert.deepEqual(readForShow(testPorts(), home, id).turns.map(({ value }) => value), turns);
      }),
      { numRuns: 60, seed: 5 },
    );
  }));

Deno.test("members of items keep their order and unknown members survive", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const item = {
      zeta: 1,
      type: "reasoning",
      id: "rs_1",
      summary: [],
      alpha: { b: 1, a: 2 },
      encrypted_content: "x",
    };
    writer.append(modelDraft([{ type: "reasoning", item }]));
    writer.close();
    const event = readSession(testPorts(), home, ID).turns[1]?.events[0];
    assert.equal(event?.type === "reasoning" && JSON.stringify(event.item), JSON.stringify(item));
  }));

Deno.test("numbers, seqs, prev and time continue over processes", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    assert.equal(writer.turns.length, 5);
    assert.deepEqual(writer.openCalls(), []);
    const turn = writer.append(userDraft("go on", 2));
    assert.deepEqual([turn.turn, turn.seq, turn.prev], [6, [11, 11], writer.turns[4]?.sum]);
    assert.match(turn.at, /^2026-11-21T20:18:\d\d\.000Z$/);
    writer.append(modelDraft([call("call_z")], 2));
    assert.deepEqual(writer.openCalls(), [{ seq: 12, call_id: "call_z", turn: 7 }]);
    writer.close();
    const last = readSession(testPorts(), home, ID).turns.at(-1);
    assert.deepEqual(last?.seq, [12, 13]);
  }));

Deno.test("create refuses a session that has a turn, and does not change it", () =>
  withHome(async (home) => {
    const { path } = await newSession(testPorts(), home);
    await assert.rejects(SessionWriter.create(testPorts(), home, { id: ID }), {
      code: "session_exists",
      exitCode: 2,
      message: /Cannot create session "fix-ci-7k2m": ".+" holds 5 turns already/,
    });
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5);
    assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name).sort(), [
      "blobs",
      "lock",
      "manifest.json",
      "turns",
    ]);
  }));

Deno.test("create takes over what a killed creation left, its temporary files swept", () =>
  withHome(async (home) => {
    const path = `${home.sessions}/${ID}`;
    Deno.mkdirSync(`${path}/turns`, { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(`${path}/.tmp-123-0a1b2c3d4e5f`, "half a tur", { mode: 0o600 });
    Deno.writeTextFileSync(`${path}/.tmp-notes`, "not one of ours", { mode: 0o600 });
    assert.throws(() => readSession(testPorts(), home, ID), {
      code: "no_such_session",
      message: /holds no turn/,
    });
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), { code: "no_such_session" });
    const writer = await newWriter(testPorts(), home);
    appendRun(writer);
    writer.close();
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5);
    const names = [...Deno.readDirSync(path)].map(({ name }) => name).filter((name) => name.startsWith("."));
    assert.deepEqual(names, [".tmp-notes"]);
  }));

Deno.test("open refuses what is not there", () =>
  withHome(async (home) => {
    await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), {
      code: "no_such_session",
      exitCode: 2,
    });
    assert.throws(() => readSession(testPorts(), home, ID), { code: "no_such_session" });
    assert.throws(() => readForShow(testPorts(), home, ID), { code: "no_such_session" });
  }));

Deno.test("a gap in the numbers refuses the session, with and without a manifest, wherever the gap lies", () =>
  withHome(async (home) => {
    for (const gap of [1, 2, 4]) {
      for (const withManifest of [true, false]) {
        const id = `gap-${gap}-${withManifest}` as SessionId;
        const { path } = await newSession(testPorts(), home, id);
        if (!withManifest) Deno.removeSync(`${path}/manifest.json`);
        Deno.removeSync(`${path}/turns/00000${gap}.json`);
        const expected = {
          code: "session_damaged",
          message: new RegExp(`turns/00000${gap}\\.json is missing, but`),
        };
        assert.throws(() => readSession(testPorts(), home, id), expected);
        await assert.rejects(SessionWriter.open(testPorts(), home, { id }), expected);
      }
    }
    const id = "beyond" as SessionId;
    const { path } = await newSession(testPorts(), home, id);
    Deno.copyFileSync(`${path}/turns/000005.json`, `${path}/turns/000007.json`);
    assert.throws(() => readSession(testPorts(), home, id), {
      message: /turns\/000006\.json is missing, but turn 7 exists/,
    });
  }));

Deno.test("a turn that a writer adds while a reader looks for a gap is no gap", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    const real = testPorts();
    let added = false;
    const ports = testPorts({
      files: {
        ...real.files,
        facts(path) {
          const facts = real.files.facts(path);
          if (path.endsWith("000006.json") && !added) {
            added = true;
            writer.append(userDraft("go on", 2));
            writer.append(modelDraft([], 2));
          }
          return facts;
        },
      },
    });
    assert.equal(readSession(ports, home, ID).turns.length, 5);
    writer.close();
    assert.equal(readSession(testPorts(), home, ID).turns.length, 7);
  }));

/** Replaces the newest turn's file by a sealed one with another text. */
function rewriteNewest(path: string, change: (text: string) => string): void {
  const file = `${path}/turns/000005.json`;
  const text = change(Deno.readTextFileSync(file));
  Deno.writeFileSync(file, seal(text.slice(0, text.lastIndexOf('"sum"'))).bytes);
  Deno.removeSync(`${path}/manifest.json`);
}

const NEWER: Record<string, (text: string) => string> = {
  "a later turn format": (text) => text.replace("reprise.turn/1", "reprise.turn/2"),
  "an unknown turn kind": (text) => text.replace('"kind":"harness"', '"kind":"merge"'),
  "an unknown event kind": (text) => text.replace('"type":"run_ended"', '"type":"branch_merged"'),
};
for (const [name, change] of Object.entries(NEWER)) {
  Deno.test(`${name} refuses the next request and still shows`, () =>
    withHome(async (home) => {
      const { path } = await newSession(testPorts(), home);
      rewriteNewest(path, change);
      const expected = { code: "format_too_new", exitCode: 2, message: /turns\/000005\.json/, hint: /show/ };
      assert.throws(() => readSession(testPorts(), home, ID), expected);
      await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), expected);
      const shown = readForShow(testPorts(), home, ID);
      assert.equal(shown.turns.length, 5);
      assert.deepEqual(shown.problems, []);
    }));
}

Deno.test("an unknown event kind that says it is not folded is kept and does not refuse anything", () =>
  withHome(async (home) => {
    const { path } = await newSession(testPorts(), home);
    rewriteNewest(path, (text) =>
      text.replace('"seq":[10,10]', '"seq":[10,11]')
        .replace('{"seq":10,', '{"seq":10,"type":"weather","fold":false,"sun":true},\n  {"seq":11,'));
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    assert.deepEqual(
      writer.turns[4]?.events[0],
      { seq: 10, type: "weather", fold: false, sun: true } as never,
    );
    assert.equal(writer.append(userDraft("go on", 2)).seq[0], 12);
    writer.close();
  }));

Deno.test("append refuses a draft that its readers would refuse, before anything is written", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    assert.throws(() => writer.append(endDraft()), /does not|opens|expected|follows/);
    assert.throws(() => writer.append(userDraft("hello", 2)), /run 1 was expected/);
    assert.throws(() => writer.append({ ...userDraft("hello"), events: [] }), RangeError);
    writer.append(userDraft("hello"));
    writer.append(modelDraft([call("call_a")]));
    const before = [...writer.turns];
    assert.throws(() => writer.append(userDraft("too early", 2)), TypeError);
    assert.throws(() => writer.append({ kind: "tools", run: 1, events: [result("call_b", 2)] }), TypeError);
    assert.throws(() => writer.append({ kind: "tools", run: 1, events: [result("call_a", 9)] }), TypeError);
    assert.throws(
      () => writer.append({ kind: "tools", run: 1, events: [result("call_a", 2), result("call_a", 2)] }),
      TypeError,
    );
    const blob = { sha256: "d".repeat(64), bytes: 1 };
    assert.throws(
      () =>
        writer.append({ kind: "tools", run: 1, events: [{ ...result("call_a", 2), blob } as EventDraft] }),
      /names the blob d+, which is not there/,
    );
    assert.deepEqual(writer.turns, before);
    writer.append({ kind: "tools", run: 1, events: [result("call_a", 2)] });
    writer.append(endDraft());
    assert.throws(() => writer.append(modelDraft([answer("late")])), /follows the end of run 1/);
    writer.close();
    assert.throws(() => writer.append(userDraft("closed", 2)), /closed/);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 4);
  }));

test.long("a turn that is too deep or too large to be read again is a storage error, not a broken session", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const deep = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`);
    const item = (value: unknown) =>
      modelDraft([{ type: "provider_item", item: { type: "x", value } as never }]);
    assert.throws(() => writer.append(item(deep)), { code: "storage_failed", message: /deeper than 512/ });
    const large = "x".repeat(64 * 1024 * 1024);
    assert.throws(() => writer.append(item(large)), { code: "storage_failed", message: /more than the cap/ });
    assert.equal(writer.append(item("[".repeat(600))).turn, 2);
    writer.close();
    assert.equal(readSession(testPorts(), home, ID).turns.length, 2);
  }));

Deno.test("a run without a prompt opens with run_continued and pins of its own", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    const events: EventDraft[] = [{ type: "run_continued", run: 2 }];
    assert.throws(() => writer.append({ kind: "harness", run: 2, events }), /pins/);
    writer.append({ kind: "harness", run: 2, pins: pinsFor("/elsewhere"), events });
    assert.equal(writer.manifest?.pins.workspace, "/elsewhere");
    assert.equal(writer.manifest?.state, "open");
    writer.close();
  }));

Deno.test("pins whose blobs were never put are refused", () =>
  withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    assert.throws(() => writer.append(userDraft("hello")), /pins\.instructions names the blob/);
    putPinned(writer);
    assert.equal(writer.append(userDraft("hello")).turn, 1);
    writer.close();
  }));
