/**
 * The tests of `tests/unit`, `tests/doors` and `tests/cli` in one isolate, without those of `tests/cli/binary`: most
 * of the time of a small test file goes to loading the program's modules.
 *
 * With `REPRISE_SUITE=fast` it runs those that are quick, and holds them to it: a test that takes more than 500 ms of
 * processor time, starts a process or waits for a timer fails. Such a test is a `test.long`.
 *
 * @module
 */
import process from "node:process";

/** Most processor time of a fast test on an idle machine, in milliseconds. */
const LIMIT_MS = 500;
/** Shortest timer that is a wait, in milliseconds. */
const WAIT_MS = 50;

/** Temporary files in memory: what must reach a disk is tested by other suites. */
const MEMORY = "/dev/shm";

if (exists(MEMORY)) Deno.env.set("TMPDIR", MEMORY);
if (Deno.env.get("REPRISE_SUITE") === "fast") keepFast();
Deno.env.delete("REPRISE_BIN");
if (Deno.env.get("REPRISE_SUITE") === undefined) Deno.env.set("REPRISE_SUITE", "unit");
for (const folder of ["unit", "doors", "cli"]) {
  for (const file of testFiles(new URL(`./${folder}/`, import.meta.url))) await import(file);
}

/** Returns the URLs of the test files below `folder`, sorted. */
function testFiles(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return name === "binary" ? [] : testFiles(new URL(`${name}/`, folder));
    return name.endsWith("_test.ts") ? [new URL(name, folder).href] : [];
  }).sort();
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Number of processes that wait for each processor, at least 1: they also slow down each other's work. */
function busyness(): number {
  return Math.max(1, (Deno.loadavg()[0] ?? 0) / navigator.hardwareConcurrency);
}

/**
 * Milliseconds of processor time of this thread, which runs the tests: the collector of garbage works for all of them on
 * threads of its own.
 */
function processorTime(): number {
  if (Deno.build.os === "linux") {
    return Number(Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ", 1)[0]) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Lets each test fail that is not fast. */
function keepFast() {
  const slow: string[] = [];
  let before = processorTime();
  Deno.test.beforeEach(() => {
    slow.length = 0;
    before = processorTime();
  });
  Deno.test.afterEach(() => {
    const milliseconds = processorTime() - before;
    if (milliseconds > LIMIT_MS * busyness()) {
      slow.push(`it took ${Math.round(milliseconds)} ms of processor time`);
    }
    if (slow.length > 0) throw new Error(`Not a fast test: ${slow.join(", ")}; register it with test.long`);
  });
  const { Command } = Deno;
  Deno.Command = class extends Command {
    constructor(...args: ConstructorParameters<typeof Command>) {
      super(...args);
      slow.push(`it starts "${args[0]}"`);
    }
  };
  const { setTimeout } = globalThis;
  globalThis.setTimeout =
    ((handler: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) =>
      setTimeout(() => {
        if (delay >= WAIT_MS) slow.push(`it waits for ${delay} ms`);
        handler(...args);
      }, delay)) as typeof globalThis.setTimeout;
}
