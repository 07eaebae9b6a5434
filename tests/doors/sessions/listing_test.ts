/** `ls` judges each session by its manifest and its newest turn; selectors choose by id, prefix and workspace. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { holdLock, ownerLine } from "../../cli/harness.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import { KINDS } from "./kinds.ts";
import {
  call,
  ended,
  FIVE_TURNS,
  type GivenTurn,
  model,
  PINS,
  sealed,
  type SessionFiles,
  user,
  write,
} from "./session_files.ts";

/** A session on disk, and what `ls` says of it. */
interface Listed {
  /** @default {FIVE_TURNS} */
  readonly turns?: readonly GivenTurn[];
  readonly change?: (session: SessionFiles) => void;
  readonly state: string;
  readonly problem?: RegExp;
}

const begun = (session: SessionFiles) => {
  Deno.removeSync(session.manifest);
  Deno.removeSync(session.turn(1));
};
/** Replaces a file by a link to what was there. */
const link = (session: SessionFiles, path: string) => {
  Deno.renameSync(path, `${session.path}/../../kept`);
  Deno.symlinkSync(`${session.path}/../../kept`, path);
};

const LISTED: Record<string, Listed> = {
  "a session whose last run ended": { state: "completed" },
  "an open run without a writer": { turns: KINDS.killed ?? [], state: "killed" },
  "a creation that was cut short": {
    turns: [user("Hi")],
    change: begun,
    state: "killed",
    problem: /no turn/,
  },
  "a missing newest turn": {
    change: (session) => Deno.removeSync(session.turn(5)),
    state: "damaged",
    problem: /^turns\/000005\.json is missing, but the manifest names it/,
  },
  "a newest turn that is cut short": {
    change: (session) => Deno.truncateSync(session.turn(5), 40),
    state: "damaged",
    problem: /^turns\/000005\.json does not end with its checksum/,
  },
  "a newest turn that another writer replaced": {
    change: (session) =>
      session.edit(session.turn(5), (text) => text.replace('"state":"completed"', '"state":"failed"')),
    state: "failed",
  },
  "a file in place of a session": {
    change: (session) => {
      Deno.removeSync(session.path, { recursive: true });
      write(session.path, "");
    },
    state: "damaged",
    problem: /its directory is a file, not a directory/,
  },
  "no manifest and no first turn": {
    change: begun,
    state: "damaged",
    problem: /^manifest\.json is missing/,
  },
  "files of a later version": {
    change: (session) => {
      write(session.manifest, sealed('{"format":"reprise.manifest/2",'));
      for (const turn of [1, 2, 3, 4, 5]) write(session.turn(turn), sealed('{"format":"reprise.turn/2",'));
    },
    state: "unknown",
    problem: /reprise\.manifest\/2/,
  },
};

for (const [name, { turns, change = () => {}, state, problem }] of Object.entries(LISTED)) {
  withHome(`ls calls ${name} ${state}, and hides no other session`, async (home) => {
    const id = "a-session";
    change(home.session(turns, id));
    home.session();
    const found = await home.listed(id);
    assert.equal(found.state, state);
    if (problem === undefined) assert.equal(found.problem, undefined);
    else assert.match(found.problem, problem);
    assert.equal((await home.listed()).state, "completed");
  });
}

withHome("ls sees the turns of an open run that its manifest does not name yet", async (home) => {
  const session = home.session([user("Hi")]);
  const early = Deno.readTextFileSync(session.manifest);
  session.add(model([call("call_a")])).add(ended());
  write(session.manifest, early);
  const { state, turns } = await home.listed();
  assert.deepEqual([state, turns], ["completed", 3]);
  Deno.truncateSync(session.turn(2), 40);
  const torn = await home.listed();
  assert.equal(torn.state, "damaged");
  assert.match(torn.problem, /^turns\/000002\.json does not end with its checksum/);
});

withHome(
  "a session under a lock is running: fsck does not ask for its results, and no verb writes to it",
  async (home) => {
    const session = home.session(KINDS.killed);
    session.blob("for the next turn");
    const complete = home.session(FIVE_TURNS, "complete");
    const open = [
      "info unreferenced_blob",
      "warning orphan_call turns/000007.json",
      "info open_run turns/000008.json",
    ];
    const fits = (line: string, index: number) => assert.ok(line.startsWith(open[index] as string), line);
    (await home.findings()).forEach(fits);
    {
      using _lock = holdLock(`${session.path}/lock`, ownerLine(7, { host: "other" }));
      using _other = holdLock(`${complete.path}/lock`, ownerLine(7, { host: "other" }));
      assert.equal((await home.listed()).state, "running");
      const { sessions: [checked] } = await home.json(["fsck", session.id]);
      assert.deepEqual([checked.in_use, checked.findings], [true, []]);
      const compact = ["compact", session.id, "-m", "gpt-5.6", "--tail-events"];
      const changing = [
        ...[["rename", session.id, "New"], ["repair", session.id], [
          "repair",
          session.id,
          "--lift-quarantine",
        ]],
        ...[[...compact, "2"], ["omit", complete.id, "--seq", "1"], ["rm", session.id, "--yes"]],
      ];
      for (const verb of changing) {
        const { code, message } = await home.json(verb, 5);
        assert.equal(code, "session_locked", verb.join(" "));
        assert.match(message, /process 7 on host other/);
      }
      const { skipped } = await home.json(["rm", "--unused"]);
      assert.deepEqual(skipped.map(({ code }: Json) => code), ["session_locked", "session_locked"]);
    }
    await home.json(["repair", session.id]);
    assert.equal((await home.listed()).state, "interrupted");
  },
);

/** A turn that was written so many hours after the first ones. */
const late = (turn: GivenTurn, hours: number): GivenTurn => ({ ...turn, at: instant(hours).toISOString() });
const instant = (hours: number) => new Date(Date.UTC(2026, 10, 22, hours));

withHome("sessions are listed newest first; looking makes no home", async (home) => {
  assert.deepEqual(await home.json(["ls"]), { sessions: [] });
  assert.throws(() => Deno.lstatSync(home.home), Deno.errors.NotFound);
  for (const [hours, id] of ["one", "two", "three"].entries()) {
    home.session(FIVE_TURNS.map((turn) => late(turn, hours)), id);
  }
  Deno.mkdirSync(`${home.home}/sessions/Not an id`);
  const { sessions } = await home.json(["ls"]);
  assert.deepEqual(sessions.map(({ id }: Json) => id), ["three", "two", "one"]);
});

/** The id that a selector chooses, or the error's code, exit code and message. */
async function chosen(home: SessionHome, selector: string, cwd = home.workspace): Promise<string> {
  const called = await home.call(["fsck", "--json", "--", selector], { cwd });
  const { sessions, code, message, hint } = JSON.parse(called.stdout);
  return sessions?.[0].id ?? `${code} ${called.code} ${message} ${hint ?? ""}`;
}

withHome(
  "an exact id, even if it is the prefix of another, and an unambiguous prefix choose",
  async (home) => {
    for (const id of ["fix", "fix-ci", "fix-it", "other-1"]) home.session(FIVE_TURNS, id);
    const rows: readonly (readonly [string, RegExp])[] = [
      ["fix", /^fix$/],
      ["fix-c", /^fix-ci$/],
      ["o", /^other-1$/],
      ["fix-", /^ambiguous_session 2 .*2 ids start with it: "fix-ci", "fix-it"/],
      ["ther", /^no_such_session 2 .*Did you mean "other-1"\?/],
      ["zzz", /^no_such_session 2 .*reprise ls/],
    ];
    for (const [selector, expected] of rows) assert.match(await chosen(home, selector), expected);
  },
);

/** A session of a workspace, with two turns. */
function inWorkspace(home: SessionHome, id: string, workspace: string, hours: number): SessionFiles {
  Deno.mkdirSync(workspace, { recursive: true });
  const opening = { ...user("Hello"), pins: { ...PINS, workspace } };
  const session = home.session([late(opening, hours), late(model([]), hours)], id);
  Deno.utimeSync(`${session.path}/turns`, instant(hours), instant(hours));
  return session;
}

/** Remains of the newest session. */
const REMAINS: Record<string, (session: SessionFiles) => void> = {
  "its newest turn is torn": (session) => Deno.truncateSync(session.turn(2), 300),
  "its first turn is gone": (session) => Deno.removeSync(session.turn(1)),
  "it is a link": (session) => link(session, session.path),
  "nothing else is wrong": () => {},
};

for (const [what, damage] of Object.entries(REMAINS)) {
  withHome(
    `@last is the newest session of the workspace if its manifest is lost or garbled and ${what}`,
    async (home) => {
      const [here, there] = [`${home.directory}/a`, `${home.directory}/b`];
      inWorkspace(home, "old", here, 1);
      const session = inWorkspace(home, "new", here, 2);
      inWorkspace(home, "other", there, 0);
      // The remains of a killed creation are no session.
      Deno.mkdirSync(`${home.home}/sessions/begun/turns`, { recursive: true, mode: 0o700 });
      Deno.truncateSync(session.manifest, 9);
      assert.equal(await chosen(home, "@last", here), "new");
      Deno.removeSync(session.manifest);
      damage(session);
      assert.equal(await chosen(home, "@last", here), "new");
    },
  );
}

withHome(
  "damage that is older hides nothing; damage that hides its workspace may be of this one",
  async (home) => {
    const [here, there] = [`${home.directory}/a`, `${home.directory}/b`];
    const old = inWorkspace(home, "old", here, 1);
    inWorkspace(home, "new", here, 2);
    Deno.removeSync(old.manifest);
    Deno.truncateSync(old.turn(2), 300);
    assert.equal(await chosen(home, "@last", here), "new");
    const other = inWorkspace(home, "other", there, 3);
    assert.equal(await chosen(home, "@last", here), "new");
    assert.equal(await chosen(home, "@last", there), "other");
    Deno.removeSync(other.manifest);
    Deno.truncateSync(other.turn(1), 20);
    assert.equal(await chosen(home, "@last", here), "other");
  },
);

withHome("sessions that name each other as parents are listed once each, in a tree too", async (home) => {
  for (const [id, parent] of [["a", "b"], ["b", "a"], ["c", "c"]] as const) {
    const session = home.session([user("Hi"), ended()], id);
    session.edit(session.manifest, (text) => text.replace('"title"', `"parent":"${parent}","title"`));
  }
  const { sessions } = await home.json(["ls", "--tree"]);
  const ids = (each: Json): Json[] => [each.id, ...each.forks.flatMap(ids)];
  assert.deepEqual(sessions.flatMap(ids).sort(), ["a", "b", "c"]);
});

withHome("a lock that others may read is for its owner alone after the next writer", async (home) => {
  const { path } = home.session();
  Deno.writeTextFileSync(`${path}/lock`, "", { mode: 0o644 });
  Deno.chmodSync(`${path}/lock`, 0o644);
  await home.json(["rename", ID, "Another"]);
  assert.equal((Deno.lstatSync(`${path}/lock`).mode ?? 0) & 0o777, 0o600);
});
