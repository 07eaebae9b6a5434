/** Refused items of earlier runs and other keys, in sessions whose responses name no account. */
import assert from "node:assert/strict";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../../support/responses_server.ts";
import { reasoningIds, refuse } from "../../support/responses_server/refusing.ts";
import { functionCall, type ScriptedResponse } from "../../support/responses_server/script.ts";
import { type RefusedSession, refusedSession } from "./refusing.ts";
import { ECHO } from "./scripted.ts";

const ONE = answer([reasoning("one"), message("Done.")]);
const [OWN, OTHER] = ["1".repeat(16), "2".repeat(16)] as const;

/** Refuses items of other keys, or every item while `isBroken`, without naming one. */
class BoundToKeys {
  isBroken = false;
  #key: string = OWN;
  /** The key that each id was made for. */
  readonly #keys = new Map<string, string>();

  readonly script: Script = (request) => {
    const foreign = reasoningIds(request).some((id) => this.isBroken || this.#keys.get(id) !== this.#key);
    return foreign
      ? refuse({
        message: "The encrypted content could not be verified.",
        code: "invalid_encrypted_content",
      }, "http")
      : ONE;
  };

  /** Runs once under a key; returns the number of reasoning items in each request. */
  async sent(session: RefusedSession, keyHash: string): Promise<number[]> {
    this.#key = keyHash;
    const { ended, requests } = await session.run("Go", { keyHash });
    assert.equal(ended.state, "completed");
    for (const turn of session.turns()) {
      for (const event of turn.events) {
        if (event.type !== "reasoning" || turn.kind !== "model") continue;
        this.#keys.set(String(event.item.id), String(turn.fingerprint.key));
      }
    }
    return session.server.requests.slice(...requests).map((request: RecordedRequest) =>
      reasoningIds(request).length
    );
  }
}

Deno.test("items of another key are quarantined alone: those of the key in force go out again", async () => {
  const server = new BoundToKeys();
  await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
    const sent = [];
    for (const key of [OWN, OWN, OTHER, OWN, OWN, OWN, OTHER, OTHER]) {
      sent.push(await server.sent(session, key));
    }
    assert.deepEqual(sent, [
      [0],
      [1],
      [2, 0],
      [3, 0],
      [4, 0],
      [4],
      // Under the other key the same holds for its own item.
      [6, 0],
      [2],
    ]);
    assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
    assert.deepEqual(await session.findings(), []);
  });
});

Deno.test("refusals with a foreign item among the sent ones are no proof against the own ones", async () => {
  const server = new BoundToKeys();
  await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
    for (const key of [OWN, OTHER, OWN, OWN]) await server.sent(session, key);
    server.isBroken = true;
    await server.sent(session, OWN);
    assert.deepEqual(
      new Set(session.notices().at(-1)?.items.map(({ action }) => action)),
      new Set(["left_out"]),
      "the first refusal of own items only",
    );
    await server.sent(session, OWN);
    assert.deepEqual(
      session.notices().at(-1)?.items.map(({ action }) => action),
      ["quarantined", "quarantined", "quarantined", "left_out"],
      "the second one is proof",
    );
    assert.deepEqual(await session.findings(), []);
  });
});

/** Refuses, by one item, each request that holds an item of those in `lost`. */
class Forgetful {
  readonly lost = new Set<string>();
  #requests = 0;

  constructor(readonly refusal: (ids: readonly string[]) => ScriptedResponse) {}

  /** Answers with a call first, then with text. */
  readonly script: Script = (request) => {
    const lost = reasoningIds(request).filter((id) => this.lost.has(id));
    if (lost.length > 0) return this.refusal(lost);
    const calls = this.#requests++ % 2 === 0;
    return answer([reasoning("Thinking"), calls ? functionCall("echo", { text: "a" }) : message("Done.")]);
  };

  /** Runs once; returns the number of reasoning items in each request. */
  async sent(session: RefusedSession, keyHash: string): Promise<number[]> {
    const { ended, requests } = await session.run("Go", { keyHash, tools: [ECHO], knownTools: [ECHO] });
    assert.equal(ended.state, "completed");
    return session.server.requests.slice(...requests).map((request) => reasoningIds(request).length);
  }

  forget(session: RefusedSession, keyHash?: string): void {
    for (const turn of session.turns()) {
      if (turn.kind !== "model" || keyHash !== undefined && turn.fingerprint.key !== keyHash) continue;
      for (const event of turn.events) if (event.type === "reasoning") this.lost.add(String(event.item.id));
    }
  }
}

const notVerified = (id = "") => ({
  message: `The encrypted content for item ${id} could not be verified.`,
  code: "invalid_encrypted_content",
});
const NAMING: Readonly<Record<string, (ids: readonly string[]) => ScriptedResponse>> = {
  "the first": (ids) => refuse(notVerified(ids[0]), "http"),
  "the last": (ids) => refuse(notVerified(ids.at(-1)), "http"),
  "the first, inside the stream": (ids) => refuse(notVerified(ids[0]), "error_then_failed"),
  "the first, in unknown words": ([id]) =>
    refuse({ message: `The blob of ${id} is stale`, code: "stale" }, "http"),
};

for (const [name, refusal] of Object.entries(NAMING)) {
  Deno.test(`however many items a server lost, one run meets one refusal that names ${name}`, async () => {
    const server = new Forgetful(refusal);
    await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
      const sent = [await server.sent(session, OWN), await server.sent(session, OWN)];
      server.forget(session);
      for (let run = 3; run <= 4; run++) sent.push(await server.sent(session, OWN));
      assert.deepEqual(sent, [[0, 1], [2, 3], [4, 0, 1], [2, 3]]);
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  });

  Deno.test(`items of another key cost one refusal that names ${name}, and no item of the key in force`, async () => {
    const server = new Forgetful(refusal);
    await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
      for (const key of [OWN, OTHER, OTHER]) await server.sent(session, key);
      server.forget(session, OTHER);
      const sent = [await server.sent(session, OWN), await server.sent(session, OWN)];
      assert.deepEqual(sent, [[6, 2, 3], [4, 5]]);
      server.lost.clear();
      assert.deepEqual((await server.sent(session, OTHER))[0], 10, "under their own key they are sent again");
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  });
}

const MID_RUN = { ...NAMING, "none": () => refuse(notVerified(), "http") };
for (const [name, refusal] of Object.entries(MID_RUN)) {
  Deno.test(`a refusal in the middle of a run leaves its own items in: naming ${name}`, async () => {
    const server = new Forgetful(refusal);
    await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
      await server.sent(session, OWN);
      const forgets = {
        ...ECHO,
        run: () => {
          server.forget(session);
          for (const id of ownIds(session)) server.lost.delete(id);
          return Promise.resolve({ status: "ok" as const, output: "a" });
        },
      };
      const { ended, requests } = await session.run("Go", {
        keyHash: OWN,
        tools: [forgets],
        knownTools: [forgets],
      });
      assert.equal(ended.state, "completed");
      const sent = session.server.requests.slice(...requests).map((request) => reasoningIds(request).length);
      assert.deepEqual(sent, [2, 3, 1]);
      const quarantined = name === "none" ? "left_out" : "quarantined";
      assert.deepEqual(session.notices()[0]?.items.map(({ action }) => action), [quarantined, quarantined]);
      assert.deepEqual(await session.findings(), []);
    });
  });
}

Deno.test("a run whose own items are refused too sends none in the end", async () => {
  const server = new Forgetful(() => refuse({ message: "Bad Request" }, "http"));
  await refusedSession({ script: server.script, rules: "none", namesAccount: false }, async (session) => {
    await server.sent(session, OWN);
    const loses = {
      ...ECHO,
      run: () => {
        server.forget(session);
        return Promise.resolve({ status: "ok" as const, output: "a" });
      },
    };
    const { ended, requests } = await session.run("Go", {
      keyHash: OWN,
      tools: [loses],
      knownTools: [loses],
    });
    assert.equal(ended.state, "completed");
    const sent = session.server.requests.slice(...requests).map((request) => reasoningIds(request).length);
    assert.deepEqual(sent, [2, 3, 1, 0]);
    assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
    assert.deepEqual(await session.findings(), []);
  });
});

/** The ids of the reasoning that the last run made. */
function ownIds(session: RefusedSession): string[] {
  const turns = session.turns();
  return turns.filter(({ run }) => run === turns.at(-1)?.run).flatMap(({ events }) =>
    events.flatMap((event) => event.type === "reasoning" ? [String(event.item.id)] : [])
  );
}
