/** Steps of session tests: the program runs in the process of the test, and meets nothing of that. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { livePorts, type ProgramPorts } from "../../src/cli/live_ports.ts";
import { createScratch } from "../../src/cli/test/scratch.ts";
import { playStep, type StepContext, StepProcess } from "../../src/cli/test/step.ts";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import { readSessionFile, type StepKill } from "../../src/fixture/session/session_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { isGroupAlive, killRunningGroups } from "../../src/tools/shell/process_group.ts";
import { runCommand } from "../../src/tools/shell/run_command.ts";
import type { HttpResponse } from "../../src/transport/http.ts";
import { ending, Sandbox } from "../support/reprise.ts";

const SESSIONS = new URL("../sessions/", import.meta.url).pathname;
const CLOCK = "2026-11-21T20:18:00.000Z";
const SAVED = { type: "turn.saved", turn: 2 };
const REQUEST = { url: "https://example.com/v1/responses?a=b", headers: {}, body: "{}" };

/** A step of an empty test, with whatever is given to it. */
async function step(given: Partial<StepContext> = {}) {
  const directory = Deno.makeTempDirSync();
  const scratch = await createScratch(livePorts(), directory);
  return {
    scratch,
    process: new StepProcess(livePorts(), {
      scratch,
      clock: CLOCK,
      stdin: undefined,
      kill: undefined,
      ...given,
    }),
    [Symbol.dispose]() {
      scratch[Symbol.dispose]();
      Deno.removeSync(directory);
    },
  };
}

function print({ stdout }: ProgramPorts, text: string): void {
  const bytes = new TextEncoder().encode(text);
  assert.equal(stdout.writeSync(bytes), bytes.length);
}

const kill = (signal?: StepKill["signal"]): StepKill => ({
  after: "turn.saved",
  turn: 2,
  ...(signal === undefined ? {} : { signal }),
});
const answered = () => Promise.resolve({ status: 200 } as HttpResponse);

Deno.test("a killed step has no effect after the line of its turn: no file, no request, no output; and it is waited for", async () => {
  using killed = await step({ kill: kill() });
  const { process, scratch } = killed;
  const { signal } = new AbortController();
  let isOver = false;
  const code = await process.run(async (ports) => {
    const send = ports.wrapSend(answered);
    await send(REQUEST, signal);
    print(ports, `${JSON.stringify({ ...SAVED, turn: 1 })}\n${JSON.stringify(SAVED)}`);
    ports.files.makeDirectory(`${scratch.root}/before`, 0o700);
    print(ports, "\n");
    assert.throws(() => ports.files.makeDirectory(`${scratch.root}/after`, 0o700), {
      name: "StepEndedError",
    });
    await assert.rejects(send(REQUEST, signal));
    print(ports, '{"type":"run.ended"}\n');
    await new Promise((resolve) => setTimeout(resolve, 5));
    isOver = true;
    return 0;
  });
  assert.deepEqual([code, isOver], [137, true]);
  assert.deepEqual(process.lines, [{ ...SAVED, turn: 1 }, SAVED]);
  assert.deepEqual(process.requests, [{ method: "POST", path: "/v1/responses?a=b", body: "{}" }]);
  assert.deepEqual([...Deno.readDirSync(scratch.root)].map(({ name }) => name).includes("before"), true);
  assert.throws(() => Deno.statSync(`${scratch.root}/after`), Deno.errors.NotFound);
});

Deno.test("a step that is sent a signal decides about its end; without a listener it ends at once, as a process does", async () => {
  using stopped = await step({ kill: kill("SIGINT") });
  const code = await stopped.process.run((ports) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const ignore = ports.onStopSignals((signal, exitCode) => resolve(signal === "SIGINT" ? exitCode + 1 : 0));
    print(ports, `${JSON.stringify(SAVED)}\n`);
    ignore();
    return promise;
  });
  assert.equal(code, 131);

  using hanging = await step();
  const ended = hanging.process.run(() => new Promise(() => {}));
  hanging.process.signal("SIGTERM");
  assert.equal(await ended, 143);
  assert.throws(() => hanging.process.ports.files.list(hanging.scratch.root));
});

Deno.test("a step sees nothing of the environment, the directory, the streams and the time of who plays it", async () => {
  const played = await step({ stdin: "from the test" });
  using _step = played;
  const { scratch, process: { ports } } = played;
  const names = ["HOME", "TMPDIR", "NO_COLOR", "OPENAI_API_KEY", "REPRISE_MODEL", "XDG_DATA_HOME"];
  Deno.env.set("OPENAI_API_KEY", "sk-live");
  try {
    const values = names.map((name) => ports.env(name));
    assert.deepEqual(values, [scratch.user, scratch.temporary, "1", undefined, undefined, undefined]);
  } finally {
    Deno.env.delete("OPENAI_API_KEY");
  }
  assert.equal(ports.env("PATH"), Deno.env.get("PATH"));
  assert.equal(ports.workingDirectory(), scratch.cwd);
  assert.equal(await new Response(ports.stdin.readable).text(), "from the test");
  assert.deepEqual([ports.stdin, ports.stdout, ports.stderr].map((each) => each.isTerminal()), [
    false,
    false,
    false,
  ]);
  assert.equal(new Date(ports.clock.now()).toISOString(), CLOCK);
  await assert.rejects(ports.fetch("http://127.0.0.1:9/"), /opens no connection/);
});

Deno.test("a file that an argument names is looked for where the test keeps its files", async () => {
  using played = await step();
  const { scratch } = played;
  Deno.writeTextFileSync(`${scratch.cwd}/system.md`, "Be brief.");
  const directory = `${SESSIONS}fork-summarized`;
  const [first] = readSessionFile(denoFiles, directory, checkStepArguments).steps;
  assert.ok(first !== undefined);
  const args = first.args.map((arg) => arg === "Be brief." ? "@system.md" : arg);
  assert.ok(args.includes("@system.md"));
  const { signal } = new AbortController();
  const fixture = `${directory}/1`;
  const end = await playStep({ ...first, args }, {
    ports: livePorts(),
    scratch,
    fixture,
    clock: CLOCK,
    signal,
  });
  assert.deepEqual([end.exit, end.said], [0, ""]);
  assert.match(end.requests[0]?.body ?? "", /"instructions":"Be brief\."/);
});

Deno.test({
  name: "a step that is ended takes its own commands with it, and those of no other step",
  ignore: Deno.build.os === "windows",
  async fn() {
    const root = Deno.makeTempDirSync();
    const stop = new AbortController();
    const options = { env: {}, timeoutMs: 60_000, signal: stop.signal };
    try {
      const [own, other, beside] = ["a/workspace", "b", "ab"].map((name) => {
        const directory = join(root, name);
        Deno.mkdirSync(directory, { recursive: true });
        const command = ["/bin/sh", "-c", "echo $$ >pid; exec sleep 60"];
        return { directory, result: runCommand(command, { ...options, directory }).catch(() => null) };
      });
      const leaders = await Promise.all([own, other, beside].map((each) => leaderIn(each?.directory ?? "")));
      killRunningGroups(join(root, "a"));
      assert.deepEqual((await own?.result)?.end, { kind: "signalled", signal: "SIGKILL" });
      assert.deepEqual(leaders.map(isGroupAlive), [false, true, true]);
      stop.abort();
      await Promise.all([other?.result, beside?.result]);
    } finally {
      stop.abort();
      Deno.removeSync(root, { recursive: true });
    }
  },
});

async function leaderIn(directory: string): Promise<number> {
  for (let tries = 0; tries < 1000; tries++) {
    const text = await Deno.readTextFile(`${directory}/pid`).catch(() => "");
    if (text.endsWith("\n")) return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`No command has begun in ${directory}`);
}

Deno.test("no variable makes a played run stop, tell its requests or start another clock", async () => {
  await using sandbox = new Sandbox();
  const log = `${sandbox.directory}/log`;
  const where = ["--match", "sequence", "--fixture", `${SESSIONS}fork-summarized/1`];
  const called = await sandbox.call(["run", "--json", "--new", "-s", "s", ...where, "Hello?"], {
    env: {
      REPRISE_PLAY_STOP: "SIGKILL 1",
      REPRISE_PLAY_LOG: log,
      REPRISE_PLAY_ROOT: sandbox.workspace,
      REPRISE_PLAY_CLOCK: "no time",
    },
  });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.equal(ending(called).state, "completed");
  assert.throws(() => Deno.statSync(log), Deno.errors.NotFound);
});
