import assert from "node:assert/strict";
import { join } from "node:path";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { ToolFailure } from "../../../../src/tools/tool.ts";
import { run } from "./children.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

const SHELL = { ignore: Deno.build.os === "windows" } as const;
const NO_ARGS = { command: null, argv: null, timeout_seconds: null };

test.long({
  ...SHELL,
  name: "shell says in its first line how the command ended and how much follows, and adds no other word",
  async fn() {
    using workspace = new Workspace();
    const rows: [string, string, string][] = [
      ["echo hi", "ok", "[Exit code 0; 3 bytes of output follow]\nhi\n"],
      ["true", "ok", "[Exit code 0; no output]"],
      ["echo no >&2; exit 3", "error", "[Exit code 3; 3 bytes of output follow]\nno\n"],
      ["kill -9 $$", "error", "[Ended by SIGKILL; no output]"],
      [
        "printf '[Exit code 0; no output]\\n'; exit 1",
        "error",
        "[Exit code 1; 25 bytes of output follow]\n[Exit code 0; no output]\n",
      ],
    ];
    for (const [command, status, output] of rows) {
      assert.deepEqual(await run(workspace, command), { status, output }, command);
    }
  },
});

test.long({
  ...SHELL,
  name: "shell shows beginning and end of a long output, and hands over every byte of it",
  async fn() {
    using workspace = new Workspace();
    for (const maxOutputChars of [200, 1000, 32_000]) {
      // Characters of several bytes, so that a cut may fall inside one.
      for (const end of ["", "é€😀"]) {
        const numbers = Array.from({ length: 30_000 }, (_, index) => String(index + 1).padStart(6, "0"));
        const all = numbers.map((number) => `${number}${end}\n`).join("");
        const { status, output, full } = await run(workspace, `seq -f '%06g${end}' 30000`, {
          maxOutputChars,
        });
        assert.equal(status, "ok");
        assert.equal(new TextDecoder().decode(full?.bytes), all);
        assert(output.length <= maxOutputChars && output.isWellFormed() && !output.includes("\ufffd"));
        if (maxOutputChars < 1000) continue;
        const [first, ...rest] = output.split("\n");
        assert.equal(first, `[Exit code 0; ${new TextEncoder().encode(all).length} bytes of output follow]`);
        assert(all.startsWith(rest.slice(0, 10).join("\n")) && all.endsWith(rest.slice(-10).join("\n")));
      }
    }
  },
});

test.long({
  ...SHELL,
  name: "shell starts argv and simple lines without a shell, everything else with one",
  async fn() {
    using workspace = new Workspace({ "a b.txt": "", "list.sh": '#!/bin/sh\nprintf "<%s>" "$@"\n' });
    Deno.chmodSync(join(workspace.root, "list.sh"), 0o755);
    const context = workspace.context();
    const { output } = await shell.run(
      { ...NO_ARGS, argv: ["./list.sh", "a b", "$HOME", "*", ";", ""] },
      context,
    );
    assert.match(output, /<a b><\$HOME><\*><;><>$/);
    assert.match((await run(workspace, "./list.sh 'a b' \"c\"")).output, /<a b><c>$/);
    assert.match((await run(workspace, "./list.sh *.txt")).output, /<a b\.txt>$/);
    assert.match((await run(workspace, "cd / && pwd")).output, /\n\/\n$/);
  },
});

test.long({
  ...SHELL,
  name: "shell runs in the workspace, wherever the process is",
  async fn() {
    using workspace = new Workspace();
    assert.equal((await run(workspace, "pwd")).output.split("\n")[1], workspace.root);
  },
});

Deno.test("shell passes the exact command to the policy", () => {
  const context = new Workspace();
  using workspace = context;
  const targetOf = (args: object) => shell.subject({ ...NO_ARGS, ...args }, workspace.context()).target;
  assert.deepEqual(targetOf({ command: "git  status" }), {
    kind: "command",
    argv: ["git", "status"],
    line: "git  status",
  });
  assert.deepEqual(targetOf({ command: "git status; id" }), {
    kind: "command",
    argv: null,
    line: "git status; id",
  });
  assert.deepEqual(targetOf({ argv: ["rm", "a b"] }), {
    kind: "command",
    argv: ["rm", "a b"],
    line: "rm 'a b'",
  });
});

Deno.test("shell refuses what is no command before anyone is asked about it", () => {
  using workspace = new Workspace();
  const rows: [object, RegExp][] = [
    [{}, /empty command/],
    [{ command: "  " }, /empty command/],
    [{ argv: [] }, /first element is the program/],
    [{ argv: [""] }, /first element is the program/],
    [{ command: "a", argv: ["b"] }, /one of them must be null/],
    [{ command: "a\0b" }, /NUL/],
    [{ argv: ["a", "b\0"] }, /NUL/],
    [{ command: "echo \ud800" }, /Unicode/],
  ];
  for (const [args, message] of rows) {
    assert.throws(() => shell.subject({ ...NO_ARGS, ...args }, workspace.context()), (error) => {
      assert(error instanceof ToolFailure);
      assert.match(error.message, message);
      return true;
    });
  }
});

test.long({
  ...SHELL,
  name: "shell says why a program cannot be started",
  async fn() {
    using workspace = new Workspace({ "plain.txt": "" });
    const outputOf = async (argv: string[]) =>
      (await shell.run({ ...NO_ARGS, argv }, workspace.context())).output;
    assert.equal(await outputOf(["no-such-program"]), 'Cannot start "no-such-program": no such program');
    assert.equal(await outputOf(["./plain.txt"]), 'Cannot start "./plain.txt": it is not executable');
    assert.match(await outputOf(["ls", "x".repeat(4_000_000)]), /^Cannot (start|finish)/);
    const late = await shell.run({ command: "true", argv: null, timeout_seconds: 601 }, workspace.context());
    assert.equal(late.output, "Cannot wait 601 seconds: give 1 to 600");
  },
});

test.long({
  ...SHELL,
  name: "shell gives a command the listed variables and no other, whatever our environment holds",
  async fn() {
    using workspace = new Workspace();
    const canary = "sk-canary-4711";
    const ours: Record<string, string> = {
      PATH: `relative:${workspace.root}/../bin:.::/usr/bin:/bin`,
      HOME: "/nowhere/somebody",
      LANG: "C.UTF-8",
      LC_ALL: "C.UTF-8",
      TMPDIR: "/tmp",
      USER: "somebody",
      LOGNAME: "somebody",
      CI: "true",
      TERM: "xterm-256color",
      ...Object.fromEntries(
        [
          ..."OPENAI_API_KEY ANTHROPIC_API_KEY AZURE_OPENAI_API_KEY REPRISE_HOME REPRISE_KEY DENO_DIR DENO_AUTH_TOKENS"
            .split(" "),
          ..."LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GIT_SSH_COMMAND GITHUB_TOKEN AWS_SECRET_ACCESS_KEY"
            .split(" "),
          ..."NODE_OPTIONS PYTHONSTARTUP BASH_ENV ENV HTTPS_PROXY SSH_AUTH_SOCK NPM_TOKEN".split(" "),
        ].map((name) => [name, canary]),
      ),
    };
    // In our own environment too: what is not handed over must not be inherited either.
    Deno.env.set("REPRISE_TEST_CANARY", canary);
    try {
      const { output } = await run(workspace, "env", { env: (name) => ours[name] });
      const shown = Object.fromEntries(
        output.trim().split("\n").slice(1).map((
          line,
        ) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
      );
      assert.deepEqual(shown, {
        PATH: `${workspace.root}/../bin:/usr/bin:/bin`,
        HOME: "/nowhere/somebody",
        LANG: "C.UTF-8",
        LC_ALL: "C.UTF-8",
        TMPDIR: "/tmp",
        USER: "somebody",
        LOGNAME: "somebody",
        CI: "true",
        TERM: "dumb",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.bareRepository",
        GIT_CONFIG_VALUE_0: "explicit",
      });
      assert(!output.includes(canary));
    } finally {
      Deno.env.delete("REPRISE_TEST_CANARY");
    }
    const bare = await run(workspace, "env | sort", { env: () => undefined });
    assert.match(bare.output, /\nPATH=\/usr\/local\/bin:\/usr\/bin:\/bin\n/);
    assert(!bare.output.includes("HOME="), bare.output);
  },
});

test.long({
  ...SHELL,
  name: "shell starts no program of the workspace in place of one on the path",
  async fn() {
    using workspace = new Workspace({ "git": "#!/bin/sh\necho INTRUDER\n" });
    Deno.chmodSync(join(workspace.root, "git"), 0o755);
    for (const PATH of [".", "", ":", "./", `:${"/usr/bin:/bin"}`]) {
      const { output } = await run(workspace, "git --version", {
        env: (name) => name === "PATH" ? PATH : undefined,
      });
      assert(!output.includes("INTRUDER"), `${PATH}: ${output}`);
    }
  },
});

test.long({
  ...SHELL,
  name: "shell gives a command no input and no terminal",
  async fn() {
    using workspace = new Workspace();
    // A process of its own, because the input of the test runner is empty anyway.
    const main = join(workspace.outside, "main.ts");
    const source = (path: string) => new URL(path, import.meta.url).href;
    Deno.writeTextFileSync(
      main,
      `import { shell } from ${JSON.stringify(source("../../../../src/tools/shell/shell.ts"))};
      const context = { root: ${JSON.stringify(workspace.root)}, signal: new AbortController().signal,
        protectedPaths: [], env: () => undefined, isHidden: () => false };
      const args = { command: "cat", argv: null, timeout_seconds: 5 };
      await Deno.stdout.write(new TextEncoder().encode((await shell.run(args, context)).output));`,
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--config", new URL("../../../../deno.json", import.meta.url).pathname, main],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode("OURS\n"));
    await input.close();
    const { stdout } = await child.output();
    assert.equal(new TextDecoder().decode(stdout), "[Exit code 0; no output]");
    assert.match((await run(workspace, "tty; : < /dev/tty")).output, /not a tty[^]*\/dev\/tty/);
  },
});
