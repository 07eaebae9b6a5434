import assert from "node:assert/strict";
import { type ErrorCode, RepriseError } from "../../src/domain/errors.ts";
import type { Turn } from "../../src/domain/turn.ts";
import { executeRun } from "../../src/run/loop.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { finishText } from "../../src/tools/output.ts";
import { wrongAfter } from "./aftermath.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";
import { homeOf, ID, pathsOf, type Place } from "./sessions.ts";
import { withDirectory } from "./trace.ts";
import { answer, functionCall, message, reasoning } from "../support/scripted_api/responses_script.ts";
import { readTool, scripted } from "./scripted.ts";
import { type Operation, spyFiles, systemError } from "./spy_files.ts";
import { portsOn } from "./drafts.ts";
import { scaled } from "../support/scale.ts";

const LARGE = readTool(
  "large",
  (args) => Promise.resolve(finishText({ status: "ok", text: `${args.word} `.repeat(500) }, 800)),
);

const CALLS = [
  answer([reasoning(), functionCall("large", { word: "a" }), functionCall("large", { word: "b" })]),
  answer([reasoning(), functionCall("large", { word: "c" })]),
  answer([reasoning(), message("Done.")]),
];

async function run(place: Place, writer: SessionWriter, script: typeof CALLS): Promise<void> {
  const { setup, events } = scripted(place.ports, writer, { script, tools: [LARGE], autoCompact: 1 });
  try {
    const ended = await executeRun(setup, { kind: "prompt", content: [{ type: "input_text", text: "Go" }] });
    if (ended.exit_code === 0) return;
    const problem = events.find((event) => event.type === "error");
    assert.ok(problem?.type === "error", "a run that failed says why");
    assert.equal(problem.exit_code, ended.exit_code);
    throw new RepriseError(problem.code as ErrorCode, String(problem.message));
  } finally {
    for (const event of events) {
      if (event.type === "turn.saved") place.acknowledge(event as unknown as Turn);
    }
    writer.close();
  }
}

/** Opens the session, or starts it where it has no turn. */
function openOrCreate(place: Place): Promise<SessionWriter> {
  const begun = denoFiles.facts(turnPath(pathsOf(place), 1)) !== null;
  return SessionWriter[begun ? "open" : "create"](place.ports, homeOf(place), { id: ID });
}

/** A run of a new session to its answer; the second try is another run. */
const WHOLE_RUN: Scenario = {
  name: "whole run",
  prepare: () => Promise.resolve(),
  act: async (place) => run(place, await openOrCreate(place), CALLS),
  after: (place) => {
    const { turns } = readSession(place.ports, homeOf(place), ID);
    const kinds = turns.map(({ kind }) => kind).filter((kind) => kind !== "compaction").join(" ");
    assert.equal(kinds, "user model tools model tools model harness");
    return Promise.resolve();
  },
  again: async (place) => run(place, await openOrCreate(place), CALLS.slice(-1)),
};

/** The errors of a disk, and the error code that each must lead to. */
const CODE_OF = {
  EIO: "storage_failed",
  ENOSPC: "storage_full",
  EACCES: "storage_denied",
  EMFILE: "storage_failed",
  EROFS: "storage_denied",
} as const;

/** Fault of a disk: an error of the system, a write that takes half, one that takes nothing. */
type Fault = keyof typeof CODE_OF | "half a write" | "no write";
const FAULTS: readonly Fault[] = ["EIO", "ENOSPC", "EACCES", "EMFILE", "EROFS", "half a write", "no write"];

/** In the gate, only one operation in this number fails with the errors that differ from EIO only in their message. */
const STRIDE = scaled(27, 1);
/** In the gate, only one write in this number is cut short. */
const WRITE_STRIDE = scaled(4, 1);

function isWrite(fault: Fault): fault is "half a write" | "no write" {
  return fault === "half a write" || fault === "no write";
}

/** Files that do `fault` at operation `at`, and say what that was. */
function faulty(fault: Fault, at: number): { ports: Place["ports"]; failed: () => Operation | null } {
  let count = 0;
  let failed: Operation | null = null;
  let take: ((bytes: number) => number) | null = null;
  const files = spyFiles((operation) => {
    take = null;
    if (isWrite(fault) && operation.name !== "write" || ++count !== at) return;
    failed = operation;
    if (!isWrite(fault)) throw systemError(fault);
    take = (bytes) => fault === "no write" ? 0 : Math.ceil(bytes / 2);
  }, { take: (bytes) => take?.(bytes) ?? bytes, syncs: false });
  return { ports: portsOn(files), failed: () => failed };
}

/** Describes the fault in an operation's report to its user; `null` if the report is right. */
function wrongOutcome(fault: Fault, { name }: Operation, outcome: unknown): string | null {
  if (outcome === null) {
    const isSync = name === "sync" || name === "syncDirectory" && fault !== "EACCES";
    return isSync ? "a failed fsync was swallowed" : null;
  }
  if (fault === "half a write") return `half a write was an error: ${outcome}`;
  if (!(outcome instanceof RepriseError)) return `reported as ${outcome}`;
  const expected = fault === "no write" ? "storage_failed" : CODE_OF[fault];
  if (outcome.exitCode !== 14 || outcome.code !== expected) {
    return `reported as ${outcome.code}: ${outcome.message}`;
  }
  return /^Cannot .+: .+[^.]$/s.test(outcome.message) ? null : `says ${outcome.message}`;
}

/** A copy of a directory of ours. */
function copyTree(from: string, to: string): void {
  Deno.mkdirSync(to, { mode: 0o700 });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyTree(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Lets each operation of a scenario fail in turn. */
async function failEach(root: string, scenario: Scenario) {
  Deno.mkdirSync(`${root}/start`);
  const quiet = (home: string): Place => ({
    ports: portsOn(spyFiles(() => {}, { syncs: false })),
    home,
    acknowledge: () => {},
  });
  await scenario.prepare(quiet(`${root}/start/home`));
  const wrong: string[] = [];
  let points = 0;
  for (const [index, fault] of FAULTS.entries()) {
    const step = fault === "EIO" ? 1 : isWrite(fault) ? WRITE_STRIDE : STRIDE;
    for (let at = 1 + index % step;; at += step) {
      const directory = `${root}/${index}-${at}`;
      copyTree(`${root}/start`, directory);
      const { ports, failed } = faulty(fault, at);
      const saved = new Map<number, string>();
      const place: Place = {
        ports,
        home: `${directory}/home`,
        acknowledge: ({ turn, sum }) => saved.set(turn, sum),
      };
      const outcome = await scenario.act(place).then(() => null, (error: unknown) => error);
      const operation = failed();
      if (operation === null) {
        assert.equal(outcome, null);
        break;
      }
      points++;
      const problem = wrongOutcome(fault, operation, outcome);
      const left = await wrongAfter(scenario, quiet(place.home), { saved, done: outcome === null });
      for (const each of problem === null ? left : [problem, ...left]) {
        wrong.push(`${fault} at ${operation.name} ${operation.path.slice(directory.length)}: ${each}`);
      }
      Deno.removeSync(directory, { recursive: true });
    }
  }
  return { points, wrong };
}

let total = 0;

for (const scenario of [...SCENARIOS, WHOLE_RUN]) {
  Deno.test(`whatever file operation fails of "${scenario.name}", the error says so, and the next try succeeds`, () =>
    withDirectory(async (root) => {
      const { points, wrong } = await failEach(root, scenario);
      total += points;
      assert.deepEqual(wrong, []);
    }));
}

Deno.test("no operation was left out", () => assert.ok(total >= scaled(1750, 7500), `${total} points`));
