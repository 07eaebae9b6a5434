/**
 * Sessions that dice have damaged: `fsck` and the verbs judge each alike, and `repair` leaves one that every verb takes,
 * with every byte in its place or in quarantine.
 */
import { said } from "../../support/reprise.ts";
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import { SessionHome } from "./home.ts";
import { KINDS, LARGE } from "./kinds.ts";
import { copySession, ODDITIES } from "./oddities.ts";

/** Errors of the system that a change meets where the one before left nothing to change. */
const NOTHING_THERE = [
  Deno.errors.NotFound,
  Deno.errors.AlreadyExists,
  Deno.errors.NotADirectory,
  Deno.errors.IsADirectory,
];
/** Findings about sessions that fsck cannot judge or that have no turn: verbs refuse them as such. */
const UNJUDGED = /newer_format|newer_kind|no_turns/;

const isError = (line: string) => line.startsWith("error");

/** A session with a few random changes, in a home that holds it alone. */
class Odd extends SessionHome {
  readonly id: string;
  readonly what: string;

  constructor(seed: number) {
    super();
    const dice = new Dice(seed);
    this.id = dice.pick(Object.keys(KINDS));
    const session = this.session(KINDS[this.id], this.id);
    if (this.id === "blobs") session.blob(LARGE);
    session.writeManifest();
    const names = Array.from({ length: dice.count(1, 3) }, () => dice.pick(Object.keys(ODDITIES)));
    for (const name of names) {
      try {
        ODDITIES[name]?.(session.path, dice);
      } catch (error) {
        if (!NOTHING_THERE.some((kind) => error instanceof kind)) throw error;
      }
    }
    this.what = `seed ${seed} (${this.id}: ${names.join("; ")})`;
  }

  get path(): string {
    return `${this.home}/sessions/${this.id}`;
  }

  /** Runs verbs that continue the session or copy it, each on a copy; returns the errors of those that refuse it. */
  async refusals(): Promise<readonly Json[]> {
    const verbs = [
      ["export", this.id, `${this.directory}/copy/export`],
      ["fork", this.id],
      ["run", "--dry-run", "--body", "-s", this.id, "-m", "gpt-5.6", "Go on"],
      ["compact", this.id, "--strategy", "deterministic", "--dry-run"],
    ];
    const errors: Json[] = [];
    for (const verb of verbs) {
      const env = { OPENAI_API_KEY: "sk-test-1", REPRISE_HOME: `${this.directory}/copy` };
      Deno.mkdirSync(`${env.REPRISE_HOME}/sessions`, { recursive: true, mode: 0o700 });
      copySession(this.path, `${env.REPRISE_HOME}/sessions/${this.id}`);
      const called = await this.call([...verb, "--json"], { env });
      Deno.removeSync(env.REPRISE_HOME, { recursive: true });
      if (called.code !== 0) {
        errors.push({ verb: verb[0], ...JSON.parse(called.stdout.trimEnd().split("\n").at(-1) ?? "") });
      }
    }
    return errors;
  }

  /** Asserts that the verbs and fsck agree about the session. @returns whether it is sound. */
  async agree(): Promise<boolean> {
    const found = await this.findings(this.id);
    const clean = !found.some((line) => isError(line) || UNJUDGED.test(line));
    for (const { verb, code, message } of await this.refusals()) {
      // It may have nothing to compact, or no model that a lost turn named.
      if (verb === "compact" && code !== "session_damaged") continue;
      const where = `${this.what}: ${verb} refuses with ${code}: ${message}; fsck finds ${found.join("; ")}`;
      assert.ok(!clean, where);
      if (code === "session_damaged") assert.ok(found.some(isError), where);
    }
    return clean;
  }
}

test.long(`${samples(2_000)} odd sessions are judged alike by fsck and the verbs, and repaired ones are sound`, async () => {
  const counts = { clean: 0, repaired: 0 };
  for (let seed = 0; seed < samples(2_000); seed++) {
    await using odd = new Odd(seed);
    if (await odd.agree()) counts.clean++;
    const before = bytesBelow(odd.path, "lock");
    const repair = await odd.call(["repair", odd.id, "--json"]);
    if (repair.code !== 0) {
      const { code } = JSON.parse(repair.stdout);
      assert.match(
        code,
        /^(session_damaged|format_too_new|no_such_session)$/,
        `${odd.what}: ${said(repair)}`,
      );
      continue;
    }
    assert.deepEqual((await odd.findings(odd.id)).filter(isError), [], odd.what);
    assert.ok(await odd.agree(), odd.what);
    const after = bytesBelow(odd.path, "lock");
    const kept = new Set([...after.values()].map(String));
    for (const [path, bytes] of before) {
      if (path === "manifest.json" || path.startsWith(".tmp-")) continue;
      assert.ok(kept.has(String(bytes)), `${odd.what}: the bytes of ${path} are gone`);
    }
    const { actions } = JSON.parse((await odd.call(["repair", odd.id, "--json"])).stdout);
    assert.deepEqual(actions, [], `${odd.what}: a second repair finds something to do`);
    counts.repaired++;
  }
  // Otherwise the test says little.
  assert.ok(
    counts.clean > samples(2_000) / 10 && counts.repaired > samples(2_000) / 2,
    JSON.stringify(counts),
  );
});
