/**
 * Checking a long session against `sha256sum` of the same files.
 *
 * @module
 */
import { livePorts } from "../src/cli/live_ports.ts";
import { fsckSession } from "../src/store/check/fsck.ts";
import { openHome } from "../src/store/home.ts";
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { hasProgram, timeProgram } from "./programs.ts";
import type { Report } from "./report.ts";
import { timeRow } from "./report.ts";
import { ID, makeSession } from "./session.ts";
import { interleave, timedAsync } from "./timing.ts";

const AGAINST = "the process sha256sum";

/** Measures `fsckSession`, and the verb `fsck` of the binary. */
export const fsckBench: Bench = async (context) => {
  const turns = sized(context, { full: 10_000, quick: 1000 });
  const rounds = sized(context, { full: 15, quick: 5 });
  const count = `${turns.toLocaleString("en")} turns`;
  if (!hasProgram("sha256sum")) {
    return { rows: [{ name: `fsck of ${count}`, skipped: "no sha256sum" }], notes: [] };
  }
  const { reprise } = await makeBinaries(context);
  const { homePath, turnsPath, files, bytes } = await makeSession(`${context.workDirectory}/fsck`, turns);
  const ports = livePorts();
  const home = openHome(ports, homePath);
  const { findings } = await fsckSession(ports, home, ID);
  if (findings.length > 0) {
    throw new Error(`The session to be checked is not sound: ${JSON.stringify(findings)}`);
  }
  const env = { HOME: context.workDirectory, REPRISE_HOME: homePath };
  const times = await interleave({
    inProcess: { measure: () => timedAsync(() => fsckSession(ports, home, ID)) },
    verb: { measure: () => timeProgram({ program: reprise, args: ["fsck", ID], env }) },
    sha256sum: { measure: () => timeProgram({ program: "sha256sum", args: files, cwd: turnsPath }) },
  }, { rounds, warmups: 2 });
  const shared = {
    against: AGAINST,
    againstTimes: times.sha256sum,
    target: { bound: "at_most", value: 1.5 } as const,
  };
  return {
    rows: [
      timeRow({ ...shared, name: `fsck of ${count}, in one process`, times: times.inProcess }),
      timeRow({ ...shared, name: `reprise fsck of ${count}`, times: times.verb }),
    ],
    notes: [`${rounds} rounds; ${(bytes / turns / 1024).toFixed(2)} KB a turn, files in the cache.`],
  } satisfies Report;
};
