// @ts-self-types="./index.d.ts"
/**
 * Plays the recording of a test, or records it. docs/recording.md shows how to use it.
 *
 * @module
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beginRequests, endRequests, runAs } from "./network.js";
import { placeOf } from "./places.js";
import { count, note } from "./counts.js";
import { gateway, serverFor } from "./server.js";

/** Exit code of a report about refused connections only: that of other differences from a recording. */
const REFUSED_EXIT_CODE = 7;
const RECORDING_MODES = ["new", "missing", "all"];
const dispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** Recordings in use. Test runners may load this module several times into one process. */
const inUse = globalThis[Symbol.for("reprise.inUse")] ??= new Set();

/** Error of a test whose requests differ from its recording, or could not be recorded. */
export class ReplayError extends Error {
  /** @type {import("./index.js").TestReport} */
  report;

  constructor(message, report, options) {
    super(message, options);
    this.name = "ReplayError";
    this.report = report;
    // Its place in the helpers says nothing, and runners would show their code.
    this.stack = `ReplayError: ${message}`;
  }
}

/**
 * Begins a test: plays its recording, or records it if `REPRISE_RECORD` says so.
 *
 * @param {string | URL} folder
 * @param {import("./index.js").ReplayOptions} options
 * @returns {Promise<import("./index.js").TestApi>}
 */
export async function replay(folder, options) {
  return (await begin(folder, options)).api;
}

async function begin(folder, options) {
  const { test, allowUnused = false, blockNetwork = false, allowNetwork = [] } = options;
  const { directory, name } = placeOf(folder, options);
  const recording = join(directory, name);
  if (inUse.has(recording)) {
    throw new Error(`Two tests at a time use the recording "${recording}": give them different names`);
  }
  inUse.add(recording);
  try {
    const plan = planFor(directory, name, options);
    const server = await serverFor(plan.args, process.env);
    const { REPRISE_REPRESENTS: represented = "{}", ...environment } = server.environment;
    const overrides = Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, withTest(value, name)]),
    );
    await gateway.ask({ type: "begin", test: name, environment: overrides });
    const upstreams = Object.entries(JSON.parse(represented)).flatMap(([ours, url]) =>
      Object.keys(environment).filter((variable) => environment[variable] === ours && URL.canParse(url))
        .map((variable) => ({ variable, url }))
    );
    const running = { overrides, upstreams, blockNetwork, allowNetwork, refused: [] };
    beginRequests(running);
    note({ recording });
    const parts = { test, name, recording, plan, server, overrides, allowUnused, running };
    return { api: new TestApi(parts), running };
  } catch (error) {
    inUse.delete(recording);
    throw error;
  }
}

/**
 * Runs a test: begins it, calls `run`, and ends it. For adapters of test runners.
 *
 * @template T
 * @param {string | URL} folder
 * @param {import("./index.js").ReplayOptions} options
 * @param {(api: import("./index.js").TestApi) => T | Promise<T>} run
 * @returns {Promise<T>}
 */
export async function replayDuring(folder, options, run) {
  const { api, running } = await begin(folder, options);
  let result;
  try {
    result = await runAs(running, () => run(api));
  } catch (error) {
    throw await api.explain(error);
  }
  await api.end();
  return result;
}

class TestApi {
  #parts;
  #isEnded = false;

  constructor(parts) {
    this.#parts = parts;
    this.env = { ...process.env, ...parts.overrides };
  }

  get recording() {
    return this.#parts.recording;
  }

  get records() {
    return this.#parts.plan.records;
  }

  get openai() {
    return this.url("OPENAI_BASE_URL");
  }

  get anthropic() {
    return this.url("ANTHROPIC_BASE_URL");
  }

  url(variable) {
    const { overrides } = this.#parts;
    const url = overrides[variable];
    if (url !== undefined) return url;
    const known = Object.keys(overrides).filter((name) => URL.canParse(overrides[name])).join(", ");
    throw new Error(
      `No base URL is known for ${variable}, only for ${known}\n` +
        `hint: record with ${variable} set, or name the API in "upstreams"`,
    );
  }

  async end() {
    const report = await this.#report(this.#parts.allowUnused, true);
    if (report !== null && report.exit_code !== 0) throw new ReplayError(this.#message(report), report);
  }

  async explain(error) {
    // A test that failed may have stopped before its last request.
    const report = await this.#report(true, false).catch(() => null);
    if (report === null || report.exit_code === 0) return error;
    const message = this.#message(report);
    if (error === undefined) return new ReplayError(message, report);
    const why = error instanceof Error ? error.message : String(error);
    return new ReplayError(`${message}\nThe test failed with: ${why}`, report, { cause: error });
  }

  async [dispose]() {
    try {
      await this.end();
    } catch (error) {
      // If the test failed too, its runner may show only that an error was suppressed.
      process.stderr.write(`${error.message}\n`);
      throw error;
    }
  }

  /** Ends the test once; `null` afterwards. */
  async #report(allowUnused, passed) {
    if (this.#isEnded) return null;
    this.#isEnded = true;
    const { name, recording, server, running } = this.#parts;
    try {
      const prune = process.env.REPRISE_RECORD === "prune";
      const asked = { type: "end", test: name, allow_unused: allowUnused, prune };
      const { exit_code, messages } = await gateway.ask(asked);
      const { refused } = running;
      const own = await server.ask({ ...asked, passed: passed && exit_code === 0 && refused.length === 0 });
      const report = {
        ...own,
        exit_code: own.exit_code || exit_code || (refused.length === 0 ? 0 : REFUSED_EXIT_CODE),
        messages: [...refused, ...messages, ...own.messages],
      };
      for (const note of own.notes) process.stderr.write(`${note}\n`);
      count(report);
      return report;
    } finally {
      endRequests(running);
      inUse.delete(recording);
    }
  }

  #message({ messages }) {
    const { test, recording } = this.#parts;
    const lines = messages.map((message) => `- ${message}`).join("\n");
    return `The test "${test}" does not match its recording "${recording}":\n${lines}`;
  }
}

/** Returns the arguments of the server for a test, and the step after the test. */
function planFor(directory, name, { serve = [], record = [], upstreams = {}, faults = [] }) {
  const flags = [...serve, ...faults.flatMap((fault) => ["--fault", fault])];
  const mode = process.env.REPRISE_RECORD ?? "";
  if (statSync(directory, { throwIfNoEntry: false })?.isFile()) {
    throw new Error(`Cannot keep recordings in "${directory}": it is a file\nhint: name a folder`);
  }
  const isRecorded = existsSync(join(directory, name, "fixture.json"));
  if (!RECORDING_MODES.includes(mode) || mode === "new" && isRecorded) {
    return { args: ["serve", directory, "--suite", "--json", "--quiet", ...flags], records: false };
  }
  const env = Object.entries(upstreams).flatMap(([variable, url]) => ["--env", `${variable}=${url}`]);
  const kept = ["--mode", mode === "all" ? "all" : "missing", "--out", directory];
  return {
    args: ["record", ...kept, "--suite", "--json", ...env, ...faultsIn(flags), ...record],
    records: true,
  };
}

/** Returns the faults in the flags of `serve`: a recorded test is played with them at once. */
function faultsIn(flags) {
  return flags.filter((flag, index) => /^--fault(=|$)/.test(flag) || flags[index - 1] === "--fault");
}

/** Puts the name of a test into a base URL; other values stay. */
function withTest(value, name) {
  if (!/^https?:\/\//.test(value)) return value;
  const { origin, pathname } = new URL(value);
  return `${origin}/t/${name}${pathname.replace(/\/$/, "")}`;
}
