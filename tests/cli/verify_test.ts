/** verify: what was sent is what the turns fold to, and an edited history is found out. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, reasoning, type Script } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { reasoningIds, refuse } from "../support/responses_server/refusing.ts";
import { begun, HELLO, Place, READS_A, readsThenAnswers, reseal } from "./harness.ts";

interface Verified {
  readonly ok: boolean;
  readonly exit_code: number;
  readonly sessions: readonly {
    readonly id: string;
    readonly requests: readonly {
      turn: number;
      verdict: string;
      recorded: string;
      refolded: string | null;
    }[];
  }[];
}

async function verify(place: Place, args: readonly string[]): Promise<Verified> {
  const called = await place.call(["fsck", ...args, "--requests", "--json"]);
  const report: Verified = JSON.parse(called.stdout);
  assert.equal(called.code, report.exit_code, called.stderr);
  assert.equal(report.ok, report.exit_code === 0);
  return report;
}

function verdicts({ sessions }: Verified): string[] {
  return sessions.flatMap(({ requests }) => requests.map(({ verdict }) => verdict));
}

/** A place with the session "s". */
const one = begun(readsThenAnswers, (place) => place.session("s"));

/** Edits a turn as its own writer might have: every sum and every link after it fits again. */
function rewrite(place: Place, turn: number, edit: (text: string) => string): void {
  const sumOf = (path: string) => JSON.parse(Deno.readTextFileSync(path)).sum as string;
  let [path, changed] = [place.turnPath("s", turn), edit];
  for (let next = turn;; path = place.turnPath("s", ++next)) {
    if (next > place.sandbox.turnNames("s").length) break;
    const old = sumOf(path);
    reseal(path, changed);
    const now = sumOf(path);
    changed = (text) => text.replace(`"prev":"${old}"`, `"prev":"${now}"`);
  }
  Deno.removeSync(`${place.path("s")}/manifest.json`);
}

/** The number of the nth model turn. */
function modelTurn(place: Place, nth: number): number {
  return place.sandbox.turns("s").filter(({ kind }) => kind === "model")[nth - 1].turn;
}

/** A server for runs of every kind: the words of the last user message say which. */
const everyKind: Script = (request) => {
  const { input } = request;
  const words = JSON.stringify(input.findLast(({ role }) => role === "user")?.content);
  if (input.at(-1)?.role !== "user") return HELLO;
  if (words.includes("refuse") && reasoningIds(request).length > 0) {
    return refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, "http");
  }
  if (words.includes("cut")) return answer([reasoning(), message("Half")], { end: { kind: "cut" } });
  if (words.includes("write")) {
    return answer([reasoning(), functionCall("write_file", { path: "b.txt", content: "b" })]);
  }
  return READS_A;
};

test("verify says same for what was sent, whatever kind of run it was: windows, families, refusals, cuts, denials, continuations, budgets, other endpoints", async () => {
  await using place = new Place(everyKind, { rules: "none" });
  const run = async (args: readonly string[], code = 0) => {
    const called = await place.call(["run", "--json", "-s", "s", ...args]);
    assert.equal(called.code, code, called.stdout);
  };
  await run(["--new", "Go"]);
  await run(["--replay", "last:1", "Go"]);
  await run(["refuse"]);
  await run(["cut"], 10);
  await run([]);
  await run(["write"]);
  await run(["-m", "gpt-5.6-mini", "--replay", "family", "--effort", "high", "--summary", "auto", "Go"]);
  await run(["--replay", "none", "--instructions", "Be loud.", "--max-tokens", "5000", "Go"]);
  await run(["--base-url", `${place.server.baseUrl}/other`, "--max-steps", "1", "Go"], 4);
  const report = await verify(place, ["s"]);
  assert.ok(verdicts(report).length > 12);
  assert.deepEqual(new Set(verdicts(report)), new Set(["same"]));
  for (const { recorded, refolded } of report.sessions[0]?.requests ?? []) assert.equal(refolded, recorded);
  const text = (await place.call(["fsck", "s", "--requests"])).stdout;
  assert.match(text, /^s: \d+ turns, ok, \d+ requests\n {2}request of turn 2: same\n/);
});

test("verify says differs, and ends with 7, for a history that was edited and sealed again: a field of the request", async () => {
  await using place = await one();
  rewrite(place, modelTurn(place, 2), (text) => text.replace('"store":false', '"store":true'));
  assert.equal((await place.call(["fsck", "s"])).code, 0, "the seals fit");
  const report = await verify(place, ["s"]);
  assert.deepEqual([verdicts(report), report.exit_code], [["same", "differs"], 7]);
});

test("verify says differs, and ends with 7, for a history that was edited and sealed again: words of an earlier turn: every request after it differs", async () => {
  await using place = await one();
  rewrite(place, 1, (text) => text.replace("Look at a.txt", "Look at b.txt"));
  assert.deepEqual(verdicts(await verify(place, ["s"])), ["differs", "differs"]);
});

test("verify judges only what it can: another fold's requests do not fail it", async () => {
  await using place = await one();
  rewrite(place, modelTurn(place, 1), (text) => text.replace('"fold":1', '"fold":99'));
  const report = await verify(place, ["s"]);
  assert.deepEqual([verdicts(report), report.exit_code], [["other_fold_version", "same"], 0]);
});
