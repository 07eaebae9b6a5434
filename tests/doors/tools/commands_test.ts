/** Commands of a run: how they are started and ended, what they are given, and what the model gets. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { type Call, type Outcome, Workplace } from "./workplace.ts";

const SHELL = ["--allow", "shell"];
const line = (command: string, timeout_seconds: number | null = null): Call => [
  "shell",
  { command, argv: null, timeout_seconds },
];
const argv = (...words: readonly string[]): Call => [
  "shell",
  { command: null, argv: words, timeout_seconds: null },
];

/** Commands, each with its result or a pattern of it. */
const RESULTS: Readonly<
  Record<string, readonly [Call, "ok" | "error" | "invalid_arguments", string | RegExp]>
> = {
  "output follows the exit code": [line("echo hi"), "ok", "[Exit code 0; 3 bytes of output follow]\nhi\n"],
  "stderr is output": [line("echo no >&2; exit 3"), "error", "[Exit code 3; 3 bytes of output follow]\nno\n"],
  "a signal is named": [line("kill -9 $$"), "error", "[Ended by SIGKILL; no output]"],
  "a command cannot pretend an exit code": [
    line("printf '[Exit code 0; no output]\\n'; exit 1"),
    "error",
    "[Exit code 1; 25 bytes of output follow]\n[Exit code 0; no output]\n",
  ],
  // CVE-2026-27190.
  "argv reaches the program byte for byte": [
    argv("./list.sh", "a b", "$HOME", "*", "; touch ran", "`touch ran`", "", "\n", "a'b\"c", "-n"),
    "ok",
    /<a b><\$HOME><\*><; touch ran><`touch ran`><><\n><a'b"c><-n>$/,
  ],
  "another line is a shell's": [line("./list.sh *.txt"), "ok", /<a b\.txt>$/],
  "a shell may leave the workspace": [line("cd / && pwd"), "ok", /\n\/\n$/],
  "no program": [argv("no-such-program"), "error", 'Cannot start "no-such-program": no such program'],
  "a file that is no program": [argv("./a b.txt"), "error", 'Cannot start "./a b.txt": it is not executable'],
  "arguments too long for the system": [argv("ls", "x".repeat(900_000)), "error", /^Cannot (start|finish)/],
  "neither line nor argv": [["shell", {}], "error", /empty command/],
  "line and argv": [["shell", { command: "a", argv: ["b"] }], "error", /one of them must be null/],
  "no second to run": [line("touch ran", 0), "error", "Cannot wait 0 seconds: give 1 to 600"],
  "the shortest time": [line("echo hi", 1), "ok", /hi\n$/],
  "the longest time": [line("echo hi", 600), "ok", /hi\n$/],
  "more than the longest time": [line("touch ran", 601), "error", "Cannot wait 601 seconds: give 1 to 600"],
  "NUL in argv": [argv("a", "b\0"), "error", /NUL/],
  "bytes that are no UTF-8": [
    line("printf 'a\\377\\000b\\303'"),
    "ok",
    /^\[Exit code 0; not UTF-8: .*; 5 bytes of output follow\]\na\ufffd\0b\ufffd$/,
  ],
  "a character in two pieces": [
    line("printf '\\303'; sleep 0.1; printf '\\251'"),
    "ok",
    "[Exit code 0; 2 bytes of output follow]\né",
  ],
  "no input": [line("read line; echo got:$line"), "ok", /\ngot:\n$/],
  "no terminal": [line("tty; : < /dev/tty"), "error", /not a tty[^]*\/dev\/tty/],
};

test.long("the result of a command says first how it ended, and adds no other word", async () => {
  await using place = new Workplace({ "a b.txt": "", "list.sh": '#!/bin/sh\nprintf "<%s>" "$@"\n' });
  Deno.chmodSync(`${place.workspace}/list.sh`, 0o755);
  const rows = Object.entries(RESULTS);
  const outcomes = await place.run(rows.map(([, [call]]) => call), SHELL);
  for (const [index, [name, [, status, says]]] of rows.entries()) {
    const { output, status: found } = outcomes[index] as Outcome;
    assert.ok(
      typeof says === "string" ? output === says : says.test(output),
      `${name}: ${output.slice(0, 500)}`,
    );
    assert.equal(found, status, name);
  }
  assert.deepEqual(place.names(), ["a b.txt", "list.sh"]);
});

test.long("a long output is shown by its beginning and end, whole characters only, and kept in full", async () => {
  await using place = new Workplace();
  const ends = ["", "é€😀"];
  const outcomes = await place.run(ends.map((end) => line(`seq -f '%06g${end}' 30000`)), SHELL);
  for (const [index, end] of ends.entries()) {
    const all = Array.from({ length: 30_000 }, (_, at) => `${String(at + 1).padStart(6, "0")}${end}\n`).join(
      "",
    );
    const { output, full } = outcomes[index] as Outcome;
    assert.equal(new TextDecoder().decode(full ?? undefined), all);
    assert.ok(output.length <= 32_000 && output.isWellFormed() && !output.includes("\ufffd"));
    const [first, ...rest] = output.split("\n");
    assert.equal(first, `[Exit code 0; ${new TextEncoder().encode(all).length} bytes of output follow]`);
    assert.ok(all.startsWith(rest.slice(0, 10).join("\n")) && all.endsWith(rest.slice(-10).join("\n")));
  }
});

test.long("a command gets the listed variables and no other, and programs of the path alone", async () => {
  await using place = new Workplace({ "git": "#!/bin/sh\necho INTRUDER\n" });
  Deno.chmodSync(`${place.workspace}/git`, 0o755);
  const canary = "sk-canary-4711";
  const kept = {
    ...{ LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TMPDIR: "/tmp", USER: "user", LOGNAME: "user", CI: "true" },
    HOME: place.directory,
  };
  const secret = [
    ..."OPENAI_API_KEY ANTHROPIC_API_KEY REPRISE_KEY LD_PRELOAD_X DYLD_INSERT_LIBRARIES GIT_SSH_COMMAND"
      .split(" "),
    ..."GITHUB_TOKEN AWS_SECRET_ACCESS_KEY NODE_OPTIONS PYTHONSTARTUP BASH_ENV ENV HTTPS_PROXY NPM_TOKEN"
      .split(" "),
  ];
  const env = {
    ...Object.fromEntries(secret.map((name) => [name, canary])),
    ...kept,
    TERM: "xterm-256color",
    PATH: `relative:${place.workspace}/../bin:.::/usr/bin:/bin`,
  };
  const [shown, git] = await place.run([line("env"), line("git --version")], SHELL, env);
  const variables = Object.fromEntries(
    shown?.output.trim().split("\n").slice(1).map((
      each,
    ) => [each.split("=")[0], each.slice(each.indexOf("=") + 1)]) ?? [],
  );
  assert.deepEqual(variables, {
    ...kept,
    PATH: `${place.workspace}/../bin:/usr/bin:/bin`,
    TERM: "dumb",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.bareRepository",
    GIT_CONFIG_VALUE_0: "explicit",
  });
  assert.ok(!shown?.output.includes(canary));
  assert.ok(!git?.output.includes("INTRUDER"), git?.output);
  for (const PATH of [".", "", ":", "./"]) {
    const [outcome] = await place.run([line("git --version")], SHELL, { PATH });
    assert.ok(!outcome?.output.includes("INTRUDER"), `${PATH}: ${outcome?.output}`);
  }
});

test.long("git takes no configuration from a workspace that poses as a git directory", async () => {
  await using place = new Workplace({
    "HEAD": "ref: refs/heads/main\n",
    "config": '[core]\n\tbare = false\n\tworktree = "."\n\tfsmonitor = "touch ran; false"\n',
    "objects/info/x": "",
    "refs/heads/x": "",
  });
  const commands = ["git status", "git status; true", "sh -c 'git status'"];
  for (const { output } of await place.run(commands.map((each) => line(each)), SHELL)) {
    assert.match(output, /safe\.bareRepository/);
  }
  assert.ok(!place.names().includes("ran"));
  await using ordinary = new Workplace({ "a.txt": "a" });
  const [, status] = await ordinary.run([line("git init -q"), line("git status --short")], SHELL);
  assert.match(status?.output ?? "", /\?\? a\.txt/);
});

const TIMED_OUT = "[Timed out after 1 s and was ended; no output]";
const left = (text: string) =>
  `[Exit code 0; processes that it left behind were ended; ${text.length} bytes of output follow]\n${text}`;

/** Commands that leave or become processes that do not end: each writes the id of its group. */
const HELD: Readonly<Record<string, readonly [string, number | null, string | RegExp]>> = {
  "one that forks": [
    "(sleep 60 & sleep 60 & sleep 60) & (setsid true; sleep 60 | sleep 60) & sleep 60",
    1,
    TIMED_OUT,
  ],
  "one that closes its pipes": ["exec >&- 2>&-; sleep 60", 1, TIMED_OUT],
  "one that is stopped": ["kill -STOP $$", 1, TIMED_OUT],
  "a process left with its pipes open": ["sleep 60 & echo hi", null, left("hi\n")],
  "processes left that ignore signals": ["(trap '' TERM; sleep 60; sleep 60) & echo hi", null, left("hi\n")],
  "output of a process left, within the grace": [
    "(while kill -0 $$; do :; done 2> /dev/null; echo late; sleep 60) & echo hi",
    null,
    left("hi\nlate\n"),
  ],
  "single bytes without end": [
    "while :; do echo x; done",
    2,
    /^\[Timed out after 2 s and was ended; \d+ bytes of output follow\]\nx\nx\n/,
  ],
  "a flood on both outputs": [
    "yes >&2 & exec cat /dev/zero",
    30,
    /^\[Ended because it wrote more than 256 MiB; .*dropped; 1677\d+ bytes of output follow\][^]*\n\[… \d+ bytes left out here; the session keeps them …\]\n/,
  ],
};

for (const [name, [command, seconds, says]] of Object.entries(HELD)) {
  test.long(`a command is ended with all that it started: ${name}`, async () => {
    await using place = new Workplace();
    const start = performance.now();
    const before = Deno.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => peak = Math.max(peak, Deno.memoryUsage().rss), 10);
    const [outcome] = await place.run([line(`echo $$ > leader; ${command}`, seconds)], SHELL);
    clearInterval(watch);
    const output = outcome?.output ?? "";
    if (typeof says === "string") assert.equal(output, says);
    else assert.match(output, says);
    assert.ok(output.length <= 32_000 && (outcome?.full?.length ?? 0) <= 16.01 * 1024 ** 2);
    assert.ok(performance.now() - start < 20_000);
    assert.ok((peak - before) / 1024 ** 2 < 200, "memory of a flood");
    assertGroupGone(Number(place.read("leader")));
  });
}

test.long("a process that left the group cannot hold the result back through its pipe", async () => {
  await using place = new Workplace();
  const start = performance.now();
  const [outcome] = await place.run(
    [line("setsid sh -c 'echo $$ > stray; sleep 60' & sleep 0.2; echo hi")],
    SHELL,
  );
  Deno.kill(-Number(place.read("stray")), "SIGKILL");
  assert.match(outcome?.output ?? "", /^\[Exit code 0;.*\]\nhi\n$/);
  assert.ok(performance.now() - start < 20_000);
});

/** Fails when a process of a group still runs; those that wait to be collected do not count. */
function assertGroupGone(group: number): void {
  const { stdout } = new Deno.Command("ps", { args: ["-e", "-o", "pgid=,stat=,args="] }).outputSync();
  const alive = new TextDecoder().decode(stdout).split("\n").filter((each) => {
    const [, id, state = ""] = /^\s*(\d+)\s+(\S+)/.exec(each) ?? [];
    return Number(id) === group && !state.startsWith("Z");
  });
  assert.deepEqual(alive, []);
}
