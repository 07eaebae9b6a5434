/** Refusals that name no item, in a session that several keys wrote and whose responses name no account. */
import assert from "node:assert/strict";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../../support/responses_server.ts";
import { reasoningIds, refuse } from "../../support/responses_server/refusing.ts";
import { type RefusedSession, refusedSession } from "./refusing.ts";

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
