/**
 * Where one session test is played: a home, a workspace and a working directory that nobody else knows.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { copyBelow, entries, exists, requirePlain, setModified } from "./files.ts";
import { makeScratch } from "./scratch.ts";
import { startedSession } from "./start.ts";

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
 * Makes it for the test in `directory`. What lies in the workspace was last changed at `modified`, by default now.
 *
 * @throws {RepriseError} `bad_fixture` where `start/` is no session, or it or `workspace/` holds a link; `storage_*`.
 */
export async function makePlace(ports: Ports, directory: string, modified?: Date): Promise<TestPlace> {
  for (const name of ["workspace", "start"]) requirePlain(`${directory}/${name}`);
  const scratch = await makeScratch(ports);
  const { root } = scratch;
  const place: TestPlace = {
    root,
    home: `${root}/home`,
    workspace: `${root}/workspace`,
    cwd: `${root}/cwd`,
    user: `${root}/user`,
    temporary: `${root}/tmp`,
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  };
  try {
    copyBelow(`${directory}/workspace`, place.workspace);
    if (modified !== undefined) setModified(place.workspace, modified);
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
