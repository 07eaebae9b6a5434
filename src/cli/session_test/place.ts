/**
 * Where one session test is played: a home, a workspace and a working directory that nobody else knows.
 *
 * @module
 */
import { badFixture } from "../../fixture/read.ts";
import { parseSessionId } from "../../domain/ids.ts";
import { copyBelow, entries, exists } from "./files.ts";

/** The scratch directory of a test. */
export interface TestPlace extends Disposable {
  /** Holds everything, for logs too. */
  readonly root: string;
  readonly home: string;
  /** A copy of `workspace/`; empty where the test has none. */
  readonly workspace: string;
  /** Holds copies of the files beside `session.json`, so that relative arguments mean these. */
  readonly cwd: string;
  /** Where commands keep what is the user's, and temporary files; empty. */
  readonly user: string;
  readonly temporary: string;
}

/**
 * Makes it for the test in `directory`.
 *
 * @throws {ReprError} `bad_fixture` where `start/` is no session.
 */
export function makePlace(directory: string): TestPlace {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-session-" }));
  const place: TestPlace = {
    root,
    home: `${root}/home`,
    workspace: `${root}/workspace`,
    cwd: `${root}/cwd`,
    user: `${root}/user`,
    temporary: `${root}/tmp`,
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
  try {
    copyBelow(`${directory}/workspace`, place.workspace);
    for (const path of [place.cwd, place.user, place.temporary]) Deno.mkdirSync(path, { mode: 0o700 });
    for (const { name, isFile } of entries(directory)) {
      if (isFile) Deno.copyFileSync(`${directory}/${name}`, `${place.cwd}/${name}`);
    }
    if (exists(`${directory}/start`)) {
      copyBelow(`${directory}/start`, `${place.home}/sessions/${startedSession(directory)}`);
    }
    return place;
  } catch (error) {
    place[Symbol.dispose]();
    throw error;
  }
}

function startedSession(directory: string): string {
  const path = `${directory}/start/manifest.json`;
  try {
    return parseSessionId(JSON.parse(Deno.readTextFileSync(path)).session);
  } catch (cause) {
    throw badFixture(path, "it does not name a session", { cause });
  }
}
