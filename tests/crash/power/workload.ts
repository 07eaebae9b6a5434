/**
 * Steps on the recorded disk: every operation of the command line that promises durability, by the compiled
 * binary, on one session and its fork.
 */
import { copyWorkspace, DEMO_PERMISSIONS } from "../../../scripts/demo/scene.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";

const FIXTURES = new URL("../../../fixtures/demo/", import.meta.url).pathname;
/** The turn that is damaged, and then repaired. */
const DAMAGED = "sessions/crash/turns/000004.json";

/** A disk and the program that works on it. */
export interface Bench {
  readonly binary: string;
  /** Mount point. */
  readonly disk: string;
  /** A directory elsewhere, for what a run's tools do. */
  readonly workspace: string;
}

/** One operation. */
export interface Step {
  readonly name: string;
  /** The command's arguments, or what is done instead of a command. */
  readonly act: (bench: Bench) => readonly string[] | Promise<void>;
  /** True while what it does damages the session, and until the repair is done. */
  readonly damages?: true;
  /** The session that it removes or creates: in view it is whole, or it is not in view. */
  readonly whole?: string;
  /** It may create a session of any name. */
  readonly creates?: true;
}

/** Returns the directory of the sessions and the configuration on a disk. */
export function homeOn(disk: string): string {
  return `${disk}/home`;
}

/** The arguments of a run that a fixture answers. */
export function runArgs(
  { disk, workspace }: Bench,
  { session, fixture = "second", isNew = false }: { session: string; fixture?: string; isNew?: boolean },
): string[] {
  return [
    ...["run", "--json", "--home", homeOn(disk), "-s", session, ...isNew ? ["--new"] : []],
    // The fixture answers whatever the history and the prompt.
    ...["--fixture", `${FIXTURES}${fixture}`, "--match", "sequence"],
    ...["-w", workspace, ...DEMO_PERMISSIONS, "Go on"],
  ];
}

/** A verb's arguments, on the home of the disk. */
export function verbArgs({ disk }: Bench, ...args: string[]): string[] {
  return [...args, "--json", "--home", homeOn(disk)];
}

/** The name of the fork, once it is there. */
function forkOf({ disk }: Bench): string {
  return namesIn(`${homeOn(disk)}/sessions`).find((name) => name.startsWith("crash-")) ?? "";
}

/** The file that `export` writes and `import` reads. */
export function exportPath({ disk }: Bench): string {
  return `${disk}/export.jsonl`;
}

/** All steps, in order. */
export const STEPS: readonly Step[] = [
  {
    name: "first run",
    act: async (bench) => {
      await copyWorkspace(bench.workspace);
    },
  },
  {
    name: "run with tools",
    act: (bench) => runArgs(bench, { session: "crash", fixture: "first", isNew: true }),
  },
  { name: "second run", act: (bench) => runArgs(bench, { session: "crash" }) },
  { name: "third run", act: (bench) => runArgs(bench, { session: "crash" }) },
  { name: "fork", act: (bench) => verbArgs(bench, "fork", "crash"), creates: true },
  { name: "run of the fork", act: (bench) => runArgs(bench, { session: forkOf(bench) }) },
  { name: "compact", act: (bench) => verbArgs(bench, "compact", "crash", "--tail-events", "4") },
  { name: "run after the checkpoint", act: (bench) => runArgs(bench, { session: "crash" }) },
  { name: "withdrawal", act: (bench) => verbArgs(bench, "compact", "crash", "--undo") },
  {
    name: "damage",
    damages: true,
    act: ({ disk }) => {
      // A file of its own: the fork shares the old one.
      const path = `${homeOn(disk)}/${DAMAGED}`;
      const bytes = Deno.readFileSync(path).subarray(0, 100);
      // Without this fsync, ext4 may keep the new name and the length, but no content.
      writeDurably(`${path}.torn`, bytes);
      Deno.renameSync(`${path}.torn`, path);
      using directory = Deno.openSync(path.slice(0, path.lastIndexOf("/")));
      directory.syncSync();
      return Promise.resolve();
    },
  },
  { name: "repair", damages: true, act: (bench) => verbArgs(bench, "repair", "crash") },
  { name: "run after the repair", act: (bench) => runArgs(bench, { session: "crash" }) },
  { name: "export", act: (bench) => verbArgs(bench, "export", "crash", exportPath(bench)) },
  { name: "rm", act: (bench) => verbArgs(bench, "rm", "crash", "--yes"), whole: "crash" },
  { name: "import", act: (bench) => verbArgs(bench, "import", exportPath(bench)), whole: "crash" },
  { name: "run after the import", act: (bench) => runArgs(bench, { session: "crash" }) },
  { name: "gc", act: (bench) => verbArgs(bench, "rm", "--unused") },
];

function writeDurably(path: string, bytes: Uint8Array): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  file.writeSync(bytes);
  file.syncSync();
}

/** Contents by path below the disk, of all that must not change: turns, blobs, the export. */
export type Snapshot = ReadonlyMap<string, string>;

/** Takes a snapshot of what is in view. */
export function snapshotOf({ disk }: Bench): Snapshot {
  const found = new Map<string, string>();
  const keep = (path: string) => found.set(path, sha256Hex(Deno.readFileSync(`${disk}/${path}`)));
  for (const id of sessionsIn(disk)) {
    for (const folder of ["turns", "blobs"]) {
      const path = `home/sessions/${id}/${folder}`;
      for (const name of namesIn(`${disk}/${path}`)) keep(`${path}/${name}`);
    }
  }
  if (namesIn(disk).includes("export.jsonl")) keep("export.jsonl");
  return found;
}

/** True for the turn that the step `damage` damages and `repair` replaces. */
export function isDamaged(path: string): boolean {
  return path === `home/${DAMAGED}`;
}

/** Sessions in view. */
export function sessionsIn(disk: string): string[] {
  return namesIn(`${homeOn(disk)}/sessions`).filter((name) => !name.startsWith("."));
}

/** Names in a directory; none if it is missing. */
export function namesIn(path: string): string[] {
  try {
    return Array.from(Deno.readDirSync(path), ({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
