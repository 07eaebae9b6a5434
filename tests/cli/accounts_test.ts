/** Accounts over the runs of a session, by the key that each run was given. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { accountHash, keyHash } from "../../src/domain/fingerprint.ts";
import type { ModelTurn } from "../../src/domain/turn.ts";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../support/responses_server.ts";
import { reasoningIds } from "../support/responses_server/refusing.ts";
import { type Called, events } from "../support/reprise.ts";
import { KEY, Place } from "./harness.ts";

/** Two keys, each of an organization of its own, and one that was never used. */
const [A, B, NEW] = [`${KEY}-a`, `${KEY}-b`, `${KEY}-new`];

function organizationOf({ headers }: RecordedRequest): string {
  return headers.authorization?.endsWith("-b") === true ? "org-b" : "org-a";
}

const BY_KEY: Script = (request) =>
  answer([reasoning("Thinking"), message("Hello.")], {
    headers: { "openai-organization": organizationOf(request) },
  });

/** A place whose server takes any key, and names the organization that the key belongs to. */
class TwoAccounts extends Place {
  constructor() {
    super(BY_KEY, { rules: "none", key: undefined });
  }

  run(key: string, args: readonly string[] = []): Promise<Called> {
    return this.call(["run", "--json", "-s", "s", ...args, "Go"], { env: { OPENAI_API_KEY: key } });
  }

  /** The organizations whose reasoning was in the request, by the runs that `keys` made. */
  sentBy(request: number, keys: readonly string[]): string[] {
    const made = this.sandbox.turns("s").filter(({ kind }) => kind === "model") as ModelTurn[];
    const keyOf = new Map(made.map(({ events: [item] }, index) => {
      return [item?.type === "reasoning" ? String(item.item.id) : "", keys[index] ?? "?"];
    }));
    const sent = reasoningIds(this.server.requests[request] as RecordedRequest);
    return sent.map((id) => keyOf.get(id) ?? "unknown");
  }
}

function ok(called: Called): Called {
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return called;
}

/** A session of three runs: of A, of B, and of A again. */
async function begun(): Promise<TwoAccounts> {
  const place = new TwoAccounts();
  ok(await place.run(A, ["--new"]));
  ok(await place.run(B));
  ok(await place.run(A));
  return place;
}

const KEYS = [A, B, A];

test.long("the first request of a run holds no reasoning of accounts that its key is known not to be of: and sends what is its own again", async () => {
  await using place = await begun();
  assert.deepEqual(place.sentBy(2, KEYS), [A], "B's reasoning stays out of A's second run");
  ok(await place.run(B));
  assert.deepEqual(place.sentBy(3, KEYS), [B]);
  const turn = place.sandbox.turns("s").findLast(({ kind }) => kind === "model") as ModelTurn;
  assert.deepEqual(turn.request.guard.dropped.map(({ reason }) => reason), [
    "other_account",
    "other_account",
  ]);
  assert.equal(turn.request.replay?.account, accountHash("org-b", "proj_test"));
  assert.equal(turn.fingerprint.key, keyHash("s", B));
  const verified = JSON.parse(ok(await place.call(["fsck", "s", "--requests", "--json"])).stdout);
  assert.ok(!JSON.stringify(verified).includes("differs"), JSON.stringify(verified));
});

test("the first request of a run holds no reasoning of accounts that its key is known not to be of: while the account of a key that was never used is unknown", async () => {
  await using place = await begun();
  ok(await place.run(NEW));
  assert.deepEqual(place.sentBy(3, KEYS), [A, B, A]);
});

test("the first request of a run holds no reasoning of accounts that its key is known not to be of: and --dry-run and input make the same request", async () => {
  await using place = await begun();
  const env = { OPENAI_API_KEY: B };
  const preview = ok(await place.call(["run", "--dry-run", "--json", "-s", "s", "Go"], { env }));
  const shown = ok(await place.call(["run", "-s", "s", "--dry-run", "--body", "Go"], { env }));
  ok(await place.run(B));
  const sent = place.server.requests.at(-1) as RecordedRequest;
  assert.deepEqual(JSON.parse(shown.stdout), sent.body);
  assert.equal(JSON.parse(preview.stdout).reasoning_sent, 1);
});

test("explain says what is known about accounts, and what is not: with a key that was used", async () => {
  await using place = await begun();
  const called = ok(await place.call(["explain", "s", "--json"], { env: { OPENAI_API_KEY: A } }));
  const { next, reasoning } = JSON.parse(called.stdout);
  assert.equal(next.account, accountHash("org-a", "proj_test"));
  assert.match(next.account_why, /a response of this endpoint named it/);
  assert.deepEqual(
    reasoning.map(({ why, reason, unknown }: Record<string, unknown>) => reason ?? [why, unknown]),
    [
      ["provider, endpoint, account and model fit", []],
      "other_account",
      ["provider, endpoint, account and model fit", []],
    ],
  );
});

test("explain says what is known about accounts, and what is not: with a key that was not, and without one", async () => {
  await using place = await begun();
  for (const [key, why] of [[NEW, /has named it for the key/], ["", /no key is set/]] as const) {
    const env = { OPENAI_API_KEY: key };
    const { next, reasoning } = JSON.parse(
      ok(await place.call(["explain", "s", "--json"], { env })).stdout,
    );
    assert.equal(next.account, null);
    assert.match(next.account_why, why);
    for (const item of reasoning) {
      assert.deepEqual(item.unknown, ["account"]);
      assert.match(
        item.why,
        /^provider, endpoint and model fit; unknown: the account of the next request$/,
      );
    }
    const explained = ok(await place.call(["explain", "s"], { env })).stdout;
    assert.match(explained, /Its account is unknown: /);
    assert.doesNotMatch(explained, /account and model fit/);
  }
});

test("the hash of a key stays on this machine: no turn of a played fixture has one", async () => {
  await using place = new TwoAccounts();
  const fixture = `${place.sandbox.directory}/fixture`;
  const recorded = ok(await place.run(A, ["--new", "--record", fixture]));
  const notice = events(recorded).find((event) => event.type === "notice" && event.kind === "recorded");
  assert.deepEqual(notice !== undefined && "tested" in notice && notice.tested, true, recorded.stdout);
  ok(await place.call(["run", "--json", "--new", "-s", "played", "--fixture", fixture, "Go"]));
  const turns = place.sandbox.turns("played") as ModelTurn[];
  assert.ok(turns.some(({ kind }) => kind === "model"));
  for (const { fingerprint } of turns) assert.ok(fingerprint === undefined || !("key" in fingerprint));
});

test("the hash of a key stays on this machine: export --redact removes it, and the session still verifies", async () => {
  await using place = await begun();
  const file = `${place.sandbox.directory}/s.jsonl`;
  ok(await place.call(["export", "s", file, "--redact"]));
  const hashes = [A, B].map((key) => keyHash("s", key));
  const text = Deno.readTextFileSync(file);
  for (const hash of hashes) assert.ok(!text.includes(hash));
  ok(await place.call(["export", "s", `${file}.whole`]));
  assert.ok(Deno.readTextFileSync(`${file}.whole`).includes(hashes[0] as string));
  ok(await place.call(["rm", "s", "--yes"]));
  ok(await place.call(["import", file]));
  const verified = ok(await place.call(["fsck", "s", "--requests", "--json"])).stdout;
  assert.ok(verified.includes("same") && !verified.includes("differs"), verified);
  assert.equal((await place.call(["fsck", "s"])).code, 0);
});
