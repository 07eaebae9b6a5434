import assert from "node:assert/strict";
import { type ErrorCode, RepriseError } from "../../src/domain/errors.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { answerText, functionCall, responseStream } from "../doors/wire/streams_answers.ts";
import type { Json } from "../support/files.ts";
import { callHere } from "../support/in_process.ts";
import { scaled } from "../support/scale.ts";
import { type Operation, spiedDisk, systemError } from "../support/spied_disk.ts";
import { wrongAfter } from "./aftermath.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";
import { homeOf, ID, pathsOf, type Place, quietPlace, testPorts } from "./sessions.ts";
import { withDirectory } from "./trace.ts";

/** Answers of a run with three calls; the line that each reads is so long that its result is a blob. */
const CALLS = [[1, 2], [3], []].map((lines) => {
  const calls = lines.map((offset) =>
    functionCall(`call_${offset}`, "read_file", { path: "large.txt", offset, limit: 1 })
  );
  return { body: responseStream(calls.length === 0 ? [answerText("Done.")] : calls) };
});

/** Path of something beside the home. */
const beside = ({ home }: Place, name: string) => home.replace(/home$/, name);

/** A call of the program that plays a fixture; starts the session where it has no turn. */
async function run(place: Place, fixture: string): Promise<void> {
  const begun = denoFiles.facts(turnPath(pathsOf(place), 1)) !== null;
  const { code, stdout } = await callHere({
    args: [
      ...["run", "--json", "--home", place.home, "-s", ID, ...begun ? [] : ["--new"], "--auto-compact", "1"],
      ...["-w", beside(place, "work"), "-m", "gpt-5.6", "--match", "sequence"],
      ...["--fixture", beside(place, fixture), "Go"],
    ],
    // Other files of this suite run in the same process: its directory and environment must stay.
    cwd: Deno.cwd(),
    env: Deno.env.toObject(),
    stdin: new Uint8Array(0),
    disk: () => place.ports.files,
  });
  const events: Json[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
  for (const event of events) if (event.type === "turn.saved") place.acknowledge(event);
  if (code === 0) return;
  const problem = events.find(({ type }) => type === "error");
  assert.equal(problem?.exit_code, code, `a run that failed says why: ${stdout}`);
  throw new RepriseError(problem.code as ErrorCode, problem.message);
}

/** A run of a new session to its answer; the second try is another run. */
const WHOLE_RUN: Scenario = {
  name: "whole run",
  prepare: (place) => {
    Deno.mkdirSync(beside(place, "work"));
    Deno.writeTextFileSync(
      `${beside(place, "work")}/large.txt`,
      ["a\n", "b\n", "c\n"].map((line) => line.padStart(9000)).join(""),
    );
    writeFixture(beside(place, "fixture"), CALLS);
    writeFixture(beside(place, "answer"), CALLS.slice(-1));
    return Promise.resolve();
  },
  act: (place) => run(place, "fixture"),
  after: (place) => {
    const { turns } = readSession(place.ports, homeOf(place), ID);
    const kinds = turns.map(({ kind }) => kind).filter((kind) => kind !== "compaction").join(" ");
    assert.equal(kinds, "user model tools model tools model harness");
    assert.ok(place.ports.files.list(pathsOf(place).blobs).length >= 5, "a result is no blob");
    return Promise.resolve();
  },
  again: (place) => run(place, "answer"),
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

/** Files that do `fault` at operation `at` of those on a home, and say what that was. */
function faulty(
  fault: Fault,
  at: number,
  home: string,
): { ports: Place["ports"]; failed: () => Operation | null } {
  let count = 0;
  let failed: Operation | null = null;
  const disk = spiedDisk((operation) => {
    if (!operation.path.startsWith(home) || isWrite(fault) && operation.name !== "write") return;
    if (++count !== at) return;
    failed = operation;
    if (!isWrite(fault)) throw systemError(fault);
    return fault === "no write" ? 0 : 0.5;
  });
  return { ports: testPorts(disk(denoFiles)), failed: () => failed };
}

/** Describes the fault in an operation's report to its user; `null` if the report is right. */
function wrongOutcome(fault: Fault, { name }: Operation, outcome: unknown): string | null {
  if (outcome === null) {
    const isSync = ["sync", "syncFiles"].includes(name) ||
      name === "syncDirectory" && fault !== "EACCES";
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
  await scenario.prepare(quietPlace(`${root}/start/home`));
  const wrong: string[] = [];
  let points = 0;
  for (const [index, fault] of FAULTS.entries()) {
    const step = fault === "EIO" ? 1 : isWrite(fault) ? WRITE_STRIDE : STRIDE;
    for (let at = 1 + index % step;; at += step) {
      const directory = `${root}/${index}-${at}`;
      copyTree(`${root}/start`, directory);
      const { ports, failed } = faulty(fault, at, `${directory}/home`);
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
      const left = await wrongAfter(scenario, quietPlace(place.home), { saved, done: outcome === null });
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
