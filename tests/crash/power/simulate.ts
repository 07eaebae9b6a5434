/**
 * Records a disk while the binary works on it, cuts the power at every moment, and looks at what is left each time.
 *
 * Usage, as root: unshare -m deno run -A simulate.ts OPTIONS, with {@linkcode SimulationOptions} as JSON. Prints one
 * {@linkcode SimulationReport} as JSON.
 *
 * @module
 */
import { sha256Hex } from "../../../src/domain/hash.ts";
import { type Cut, cutsOf, Disk, type Entry, parseBlockLog, sampled } from "./block_log.ts";
import { type FileSystem, makeImage, must, recorded, withMounted } from "./machine.ts";
import {
  type Bench,
  exportPath,
  homeOn,
  isDamaged,
  namesIn,
  runArgs,
  sessionsIn,
  type Snapshot,
  snapshotOf,
  type Step,
  STEPS,
  verbArgs,
} from "./workload.ts";

/**
 * Findings on a mounted disk: acknowledged turns and files that are lost or changed, sessions that came back, damage that
 * `fsck` finds, a next run or a `rm --unused` that fails.
 */
async function wrongAfterCut(bench: Bench, reported: Reported): Promise<string[]> {
  const wrong = [...lost(bench, reported), ...lostTurns(bench, reported), ...unexpected(bench, reported)];
  const mustPass = async (args: readonly string[]) => {
    const { success, stdout, stderr } = await new Deno.Command(bench.binary, {
      args: [...args],
      stdin: "null",
    })
      .output();
    const decoder = new TextDecoder();
    if (!success) wrong.push(`${args[0]} failed: ${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim());
  };
  if (reported.current?.damages === true || reported.done.at(-1)?.step.name === "damage") {
    await mustPass(verbArgs(bench, "repair", "crash"));
  }
  const fsck = verbArgs(bench, "fsck", "--all");
  if (sessionsIn(bench.disk).length > 0) await mustPass(fsck);
  const exported = reported.done.some(({ step }) => step.name === "export");
  let isBegun = hasTurn(bench);
  if (exported && !isBegun) {
    await mustPass(verbArgs(bench, "import", exportPath(bench)));
    isBegun = true;
  }
  await mustPass(runArgs(bench, { session: "crash", isNew: !isBegun }));
  await mustPass(verbArgs(bench, "rm", "--unused"));
  await mustPass(fsck);
  const hidden = namesIn(`${homeOn(bench.disk)}/sessions`).filter((name) => name.startsWith("."));
  return hidden.length === 0 ? wrong : [...wrong, `gc left ${hidden.join(", ")}`];
}

function hasTurn({ disk }: Bench): boolean {
  return namesIn(`${homeOn(disk)}/sessions/crash/turns`).includes("000001.json");
}

/** Files that were in view when the last step was done, and that the next one leaves alone. */
function lost({ disk }: Bench, { done, current }: Reported): string[] {
  const inView = new Set(sessionsIn(disk));
  return [...done.at(-1)?.snapshot ?? []].flatMap(([path, sha256]) => {
    if (current?.damages === true && isDamaged(path)) return [];
    if (current?.whole !== undefined && !inView.has(current.whole) && path.includes(`/${current.whole}/`)) {
      return [];
    }
    const found = contentOf(`${disk}/${path}`);
    if (found === null) return [`${path} is lost`];
    return sha256Hex(found) === sha256 ? [] : [`${path} has another content (${found.length} bytes)`];
  });
}

function lostTurns({ disk }: Bench, { saved }: Reported): string[] {
  return saved.flatMap(({ session, turn, sum }) => {
    const found = contentOf(
      `${homeOn(disk)}/sessions/${session}/turns/${String(turn).padStart(6, "0")}.json`,
    );
    const isThere = found !== null && new TextDecoder().decode(found).endsWith(`"sum":"${sum}"}\n`);
    return isThere ? [] : [`turn ${turn} of ${session}, which was acknowledged, is not there`];
  });
}

/** Sessions in view that were not there, or were removed. */
function unexpected({ disk }: Bench, { done, current }: Reported): string[] {
  const known = [...done.at(-1)?.snapshot.keys() ?? []].map((path) => path.split("/")[2]);
  return sessionsIn(disk).flatMap((id) => {
    const isMade = current?.creates === true || current?.whole === id || current?.name === "run with tools";
    return isMade || known.includes(id) ? [] : [`session ${id} is in view`];
  });
}

function contentOf(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Settings of a simulation. */
export interface SimulationOptions {
  readonly binary: string;
  readonly fileSystem: FileSystem;
  /** Cuts at most, evenly spread over all that there are. */
  readonly cuts: number;
  /** A command in front of the binary while it is recorded, such as one that swallows its fsyncs. */
  readonly through: readonly string[];
}

/** Outcome of a simulation. */
export interface SimulationReport {
  readonly writes: number;
  readonly flushes: number;
  /** Turns that were acknowledged over the whole recording. */
  readonly acknowledged: number;
  /** Different cuts that the recording has, and how many of them were looked at. */
  readonly possible: number;
  readonly cuts: number;
  /** Findings, one line for each. */
  readonly bad: readonly string[];
}

/** Facts that were known to the outside at a moment of the recording. */
export interface Reported {
  /** Steps that were done, with what was in view then. */
  readonly done: readonly { readonly step: Step; readonly snapshot: Snapshot }[];
  /** The step that had begun. */
  readonly current: Step | null;
  /** Turns that the current step acknowledged: session, number and sum. */
  readonly saved: readonly { readonly session: string; readonly turn: number; readonly sum: string }[];
}

async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const scratch = Deno.makeTempDirSync({ prefix: "reprise-power-" });
  // Images are copied for each cut: in memory, which goes with this mount namespace.
  await must("mount", "-t", "tmpfs", "reprise-power", scratch);
  try {
    const image = `${scratch}/image`;
    await makeImage(image, options.fileSystem);
    const snapshots = new Map<string, Snapshot>();
    const log = await recorded({ image, scratch }, async ({ path, marks }) => {
      const bench: Bench = { binary: options.binary, disk: path, workspace: `${scratch}/workspace` };
      const mark = (text: string) =>
        Deno.writeTextFileSync(marks, `${text}\n`, { append: true, create: false });
      for (const step of STEPS) {
        mark(`begin ${step.name}`);
        await perform(step, bench, { marks, through: options.through });
        snapshots.set(step.name, snapshotOf(bench));
        mark(`done ${step.name}`);
      }
    });
    const entries = parseBlockLog(log);
    const possible = cutsOf(entries);
    const cuts = sampled(possible, options.cuts);
    const disk = new Disk(image, entries);
    const bad: string[] = [];
    for (const cut of cuts) {
      const reported = reportedAt(entries, cut, snapshots);
      bad.push(...(await lookAt(cut, { disk, reported, scratch, binary: options.binary })));
    }
    disk.close();
    const count = (kind: Entry["kind"]) => entries.filter((entry) => entry.kind === kind).length;
    return {
      writes: count("write"),
      flushes: count("flush"),
      acknowledged: [...textOf(entries).matchAll(/"type":"turn\.saved"/g)].length,
      possible: possible.length,
      cuts: cuts.length,
      bad,
    };
  } finally {
    await must("umount", scratch);
    Deno.removeSync(scratch);
  }
}

/** Does one step; what the binary prints goes to the marks. */
async function perform(
  step: Step,
  bench: Bench,
  { marks, through }: { readonly marks: string; readonly through: readonly string[] },
): Promise<void> {
  const args = step.act(bench);
  if (args instanceof Promise) return await args;
  const { success, code, stderr } = await new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >>"$0"', marks, ...through, bench.binary, ...args],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`${step.name} ended with ${code}: ${new TextDecoder().decode(stderr)}`);
}

function textOf(entries: readonly Entry[]): string {
  return entries.map((entry) => entry.kind === "mark" ? entry.text : "").join("");
}

/** Facts that had been reported before a cut. */
function reportedAt(
  entries: readonly Entry[],
  { position }: Cut,
  snapshots: ReadonlyMap<string, Snapshot>,
): Reported {
  const stepOf = (name: string) => STEPS.find((step) => step.name === name) as Step;
  const done: { step: Step; snapshot: Snapshot }[] = [];
  let current: Step | null = null;
  let session = "";
  let saved: Reported["saved"] = [];
  // A line counts once it is whole.
  const lines = textOf(entries.slice(0, position)).split("\n").slice(0, -1);
  for (const line of lines) {
    const [, word, name] = /^(begin|done) (.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      current = word === "begin" ? stepOf(name) : null;
      saved = [];
      if (word === "done") done.push({ step: stepOf(name), snapshot: snapshots.get(name) as Snapshot });
      continue;
    }
    const event = JSON.parse(line);
    if (event.type === "session") session = event.id;
    if (event.type === "turn.saved") saved = [...saved, { session, turn: event.turn, sum: event.sum }];
  }
  return { done, current, saved };
}

interface Looking {
  readonly disk: Disk;
  readonly reported: Reported;
  readonly scratch: string;
  readonly binary: string;
}

/** Finds what is wrong after one cut. */
async function lookAt(cut: Cut, { disk, reported, scratch, binary }: Looking): Promise<string[]> {
  const [image, at, workspace] = [`${scratch}/cut`, `${scratch}/disk`, `${scratch}/workspace`];
  await disk.materialise(cut, image);
  const where = `cut after entry ${cut.position} (${cut.pending} of the pending writes), ${
    reported.current?.name ?? `after "${reported.done.at(-1)?.step.name}"`
  }`;
  try {
    const wrong = await withMounted(
      { image, at },
      () => wrongAfterCut({ binary, disk: at, workspace }, reported),
    );
    return wrong.map((each) => `${where}: ${each}`);
  } catch (error) {
    return [`${where}: ${error instanceof Error ? error.message : error}`];
  }
}

if (import.meta.main) {
  const report = await simulate(JSON.parse(Deno.args[0] as string));
  await new Blob([JSON.stringify(report)]).stream().pipeTo(Deno.stdout.writable);
}
