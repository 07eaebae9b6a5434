import assert from "node:assert/strict";
import { lacksBinary, lacksProgram, needing } from "../support/needs.ts";
import { copyWorkspace, DEMO_PERMISSIONS } from "../../scripts/demo/scene.ts";
import { type Reported, reportedIn } from "./aftermath.ts";
import { judgeOrder } from "./order.ts";
import {
  type Call,
  copyDirectory,
  isChange,
  parseTrace,
  stopAtEach,
  traceCommand,
  withDirectory,
} from "./trace.ts";
import { scaled } from "../support/scale.ts";

const root = new URL("../../", import.meta.url).pathname;
const binary = Deno.env.get("REPRISE_BIN") ?? "";
/** In the gate, only one point in this number is tried. */
const STRIDE = scaled(5, 1);

function runArgs(home: string, fixture: "first" | "second", more: readonly string[] = []): string[] {
  const played = [
    "--fixture",
    `${root}fixtures/demo/${fixture}`,
    // The fixtures answer whatever the history and the prompt.
    "--match",
    "sequence",
    "-w",
    workspaceOf(home),
    ...DEMO_PERMISSIONS,
  ];
  return [binary, "run", "--json", "--home", home, "-s", "crash", ...more, ...played, "Go on"];
}

/** The scratch workspace that belongs to a home. */
function workspaceOf(home: string): string {
  return `${home}-workspace`;
}

/** The calls that concern the session, for the order check: what a tool does to the workspace promises nothing. */
function sessionCalls(trace: string): Call[] {
  return parseTrace(trace, null).map(asDriver).filter(({ path }) => !path.includes("-workspace/"));
}

/** A call, a `turn.saved` line in the words of the driver. */
function asDriver(call: Call): Call {
  const [, turn, sum = ""] =
    /^\{\\"type\\":\\"turn\.saved\\",\\"turn\\":(\d+),(?:.*"sum\\":\\"(\w+))?/.exec(call.data) ??
      [];
  return turn === undefined ? call : { ...call, data: `saved ${turn} ${sum}` };
}

Deno.test({
  ...needing(
    "the compiled binary says turn.saved only when turn, name, blobs and new parents are durable",
    lacksProgram("strace"),
    lacksBinary(),
  ),
  fn: () =>
    withDirectory(async (directory) => {
      await copyWorkspace(workspaceOf(`${directory}/home`));
      const first = await traceCommand(runArgs(`${directory}/home`, "first", ["--new"]));
      assert.ok(first.output.success);
      assert.deepEqual(judgeOrder(sessionCalls(first.trace), directory), {
        violations: [],
        published: 11,
        acknowledged: 11,
      });
      const second = await traceCommand(runArgs(`${directory}/home`, "second"));
      assert.ok(second.output.success);
      assert.deepEqual(judgeOrder(sessionCalls(second.trace), directory), {
        violations: [],
        published: 3,
        acknowledged: 3,
      });
    }),
});

Deno.test({
  ...needing(
    "the compiled binary opens no socket while it plays a fixture",
    lacksProgram("strace"),
    lacksBinary(),
  ),
  fn: () =>
    withDirectory(async (directory) => {
      await copyWorkspace(workspaceOf(`${directory}/home`));
      const { success, stderr } = await new Deno.Command("strace", {
        args: [
          ...["-f", "-e", "trace=socket,connect,bind", "-o", `${directory}/trace`],
          ...runArgs(`${directory}/home`, "first", ["--new"]),
        ],
        stdin: "null",
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      const calls = Deno.readTextFileSync(`${directory}/trace`).split("\n")
        .filter((line) => /\b(socket|connect|bind)\(/.test(line));
      assert.deepEqual(calls, []);
    }),
});

Deno.test({
  ...needing(
    "the compiled binary killed at any changing call loses no acknowledged turn, and the next run completes",
    lacksProgram("strace"),
    lacksBinary(),
  ),
  fn: () =>
    withDirectory(async (directory) => {
      const start = `${directory}/start`;
      await Deno.mkdir(start);
      await copyWorkspace(workspaceOf(`${start}/home`));
      let points = 0;
      const command = runArgs(`${start}/home`, "first", ["--new"]);
      const { calls, code, stderr } = await stopAtEach(command, null, async (soFar) => {
        const last = asDriver(soFar.at(-1) as Call);
        if (!isChange(last, directory) || points++ % STRIDE > 0) return true;
        const copy = `${directory}/${points}`;
        await copyDirectory(start, copy);
        await goOn(
          `${copy}/home`,
          reportedIn(soFar.map(asDriver)).saved,
          `point ${points} (${last.name} ${last.path})`,
        );
        await Deno.remove(copy, { recursive: true });
        return true;
      });
      assert.equal(code, 0, stderr);
      assert.equal(reportedIn(calls.map(asDriver)).saved.size, 11);
      assert.ok(points >= 60, `${points} points`);
    }),
});

/** Checks a session after a kill, and that a new process brings it to an answer. */
async function goOn(home: string, saved: Reported["saved"], where: string): Promise<void> {
  const turns = `${home}/sessions/crash/turns`;
  for (const [turn, sum] of saved) {
    const text = Deno.readTextFileSync(`${turns}/${String(turn).padStart(6, "0")}.json`);
    assert.ok(text.endsWith(`"sum":"${sum}"}\n`), `${where}: acknowledged turn ${turn} is not there`);
  }
  const begun = await exists(`${turns}/000001.json`);
  if (begun) await mustPass([binary, "fsck", "crash", "--home", home], where);
  else assert.equal(saved.size, 0, where);
  // The second fixture answers at once.
  await mustPass(runArgs(home, "second", begun ? [] : ["--new"]), where);
  await mustPass([binary, "fsck", "crash", "--home", home], where);
}

async function mustPass([command, ...args]: readonly string[], where: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(command as string, { args, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  assert.ok(success, `${where}: ${args[0]}: ${decoder.decode(stdout)}${decoder.decode(stderr)}`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
