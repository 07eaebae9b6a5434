/** A project whose tests use the helpers of the npm package or the plugin for pytest, and the APIs that it records from. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { until } from "../cli/harness.ts";
import { textsBelow } from "../support/files.ts";
import { type Block, blocksOf, sectionOf } from "../support/page.ts";
import { installed, type Packages, pathWith } from "./npm_packages.ts";
import { processesIn, Project } from "./project.ts";
import { startSuiteApis, type SuiteApis } from "./suite_apis.ts";

/** Name of the npm package in the docs. */
const PACKAGE = "@reprise-cli/reprise";
/** Packages of the tests in docs/recording.md. */
export const PACKAGES: Packages = [
  "vitest@4.1.12",
  "openai@6.49.0",
  "typescript@5.9.3",
  "@types/node@24.10.1",
];
/** Blocks of docs/recording.md about tests with helpers. */
export const BLOCKS: readonly Block[] = blocksOf(
  sectionOf(
    Deno.readTextFileSync(new URL("../../docs/recording.md", import.meta.url)),
    "One recording for each test",
  ),
);
/** Blocks of README.md about tests with helpers. */
export const README_BLOCKS: readonly Block[] = blocksOf(
  sectionOf(
    Deno.readTextFileSync(new URL("../../README.md", import.meta.url)),
    "Give each test its own recording",
  ),
);
/** A key that must get into no recording. */
export const KEY = "sk-test-4f1d0c7ea9-of-helpers";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A project; `this.write` replaces its files. */
export class HelperProject extends Project {
  readonly apis: SuiteApis = startSuiteApis();
  #path = "/usr/bin:/bin";
  #isRunning = true;

  /**
   * Installs the packages, and the helpers as the npm package has them. Writes files of a page, which is docs/recording.md
   * unless `blocks` are those of another, and others.
   */
  async prepare(
    packages: Packages,
    ofPage: readonly string[],
    files: Readonly<Record<string, string>> = {},
    blocks = BLOCKS,
  ): Promise<void> {
    this.#path = `${await pathWith(packages)}:${dirname(Deno.execPath())}`;
    const modules = `${this.root}/node_modules`;
    Deno.mkdirSync(`${modules}/${PACKAGE}`, { recursive: true });
    const cache = packages.length === 0 ? null : await installed(packages);
    for (const { name } of cache === null ? [] : Deno.readDirSync(cache)) {
      Deno.symlinkSync(`${cache}/${name}`, `${modules}/${name}`);
    }
    for (const [name, text] of textsBelow(`${ROOT}npm/helpers`)) {
      this.write(`node_modules/${PACKAGE}/helpers/${name}`, text);
    }
    this.write(`node_modules/${PACKAGE}/resolve.cjs`, Deno.readTextFileSync(`${ROOT}npm/resolve.cjs`));
    const exported = ["index", "vitest", "node", "deno"].map((name) => [
      name === "index" ? "." : `./${name}`,
      { types: `./helpers/${name}.d.ts`, default: `./helpers/${name}.js` },
    ]);
    const manifest = { name: PACKAGE, version: "0.0.0", exports: Object.fromEntries(exported) };
    this.write(`node_modules/${PACKAGE}/package.json`, JSON.stringify(manifest));
    this.write("package.json", JSON.stringify({ type: "module" }));
    this.write("python/pytest_reprise.py", Deno.readTextFileSync(`${ROOT}python/pytest_reprise.py`));
    const pytest = `#!/bin/sh\nexec /usr/bin/python3 -m pytest -q -p no:cacheprovider "$@"\n`;
    Deno.writeTextFileSync(`${this.directory}/bin/pytest`, pytest, { mode: 0o755 });
    for (const file of ofPage) {
      const block = blocks.find(({ path }) => path === file);
      if (block === undefined) throw new Error(`The page has no ${file}`);
      this.write(file, block.text);
    }
    for (const [file, text] of Object.entries(files)) this.write(file, text);
  }

  /** Runs a command with the variables of the APIs while these run. */
  async runs(command: string, env: Readonly<Record<string, string>> = {}) {
    const live = this.#isRunning ? { ...this.apis.env, OPENAI_API_KEY: KEY } : {};
    return await this.attempt(command, this.#path, { ...this.#toolEnvironment(), ...live, ...env });
  }

  /** Runs a command, which must succeed. @returns its output. */
  async passes(command: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, output } = await this.runs(command, env);
    assert.equal(code, 0, output);
    return output;
  }

  /** Variables that the helpers and Deno need. */
  #toolEnvironment(): Record<string, string> {
    const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
    return {
      REPRISE_BINARY_PATH: `${this.directory}/bin/reprise`,
      PYTHONPATH: `${this.root}/python:${this.root}`,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${cache}/deno`,
      DENO_NO_UPDATE_CHECK: "1",
    };
  }

  /** Starts a program of the project; the caller ends it. */
  spawn(
    [command = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Deno.ChildProcess {
    return new Deno.Command(command, {
      args,
      cwd: this.root,
      clearEnv: true,
      env: { ...this.environment(), ...this.#toolEnvironment(), PATH: this.#path, ...this.apis.env, ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
  }

  /** Stops the APIs, and takes their variables and the key away: only recordings are left. */
  async goOffline(): Promise<void> {
    this.#isRunning = false;
    await this.apis[Symbol.asyncDispose]();
  }

  /** Replaces a text in a file of the project. */
  edit(path: string, from: string, to: string): void {
    const text = Deno.readTextFileSync(`${this.root}/${path}`);
    if (!text.includes(from)) throw new Error(`${path} does not have ${from}`);
    this.write(path, text.replaceAll(from, to));
  }

  /** Command lines of the processes that work in the project. */
  processes(): string[] {
    return processesIn(this.root).map(({ command }) => command);
  }

  /** Waits until no process has its working directory in the project. */
  async ends(): Promise<void> {
    await until(() => this.processes().length === 0, "the end of all processes");
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isRunning) await this.goOffline();
    await super[Symbol.asyncDispose]();
  }
}
