/** Tests for the calls of a run on a terminal: their output while they run, and the denied calls at its end. */
import { test } from "../support/test.ts";
import type { Json } from "../support/files.ts";
import assert from "node:assert/strict";
import { type Called, ending, events, type Started } from "../support/reprise.ts";
import { answer } from "../support/scripted_api/responses.ts";
import { calling, edit, NEW_RUN, read, shellArgv, shellLine, write } from "./changes.ts";
import { assertError, HELLO, Place } from "./harness.ts";

const RUN = ["run", "--new", "-s", "s"];

/** Starts the program with a terminal for stdout and stderr, and none for stdin. */
function startOnTerminal(place: Place, args: readonly string[]): Started {
  const quote = `printf " '%s'" "$@"`;
  const through = ["sh", "-c", `exec script -qefc "$(${quote}) </dev/null" /dev/null`, "sh"];
  return place.start(args, { through, env: { SHELL: "/bin/sh", NO_COLOR: "1" } });
}

// deno-lint-ignore no-control-regex
const SPINNER = /\rrunning [^\x1b]*\x1b\[K\r\x1b\[K/g;

async function onTerminal(place: Place, args: readonly string[]): Promise<Called> {
  const called = await startOnTerminal(place, args).ended();
  return { ...called, stdout: called.stdout.replaceAll("\r\n", "\n").replaceAll(SPINNER, "") };
}

test.long("denied calls are named at the end of a run, each once with the flag that would allow it, and the flags do", async () => {
  const calls = [
    shellArgv("touch", "it's", "*", "", "two words"),
    shellArgv("git", "status"),
    shellArgv("git", "status"),
    shellLine("touch x && touch y"),
    edit("a.txt", "alpha", "A"),
    write("odd{1}.txt", "odd"),
    read("a.txt"),
  ];
  await using place = new Place(calling(...calls));
  const called = await place.call([...RUN, "Go"]);
  assert.equal(called.code, 0);
  assert.deepEqual(called.stderr.split("\n").filter((line) => line.startsWith("denied: ")).slice(1), [
    "denied: shell git status (not allowed); to allow it: --allow 'shell:git status'",
    "denied: shell touch x && touch y (not allowed); to allow it: --allow shell",
    "denied: edit_file a.txt (not allowed); to allow it: --allow write:a.txt",
    "denied: write_file odd{1}.txt (not allowed); to allow it: --allow write",
  ]);
  const { denied } = ending(await place.call(["run", "--json", "-s", "s", "Again"]));
  for (const { allow, tool, target } of denied) {
    const again = await place.call(["run", "--json", "-s", "s", "--allow", String(allow), "Again"]);
    const left = ending(again).denied.map((each: Json) => `${each.tool} ${each.target}`);
    assert.ok(!left.includes(`${tool} ${target}`), `${allow}: ${again.stdout}`);
  }
});

test("with --fail-on-denied the hint is the command that allows the call and continues the run", async () => {
  await using place = new Place(calling(shellArgv("touch", "x")));
  const called = await place.call([...NEW_RUN, "--fail-on-denied", "Go"]);
  const { hint } = assertError(called, { code: "permission_denied", exit: 3 });
  const command = "reprise run -s s --fail-on-denied --allow 'shell:touch x'";
  assert.equal(hint, `Allow what is needed, and continue the run: ${command}`);
});

test("the command that continues a session repeats the flags that the session does not keep", async () => {
  await using place = new Place(() => HELLO);
  const { workspace, home } = place.sandbox;
  const kept = ["-m", "gpt-5.6", "--effort", "low", "--deny", "shell"];
  const repeated =
    `--home ${home} --replay family -w ${workspace} --allow 'write:src/**' --allow shell:true --ask ` +
    "--max-steps 9 --max-tokens 90000 --auto-compact 80000 --timeout 60";
  const flags = repeated.replaceAll("'", "").split(" ");
  const called = await place.call(["run", "--json", "--new", "-s", "s", ...kept, ...flags, "Go"]);
  assert.equal(ending(called).resume, `reprise run -s s ${repeated} "…"`);
});

test.process("on a terminal the output of a command is shown while it runs", async () => {
  const waits = shellLine("echo one; echo two >&2; until [ -e seen ]; do sleep 0.1; done");
  await using place = new Place(calling(waits));
  const started = startOnTerminal(place, [...RUN, "--allow", "shell", "Go"]);
  await started.printed("  │ one");
  await started.printed("  │ two");
  Deno.writeTextFileSync(`${place.sandbox.workspace}/seen`, "");
  const called = await started.ended();
  assert.equal(called.code, 0, called.stdout);
});

test.process("a terminal shows each call in words, output without escapes and with a cap, and results of changes and of failed calls", async () => {
  await using place = new Place(calling(
    shellLine(`printf 'a\\033[2J\\rAllow? \\nlast'`),
    shellLine("seq 1 1000"),
    edit("a.txt", "alpha", "A"),
    read("a.txt"),
    shellArgv("nonsense-1", "b"),
  ));
  const { stdout } = await onTerminal(place, [...RUN, "--allow", "write,shell", "Go"]);
  const calls = stdout.split("\n").filter((line) => line.startsWith("→ ") && !line.includes("printf"));
  assert.deepEqual(calls, [
    "→ shell seq 1 1000",
    "→ edit_file a.txt",
    "→ read_file a.txt",
    "→ shell nonsense-1 b",
  ]);
  assert.ok(stdout.includes("\n  │ a␛[2J\n  │ Allow? \n  │ last\n  shell: ok"), stdout);
  assert.ok(stdout.includes("\n  │ 20\n  │ …\n  shell: ok"), stdout);
  assert.match(stdout, /\n {2}│ Edited a\.txt: from line 1 on.*\n {2}edit_file: ok/);
  assert.match(stdout, /\n {2}│ Cannot start "nonsense-1": no such program\n {2}shell: failed/);
  assert.ok(!stdout.includes("│ 1\tA"), stdout);
});

const SILENT = answer([], { end: { kind: "stall" } });

test.process("on a terminal a silent model has a line with its name and the seconds, and the last line has the tokens and the cost", async () => {
  await using place = new Place([SILENT, HELLO]);
  const started = startOnTerminal(place, [...RUN, "Go"]);
  await started.printed("\rwaiting for gpt-5.6 (0 s)\x1b[K");
  await started.printed("\rwaiting for gpt-5.6 (1 s)\x1b[K");
  await place.call(["interrupt", "s"]);
  await started.ended();
  const { stdout } = await onTerminal(place, ["run", "-s", "s", "Go"]);
  assert.match(stdout, /\ncompleted · 120 tokens in, 40 out · \$0\.\d+ · continue: reprise run -s s "…"\n$/);
  assert.ok(!stdout.includes("reasoning"), stdout);
});

test.long("run --json reports the output of calls as tool.output, between start and finish, up to a cap", async () => {
  const halves = shellLine(`printf 'caf\\303'; sleep 0.1; printf '\\251\\n'`);
  await using place = new Place(calling(halves, shellLine("seq 1 100000")));
  const lines = events(await place.call([...NEW_RUN, "--allow", "shell", "Go"]));
  const seqs = lines.flatMap((line) => line.type === "tool.started" ? [line.seq] : []);
  const [first = [], second = []] = seqs.map((seq) =>
    lines.flatMap((line) => line.type === "tool.output" && line.seq === seq ? [line] : [])
  );
  assert.equal(first.map(({ text }) => text).join(""), "café\n");
  assert.equal(second.map(({ text }) => text).join("").length, 16_384);
  assert.deepEqual(second.flatMap(({ truncated }) => truncated ?? []), [true]);
  const types = lines.map(({ type }) => type).filter((type) => type.startsWith("tool."));
  assert.equal(types.indexOf("tool.output"), types.indexOf("tool.started") + 1);
  assert.equal(types.at(-1), "tool.finished");
});
