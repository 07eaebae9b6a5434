/** A project of a reader of the docs, in which the pages' commands run. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import { Sandbox, SHELL_PROGRAM } from "../support/reprise.ts";
import { exists } from "../../scripts/npm_packages.ts";
import { HERE, type Place } from "./agent_run.ts";
import { daysAhead } from "./moved_clock.ts";

/** Processes that work in a directory, or whose command lines name it; Linux only. */
export function processesIn(directory: string): { readonly pid: number; readonly command: string }[] {
  if (Deno.build.os !== "linux") return [];
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ");
      const isIn = Deno.readLinkSync(`/proc/${name}/cwd`).startsWith(directory) ||
        command.includes(directory);
      return isIn ? [{ pid: Number(name), command }] : [];
    } catch {
      // It has ended.
      return [];
    }
  });
}

/** Project of a reader; may move from one place to another. */
export class Project extends Sandbox {
  #place: Place;

  /** Makes a project at a place. */
  constructor(place: Place = HERE) {
    super();
    this.#place = place;
    this.write("greeting.txt", "hello\n");
    Deno.mkdirSync(`${this.directory}/bin`);
    const shim = `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`;
    Deno.writeTextFileSync(`${this.directory}/bin/reprise`, shim, { mode: 0o755 });
  }

  /** Directory of the project, at its present place. */
  get root(): string {
    return `${this.directory}/${this.#place.directory}`;
  }

  /** Writes a file of the project. */
  write(path: string, content: string): void {
    const full = `${this.root}/${path}`;
    Deno.mkdirSync(dirname(full), { recursive: true });
    Deno.writeTextFileSync(full, content);
  }

  /** Names of the recordings in a folder, with the number of their exchanges. */
  recordings(folder: string): Record<string, number> {
    const names = [...Deno.readDirSync(`${this.root}/${folder}`)].map(({ name }) => name).sort();
    return Object.fromEntries(
      names.map((name) => [name, exchangesOf(`${this.root}/${folder}/${name}`).length]),
    );
  }

  /** Ends what agents leave running, such as the daemon of Cline. */
  override async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of processesIn(this.directory)) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
    await super[Symbol.asyncDispose]();
  }

  /** Commits all files to the repository of the project, which the first call makes. */
  async commit(): Promise<void> {
    const person = "-c user.name=Ada -c user.email=ada@example.com";
    const commit =
      `git init -q; git add -A; git ${person} commit -q --allow-empty -m 'At ${this.#place.directory}'`;
    await this.shell(commit, "/usr/bin:/bin", {});
  }

  /** Links a `node_modules`, as a checkout on each machine has its own. */
  link(modules: string): void {
    Deno.symlinkSync(modules, `${this.root}/node_modules`);
  }

  /** Moves the project, and commits to its repository, if it has one; nothing is left behind. */
  async moveTo(place: Place): Promise<void> {
    const { home } = this.#place;
    const from = this.root;
    this.#place = place;
    Deno.mkdirSync(dirname(this.root), { recursive: true });
    Deno.renameSync(from, this.root);
    Deno.removeSync(`${this.directory}/${home}`, { recursive: true });
    if (exists(`${this.root}/.git`)) await this.commit();
  }

  /** Runs a script, which must succeed. @returns its output. */
  async shell(script: string, path: string, env: Readonly<Record<string, string>>): Promise<string> {
    const { code, output } = await this.attempt(script, path, env);
    assert.equal(code, 0, `${script}${output}`);
    return output;
  }

  /** Runs a script. @returns its exit code and its output. */
  async attempt(
    script: string,
    path: string,
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number; readonly output: string }> {
    const home = `${this.directory}/${this.#place.home}`;
    Deno.mkdirSync(home, { recursive: true });
    const { days, user, timezone } = this.#place;
    const shell = ["timeout", "-k", "5", "100", "sh", "-e", "-c", script];
    const [command = "", ...args] = daysAhead(days, shell);
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args,
      cwd: this.root,
      clearEnv: true,
      env: {
        ...this.environment(),
        HOME: home,
        USER: user,
        LOGNAME: user,
        TZ: timezone,
        PATH: `${this.directory}/bin:${path}`,
        PYTHONDONTWRITEBYTECODE: "1",
        NO_COLOR: "1",
        // Nothing but this machine is asked.
        HTTPS_PROXY: "http://127.0.0.1:9",
        // For Claude Code, if this is root.
        IS_SANDBOX: "1",
        ...env,
      },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, output: `${decoder.decode(stdout)}${decoder.decode(stderr)}` };
  }
}
