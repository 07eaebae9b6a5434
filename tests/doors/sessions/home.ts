/** The verbs that look at sessions on disk and mend them, called on files that a test has written. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { said, Sandbox } from "../../support/reprise.ts";
import { FIVE_TURNS, type GivenTurn, SessionFiles } from "./session_files.ts";

/** The session that most tests make. */
export const ID = "fix-ci-7k2m";

/** Findings that may stay after a repair: facts, and not damage. A lost blob is a warning once that is written down. */
const HARMLESS =
  /(turn_replaced|open_run|orphan_call|run_not_ended|unreferenced_blob|waiting_turn|warning missing_blob) /;

/** A home whose sessions a test writes. */
export class SessionHome extends Sandbox {
  /** Writes a session; the five turns of a run if none are given. */
  session(turns: readonly GivenTurn[] = FIVE_TURNS, id = ID): SessionFiles {
    Deno.mkdirSync(`${this.home}/sessions`, { recursive: true, mode: 0o700 });
    Deno.chmodSync(this.home, 0o700);
    return new SessionFiles(this.home, id, turns);
  }

  /** Calls a verb with `--json`; returns what it printed. It must end with one of `codes`. */
  async json(args: readonly string[], ...codes: readonly number[]): Promise<Json> {
    const called = await this.call([...args, "--json"]);
    assert.ok((codes.length === 0 ? [0] : codes).includes(called.code), said(called));
    return JSON.parse(called.stdout);
  }

  /** Returns the findings of `fsck`: `severity code path`, in order. */
  async findings(id = ID): Promise<string[]> {
    const { sessions: [{ findings }] } = await this.json(["fsck", id], 0, 12);
    return findings.map(({ severity, code, path }: Json) => `${severity} ${code} ${path}`);
  }

  /** Names in the directory of the sessions, sorted. */
  names(): string[] {
    return [...Deno.readDirSync(`${this.home}/sessions`)].map(({ name }) => name).sort();
  }

  /** Returns the row of `ls` for a session. */
  async listed(id = ID): Promise<Json> {
    return (await this.json(["ls"])).sessions.find((session: Json) => session.id === id);
  }

  /** The findings that are damage. */
  async damage(id = ID): Promise<string[]> {
    return (await this.findings(id)).filter((line) => !HARMLESS.test(line));
  }

  /** The body of the next request. */
  async nextBody(id = ID): Promise<Json> {
    const called = await this.call(["run", "--dry-run", "--body", "-s", id, "-m", "gpt-5.6", "Go on"], KEY);
    assert.equal(called.code, 0, said(called));
    return JSON.parse(called.stdout);
  }

  /** Returns true if a run refuses the session as damaged, with the command that shows why. */
  async refuses(id = ID): Promise<boolean> {
    const called = await this.call(["run", "--dry-run", "--json", "-s", id, "-m", "gpt-5.6", "Go on"], KEY);
    if (called.code === 0) return false;
    const { code, hint } = JSON.parse(called.stdout);
    assert.deepEqual([called.code, code], [12, "session_damaged"], said(called));
    assert.match(hint, new RegExp(`reprise (fsck|repair) ${id}`));
    return true;
  }
}

const KEY = { env: { OPENAI_API_KEY: "sk-test-1" } };

/** Registers a test with a home of its own; by `test.long` if it takes long. */
export function withHome(
  name: string,
  fn: (home: SessionHome) => void | Promise<void>,
  register: (name: string, fn: () => Promise<void>) => void = Deno.test,
): void {
  register(name, async () => {
    await using home = new SessionHome();
    await fn(home);
  });
}
