/**
 * Records a disk while the binary works on it, cuts the power at every moment, and looks at what is left each time.
 *
 * Usage, as root: unshare -m deno run -A simulate.ts OPTIONS, with {@linkcode SimulationOptions} as JSON. Prints one
 * {@linkcode SimulationReport} as JSON.
 *
 * @module
 */
import { type Cut, cutsOf, Disk, type Entry, parseBlockLog, sampled } from "./block_log.ts";
import { wrongAfterCut } from "./aftermath.ts";
import { type FileSystem, makeImage, must, recorded, withMounted } from "./machine.ts";
import { type Bench, type Snapshot, snapshotOf, type Step, STEPS } from "./workload.ts";

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
export interface Told {
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
      const told = toldAt(entries, cut, snapshots);
      bad.push(...(await lookAt(cut, { disk, told, scratch, binary: options.binary })));
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
function toldAt(
  entries: readonly Entry[],
  { position }: Cut,
  snapshots: ReadonlyMap<string, Snapshot>,
): Told {
  const stepOf = (name: string) => STEPS.find((step) => step.name === name) as Step;
  const done: { step: Step; snapshot: Snapshot }[] = [];
  let current: Step | null = null;
  let session = "";
  let saved: Told["saved"] = [];
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
  readonly told: Told;
  readonly scratch: string;
  readonly binary: string;
}

/** Finds what is wrong after one cut. */
async function lookAt(cut: Cut, { disk, told, scratch, binary }: Looking): Promise<string[]> {
  const [image, at, workspace] = [`${scratch}/cut`, `${scratch}/disk`, `${scratch}/workspace`];
  await disk.materialise(cut, image);
  const where = `cut after entry ${cut.position} (${cut.pending} of the pending writes), ${
    told.current?.name ?? `after "${told.done.at(-1)?.step.name}"`
  }`;
  try {
    const wrong = await withMounted(
      { image, at },
      () => wrongAfterCut({ binary, disk: at, workspace }, told),
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
