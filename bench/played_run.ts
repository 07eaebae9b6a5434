/**
 * A whole `reprise run` with a played fixture, for benches of its time and its memory.
 *
 * @module
 */
import { makeFixture } from "./fixture.ts";
import { outputOfProgram, type Start } from "./programs.ts";
import { cloneHome, ID, makeSession } from "./session.ts";

/** Turns of the session before the run. */
export const RUN_SESSION_TURNS = 100;
/** Events of the answer. */
export const RUN_EVENTS = 300;

/**
 * Prepares `count` runs in `directory`, which all find the same session, and returns the command of each.
 *
 * @throws {Error} when a run does not print the answer of the fixture.
 */
export async function preparePlayedRuns(
  program: string,
  directory: string,
  count: number,
): Promise<(round: number) => Start> {
  const fixture = `${directory}/fixture`;
  makeFixture(fixture, RUN_EVENTS);
  const { homePath } = await makeSession(`${directory}/run`, RUN_SESSION_TURNS);
  const homes = Array.from({ length: count }, (_, index) => {
    const home = `${directory}/run-${index}`;
    cloneHome(homePath, home);
    return home;
  });
  const runIn = (home: string): Start => ({
    program,
    args: [
      ...["run", "-s", ID, "--home", home, "--fixture", fixture, "--match", "sequence"],
      "What is wrong with order 17?",
    ],
    env: { HOME: directory },
    cwd: directory,
  });
  const answer = outputOfProgram(runIn(homePath));
  if (!answer.includes("discounted, total")) {
    throw new Error(`The played run answered ${JSON.stringify(answer)}`);
  }
  return (round) => runIn(homes[round] as string);
}
