import assert from "node:assert/strict";
import { knownAccount, knownAccounts } from "../../../src/fold/accounts.ts";
import { checkpointEvent } from "../../../src/compaction/plan.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { FINGERPRINT, History, message, reasoning, TARGET } from "../../support/history.ts";

const [K1, K2] = ["1".repeat(16), "2".repeat(16)];
const [A, B] = ["a".repeat(16), "b".repeat(16)];

/** Responses of two keys: of K1 in turn 2, of K2 in turn 4; turn 6 has no key. */
function history(): History {
  const made = new History();
  for (
    const [index, facts] of [{ key: K1, account: A }, { key: K2, account: B }, { account: "c" }].entries()
  ) {
    made.user("Go").model([reasoning(`rs_${index}`), message(`msg_${index}`, "Done")], {
      fingerprint: facts,
    });
    made.run += 1;
  }
  return made;
}

const of = (key?: string) => ({ ...FINGERPRINT, ...(key === undefined ? {} : { key }) });

Deno.test("the account is that of the newest response which named it for this endpoint and key", () => {
  const made = history();
  assert.equal(knownAccount(made.turns, of(K1)), A);
  assert.equal(knownAccount(made.turns, of(K2)), B);
  assert.equal(knownAccount(made.turns, of("3".repeat(16))), null, "another key makes it unknown");
  assert.equal(knownAccount(made.turns, of()), null, "without a key nothing is known");
  assert.equal(knownAccount(made.turns, { ...of(K1), endpoint: "00000000" }), null);
  assert.equal(knownAccount(made.turns, { ...of(K1), provider: "azure" }), null);
  made.user("Go").model([message("msg_9", "Done")], { fingerprint: { key: K1, account: B } });
  assert.equal(knownAccount(made.turns, of(K1)), B, "a key may move to another account");
});

Deno.test("a checkpoint keeps what was known before it, and newer responses count more", () => {
  const made = history();
  const scope = {
    cut: { turn: 4, seq: made.turns[3]?.seq[1] ?? 0 },
    previousCheckpoint: null,
    openingTurn: null,
    tailEvents: 0,
  };
  const text = { strategy: "deterministic", summary: "Earlier work.", limitations: [] } as const;
  made.user("Go").model([message("msg_9", "Done")], { fingerprint: { key: K2, account: A } });
  const event = checkpointEvent(made.turns, scope as unknown as Parameters<typeof checkpointEvent>[1], text);
  assert.deepEqual(event.accounts, [
    { provider: "openai", endpoint: FINGERPRINT.endpoint, key: K1, account: A },
    { provider: "openai", endpoint: FINGERPRINT.endpoint, key: K2, account: B },
  ]);
  const { pins } = made.turns[0] as { readonly pins?: never };
  made.add({ kind: "compaction", run: made.run, pins: pins as never, events: [event] });
  const tail = made.turns.slice(4);
  for (const key of [K1, K2]) {
    assert.equal(knownAccount(tail, of(key)), A);
    assert.equal(knownAccount(made.turns, of(key)), A, "with the older turns the same is known");
  }
  assert.deepEqual(knownAccounts(made.turns.slice(0, 1)), []);
});

Deno.test("a loopback item without a port goes to any port of its host, and one with a port to its own only", () => {
  const sent = (item: object, target: object) => {
    const made = new History().user("Go").model([reasoning("rs_1"), message("msg_1", "Done")], {
      fingerprint: item,
    });
    const fingerprint = { ...FINGERPRINT, ...target };
    return foldHistory(made.turns, { ...TARGET, fingerprint }).reasoning.map(({ reason }) => reason)[0];
  };
  const [here, there] = [{ endpoint: "11111111", portless: "99999999" }, {
    endpoint: "22222222",
    portless: "99999999",
  }];
  assert.equal(sent(here, here), null);
  assert.equal(sent(here, there), "other_endpoint");
  assert.equal(sent({ endpoint: "99999999" }, here), null, "a port that is unknown is no difference");
  assert.equal(sent(here, { endpoint: "99999999" }), null);
  assert.equal(sent({ endpoint: "88888888" }, here), "other_endpoint");
});
