import assert from "node:assert/strict";
import type { SessionId } from "../../../src/domain/ids.ts";
import { encodeManifest } from "../../../src/domain/manifest.ts";
import { seal } from "../../../src/domain/seal.ts";
import { type Home, listSessions } from "../../../src/store/home.ts";
import { judgeSessions } from "../../../src/store/read/status.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  answer,
  endDraft,
  ID,
  modelDraft,
  newSession,
  newWriter,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";

function judged(home: Home) {
  const [session] = judgeSessions(testPorts(), home, listSessions(testPorts(), home));
  assert.ok(session !== undefined);
  return session;
}

const turnFile = (home: Home, turn: number) => `${home.sessions}/${ID}/turns/00000${turn}.json`;
const manifestFile = (home: Home) => `${home.sessions}/${ID}/manifest.json`;

Deno.test("a session whose last run ended has the state of that run", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    assert.equal((judged(home)).state, "completed");
  }));

Deno.test("an open run is running while a process holds the lock, and killed once none does", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    assert.equal((judged(home)).state, "running");
    writer.close();
    const killed = judged(home);
    assert.equal(killed.state, "killed");
    assert.equal(killed.problem, undefined);
    // The lock is free for the next writer at once: a look at it keeps no writer out.
    (await SessionWriter.open(testPorts(), home, { id: ID })).close();
  }));

Deno.test("the list knows the turns of an open run, which its manifest does not have yet", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const early = Deno.readFileSync(manifestFile(home));
    writer.append(modelDraft([answer("Hi.")]));
    assert.equal((judged(home)).manifest?.head.turn, 2);
    writer.append(endDraft());
    writer.close();
    // As after a kill before the manifest was replaced.
    Deno.writeFileSync(manifestFile(home), early);
    const { state, manifest } = judged(home);
    assert.deepEqual([state, manifest?.head.turn], ["completed", 3]);
    Deno.truncateSync(turnFile(home, 2), 40);
    const torn = judged(home);
    assert.equal(torn.state, "damaged");
    assert.match(torn.problem ?? "", /^turns\/000002\.json does not end with its checksum/);
  }));

Deno.test("a creation that was cut short is killed, not damaged, and a creation that continues is running", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    assert.equal((judged(home)).state, "running");
    writer.close();
    const { state, problem } = judged(home);
    assert.equal(state, "killed");
    assert.match(problem ?? "", /no turn/);
  }));

/** Damage that the manifest or the newest turn shows, and what is said of it. */
const DAMAGES: Readonly<Record<string, { damage: (home: Home) => void; problem: RegExp }>> = {
  "the newest turn is missing": {
    damage: (home) => Deno.removeSync(turnFile(home, 5)),
    problem: /^turns\/000005\.json is missing, but the manifest names it/,
  },
  "the newest turn is cut short": {
    damage: (home) => Deno.truncateSync(turnFile(home, 5), 40),
    problem: /^turns\/000005\.json does not end with its checksum/,
  },
  "one byte of the newest turn is changed": {
    damage: (home) => {
      const text = Deno.readTextFileSync(turnFile(home, 5));
      Deno.writeTextFileSync(turnFile(home, 5), text.replace('"completed"', '"completeD"'));
    },
    problem: /^turns\/000005\.json does not fit its checksum/,
  },
  "the newest turn is a link": {
    damage: (home) => {
      Deno.renameSync(turnFile(home, 5), `${home.path}/kept`);
      Deno.symlinkSync(`${home.path}/kept`, turnFile(home, 5));
    },
    problem: /^turns\/000005\.json is a symbolic link/,
  },
  "the manifest is missing, and the first turn with it": {
    damage: (home) => {
      Deno.removeSync(manifestFile(home));
      Deno.removeSync(turnFile(home, 1));
    },
    problem: /^manifest\.json is missing/,
  },
  "the session is a link": {
    damage: (home) => {
      Deno.renameSync(`${home.sessions}/${ID}`, `${home.path}/kept`);
      Deno.symlinkSync(`${home.path}/kept`, `${home.sessions}/${ID}`);
    },
    problem: /its directory is a symbolic link/,
  },
};

for (const [name, { damage, problem }] of Object.entries(DAMAGES)) {
  Deno.test(`a session is damaged, and the list says why, if ${name}`, () =>
    withHome(async (home) => {
      await newSession(testPorts(), home);
      damage(home);
      const found = judged(home);
      assert.equal(found.state, "damaged");
      assert.match(found.problem ?? "", problem);
    }));
}

Deno.test("a manifest that only lags or is lost does not damage a session", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const { sum: _sum, ...manifest } = JSON.parse(Deno.readTextFileSync(manifestFile(home)));
    const wrong = { ...manifest, state: "failed", head: { ...manifest.head, sum: "0".repeat(64) } };
    Deno.writeFileSync(manifestFile(home), encodeManifest(wrong).bytes);
    assert.equal((judged(home)).state, "completed", "the turns are believed");
    Deno.removeSync(manifestFile(home));
    const { state, problem } = judged(home);
    assert.equal(state, "completed");
    assert.match(problem ?? "", /manifest\.json is missing/);
  }));

Deno.test("a session of a later version has no known state, and is not called damaged", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    Deno.writeFileSync(manifestFile(home), seal(`{"format":"reprise.manifest/2","anything":true,`).bytes);
    for (const turn of [1, 2, 3, 4, 5]) {
      Deno.writeFileSync(turnFile(home, turn), seal(`{"format":"reprise.turn/2","turn":${turn},`).bytes);
    }
    assert.equal((judged(home)).state, "unknown");
  }));

Deno.test("many sessions are judged in their order", () =>
  withHome(async (home) => {
    for (const id of ["a", "b", "c"] as SessionId[]) await newSession(testPorts(), home, id);
    Deno.removeSync(`${home.sessions}/b/turns/000005.json`);
    const list = listSessions(testPorts(), home);
    const states = judgeSessions(testPorts(), home, list);
    assert.deepEqual(states.map(({ id }) => id), list.map(({ id }) => id));
    assert.deepEqual(states.filter(({ state }) => state === "damaged").map(({ id }) => id), ["b"]);
  }));
