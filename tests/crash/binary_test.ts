import assert from "node:assert/strict";
import { copyWorkspace, DEMO_PERMISSIONS } from "../../scripts/demo/scene.ts";
import { judgeOrder } from "./order.ts";
import { type Call, hasStrace, parseTrace, traceCommand, variantsOf, withDirectory } from "./trace.ts";

const root = new URL("../../", import.meta.url).pathname;
const binary = Deno.env.get("REPRISE_BIN") ?? "";
const ignore = !hasStrace() || binary === "";

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
  return callsOf(trace).filter(({ path }) => !path.includes("-workspace/"));
}

/** The calls of a run, its `turn.saved` lines as the order check names them. */
function callsOf(trace: string): Call[] {
  return parseTrace(trace, null).map((call) => {
    const turn = /^\{\\"type\\":\\"turn\.saved\\",\\"turn\\":(\d+),/.exec(call.data)?.[1];
    return turn === undefined ? call : { ...call, data: `saved ${turn}` };
  });
}

Deno.test({
  name: "the compiled binary says turn.saved only when turn, name, blobs and new parents are durable",
  ignore,
  fn: () =>
    withDirectory(async (directory) => {
      await copyWorkspace(workspaceOf(`${directory}/home`));
      const first = await traceCommand(runArgs(`${directory}/home`, "first", ["--new"]));
      assert.ok(first.output.success);
      assert.deepEqual(judgeOrder(sessionCalls(first.trace), directory), {
        violations: [],
        published: 10,
        acknowledged: 10,
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
  name: "the compiled binary opens no socket while it plays a fixture",
  ignore,
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
  name:
    "the compiled binary killed at any changing call loses no acknowledged turn, and the next run completes",
  ignore,
  fn: () =>
    withDirectory(async (directory) => {
      await copyWorkspace(workspaceOf(`${directory}/whole`));
      const whole = await traceCommand(runArgs(`${directory}/whole`, "first", ["--new"]));
      const points = callsOf(whole.trace).filter(({ name, path, creates, data }) =>
        data.startsWith("saved ") || path.startsWith(directory) && (name !== "open" || creates)
      );
      assert.ok(points.length >= 60, `${points.length} points`);
      let killed = 0;
      for (const [index, { name, ordinal }] of points.entries()) {
        const home = `${directory}/${index}`;
        await copyWorkspace(workspaceOf(home));
        const inject = `${variantsOf(name)}:signal=KILL:when=${ordinal}`;
        const { output } = await traceCommand(runArgs(home, "first", ["--new"]), inject);
        if (output.signal === "SIGKILL" || output.code === 137) killed++;
        await goOn(home, new TextDecoder().decode(output.stdout), `point ${index} (${name})`);
        await Deno.remove(home, { recursive: true }).catch(() => {});
      }
      // The runtime's own calls differ a little from start to start: a few aims may miss.
      assert.ok(killed >= points.length * 0.9, `${killed} of ${points.length} points were hit`);
    }),
});

/** Checks a session after a kill, and that a new process brings it to an answer. */
async function goOn(home: string, stdout: string, where: string): Promise<void> {
  const saved = [...stdout.matchAll(/\{"type":"turn\.saved","turn":(\d+),.*?"sum":"([0-9a-f]{64})"\}\n/g)];
  const turns = `${home}/sessions/crash/turns`;
  for (const [, turn, sum] of saved) {
    const text = Deno.readTextFileSync(`${turns}/${String(turn).padStart(6, "0")}.json`);
    assert.ok(text.endsWith(`"sum":"${sum}"}\n`), `${where}: acknowledged turn ${turn} is not there`);
  }
  const begun = await exists(`${turns}/000001.json`);
  if (begun) await mustPass([binary, "fsck", "crash", "--home", home], where);
  else assert.equal(saved.length, 0, where);
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
