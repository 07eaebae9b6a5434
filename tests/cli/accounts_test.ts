/** Accounts over the runs of a session, by the key that each run was given. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import { reasoningIds } from "../support/scripted_api/responses_script.ts";
import { type Json, sha256 } from "../support/files.ts";
import { json, KEY, ok, Place } from "./harness.ts";

/** Two keys, each of an organization of its own, and one that was never used. */
const [A, B, NEW] = [`${KEY}-a`, `${KEY}-b`, `${KEY}-new`];

/** The hash of an account or a key, as docs/format.md says. */
const hash = (...lines: readonly string[]) => sha256(lines.join("\n")).slice(0, 16);

/** A place whose server takes any key, and names the organization that the key belongs to. */
class TwoAccounts extends Place {
  constructor() {
    super(({ headers }) =>
      answer([reasoning("Thinking"), message("Hello.")], {
        headers: {
          "openai-organization": headers.authorization?.endsWith("-b") === true ? "org-b" : "org-a",
        },
      }), { rules: "none", key: undefined });
  }

  /** A session of three runs: of A, of B, and of A again. */
  static async begun(): Promise<TwoAccounts> {
    const place = new TwoAccounts();
    await place.run(A, "--new");
    await place.run(B);
    await place.run(A);
    return place;
  }

  run(key: string, ...args: readonly string[]): Promise<string> {
    return ok(this, ["run", "--json", "-s", "s", ...args, "Go"], { OPENAI_API_KEY: key });
  }

  /** The keys of the runs whose reasoning was in the newest request. */
  sent(): (string | undefined)[] {
    const made = this.sandbox.turns("s").filter(({ kind }) => kind === "model");
    const ids = made.map(({ events: [{ item }] }) => item.id);
    return reasoningIds(this.server.requests.at(-1) ?? { input: [] }).map((id) => [A, B, A][ids.indexOf(id)]);
  }
}

test("the first request of a run holds no reasoning of accounts that its key is known not to be of, as --dry-run shows", async () => {
  await using place = await TwoAccounts.begun();
  assert.deepEqual(place.sent(), [A], "B's reasoning stays out of A's second run");
  const env = { OPENAI_API_KEY: B };
  const preview = await json(place, ["run", "--dry-run", "-s", "s", "Go"], env);
  const body = JSON.parse(await ok(place, ["run", "-s", "s", "--dry-run", "--body", "Go"], env));
  await place.run(B);
  assert.deepEqual(place.sent(), [B]);
  assert.deepEqual([preview.reasoning_sent, body], [1, place.server.requests.at(-1)?.body]);
  const turn = place.sandbox.turns("s").findLast(({ kind }) => kind === "model");
  const reasons = turn.request.guard.dropped.map(({ reason }: Json) => reason);
  assert.deepEqual(reasons, ["other_account", "other_account"]);
  assert.equal(turn.request.replay.account, hash("org-b", "proj_test"));
  assert.equal(turn.fingerprint.key, hash("s", B));
  assert.doesNotMatch(await ok(place, ["fsck", "s", "--requests", "--json"]), /differs/);
});

test("explain says what is known about accounts, and what is not", async () => {
  await using place = await TwoAccounts.begun();
  const known = await json(place, ["explain", "s"], { OPENAI_API_KEY: A });
  assert.equal(known.next.account, hash("org-a", "proj_test"));
  assert.match(known.next.account_why, /a response of this endpoint named it/);
  const fits = "provider, endpoint, account and model fit";
  assert.deepEqual(known.reasoning.map(({ why, reason }: Json) => reason ?? why), [
    fits,
    "other_account",
    fits,
  ]);
  for (const [key, why] of [[NEW, /has named it for the key/], ["", /no key is set/]] as const) {
    const env = { OPENAI_API_KEY: key };
    const { next, reasoning } = await json(place, ["explain", "s"], env);
    assert.equal(next.account, null);
    assert.match(next.account_why, why);
    for (const item of reasoning) {
      assert.deepEqual(item.unknown, ["account"]);
      assert.match(item.why, /^provider, endpoint and model fit; unknown: the account of the next request$/);
    }
    assert.match(await ok(place, ["explain", "s"], env), /Its account is unknown: /);
  }
});

test("the hash of a key stays on this machine: neither a played session nor a redacted export has it", async () => {
  await using place = await TwoAccounts.begun();
  const fixture = `${place.sandbox.directory}/fixture`;
  await ok(place, ["run", "--json", "--new", "--record", fixture, "Go"]);
  await ok(place, ["run", "--json", "--new", "-s", "played", "--fixture", fixture, "Go"]);
  const turns = place.sandbox.turns("played").filter(({ kind }) => kind === "model");
  assert.deepEqual(turns.map(({ fingerprint }) => "key" in fingerprint), [false]);

  const [redacted, whole] = ["redacted", "whole"].map((name) => `${place.sandbox.directory}/${name}.jsonl`);
  await ok(place, ["export", "s", redacted as string, "--redact"]);
  await ok(place, ["export", "s", whole as string]);
  const text = Deno.readTextFileSync(redacted as string);
  for (const key of [A, B]) assert.ok(!text.includes(hash("s", key)));
  assert.ok(Deno.readTextFileSync(whole as string).includes(hash("s", A)));
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", redacted as string]);
  assert.match(await ok(place, ["fsck", "s", "--requests"]), /: same/);
});
