/**
 * Opening, folding and checking a long session, against programs that only read its files. As a program, `open.ts HOME…`
 * opens and folds the session of each home.
 */
import { V8_FLAGS } from "../scripts/compile/build.ts";
import { foldNeedsOf } from "../src/apis/apis.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { foldHistory } from "../src/fold/fold.ts";
import { fsckSession } from "../src/store/check/fsck.ts";
import { openHome } from "../src/store/home.ts";
import { readSession, readSessionTail } from "../src/store/read/session.ts";
import { makeBinaries } from "./binaries.ts";
import { meterOf, pairOf } from "./programs.ts";
import { bench, interleave, sized, timed } from "./report.ts";
import { FINGERPRINT, ID, makeSession, MODEL } from "./session.ts";

/** Turns after the checkpoint, and those of the session to compare with. */
const TAIL = 50;
/** Openings of one measurement of {@linkcode TAIL} turns. */
const BATCH = 10;
const turns = "10,000 turns";

export const open = bench({
  whole: { what: `open and fold ${turns}`, against: "cat", target: 2.5 },
  checkpoint: {
    what: "open and fold 100,000 turns, 50 after a checkpoint",
    against: "50 turns",
    target: 1.3,
  },
  fsck: { what: `fsck of ${turns}, in process`, against: "sha256sum", target: 2 },
  verb: { what: `fsck of ${turns}, as a command`, against: "sha256sum" },
  requests: { what: `fsck --requests of ${turns}`, against: "fsck", target: 3 },
  fewRequests: { what: "fsck --requests of 1,000 turns", against: "fsck", target: 3 },
  memory: { what: `memory of folding ${turns}`, against: "their bytes", kind: "memory", target: 4.5 },
}, async (context) => {
  const { work, root } = context;
  const length = sized(context, 10_000, 500);
  const { homePath, turnsPath, files, bytes } = await makeSession(`${work}/long`, length);
  await makeSession(`${work}/checkpoint`, sized(context, 100_000, 500), { tail: TAIL });
  await makeSession(`${work}/short`, TAIL);
  const ports = livePorts();
  const home = openHome(ports, homePath);
  const { findings } = await fsckSession(ports, home, ID);
  if (findings.length > 0) throw new Error(`The session is not sound: ${JSON.stringify(findings)}`);
  const { reprise } = await makeBinaries(context);
  const meter = meterOf(context);
  const rounds = { rounds: sized(context, 15, 2), warmups: 2 };

  const openings = (name: string) => async () =>
    await timed(() => {
      for (let left = BATCH; left > 0; left--) openAndFold(`${work}/${name}`, readSessionTail);
    }) / BATCH;
  const checkpoint = await interleave({ own: openings("checkpoint"), other: openings("short") }, {
    rounds: sized(context, 41, 2),
    warmups: 5,
  });
  const program = (name: string) => () => meter({ program: name, args: files, cwd: turnsPath }).ms;
  const own = () => timed(() => openAndFold(homePath));
  const whole = await interleave({ own, other: program("cat") }, rounds);
  await makeSession(`${work}/thousand`, sized(context, 1000, 50));
  const verb = (name: string, ...flags: string[]) => () =>
    meter({
      program: reprise,
      args: ["fsck", ID, ...flags],
      env: { HOME: work, REPRISE_HOME: `${work}/${name}` },
    }).ms;
  const checks = await interleave({
    fsck: () => timed(() => fsckSession(ports, home, ID)),
    verb: verb("long"),
    requests: verb("long", "--requests"),
    few: verb("thousand"),
    fewRequests: verb("thousand", "--requests"),
    other: program("sha256sum"),
  }, rounds);

  const flags = ["run", "-A", "--no-check", `--v8-flags=${V8_FLAGS}`, `${root}/bench/open.ts`];
  const folding = (...homes: string[]) => () =>
    meter({ program: Deno.execPath(), args: [...flags, ...homes], cwd: root });
  const short = `${work}/short`;
  const peaks = await interleave({ more: folding(short, homePath), less: folding(short) }, {
    rounds: sized(context, 5, 1),
  });
  const added = pairOf("mb", peaks.more, peaks.less);
  return {
    whole,
    checkpoint,
    fsck: { own: checks.fsck, other: checks.other },
    verb: { own: checks.verb, other: checks.other },
    requests: { own: checks.requests, other: checks.verb },
    fewRequests: { own: checks.fewRequests, other: checks.few },
    memory: {
      own: added.own.map((peak, round) => peak - (added.other[round] ?? NaN)),
      other: added.own.map(() => bytes / 1e6),
    },
  };
});

/** Opens the session in a home and folds it to what the next request sends. */
function openAndFold(homePath: string, read = readSession): void {
  const ports = livePorts();
  const needs = foldNeedsOf(FINGERPRINT.provider);
  const { turns } = read(ports, openHome(ports, homePath), ID);
  const { entries } = foldHistory(turns, { fingerprint: FINGERPRINT, needs, model: MODEL, replay: "exact" });
  if (entries.length === 0) throw new Error("The session folds to nothing");
}

if (import.meta.main) { for (const home of Deno.args) openAndFold(home); }
