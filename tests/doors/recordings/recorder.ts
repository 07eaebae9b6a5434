/** `record` in the tests' own process, in front of an upstream that a test scripts. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { type HereCall, type HereMachine, HereRun } from "../../support/in_process.ts";
import type { Sandbox } from "../../support/reprise.ts";
import { exchangesOf, headerOf, type ReadExchange } from "./recording_files.ts";

/** Options of a recording. */
export interface RecordOptions {
  /** Name of the folder. @default {"recorded"} */
  readonly out?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly disk?: HereCall["disk"];
  readonly machine?: HereMachine;
  /** @default {the workspace of the home} */
  readonly cwd?: string;
}

/** A running `record`. */
export class Recorder implements AsyncDisposable {
  /** Path of the folder. */
  readonly out: string;
  readonly #run: HereRun;

  private constructor(run: HereRun, out: string) {
    this.#run = run;
    this.out = out;
  }

  /** Starts it, and waits until it is ready. */
  static async start(
    sandbox: Sandbox,
    upstream: string,
    {
      out = "recorded",
      flags = [],
      env = {},
      disk = (files) => files,
      cwd = sandbox.workspace,
      machine = {},
    }: RecordOptions = {},
  ): Promise<Recorder> {
    const path = `${sandbox.directory}/${out}`;
    const run = new HereRun({
      args: ["record", "--json", "--upstream", upstream, "--out", path, ...flags],
      cwd,
      env: { ...sandbox.environment(), ...env },
      stdin: new Uint8Array(0),
      ...{ disk, machine },
    });
    const recorder = new Recorder(run, path);
    await run.printed((stdout) => stdout.includes('"type":"ready"'));
    if (recorder.events[0]?.type !== "ready") {
      throw new Error(`It is not ready: ${JSON.stringify(await run.ended)}`);
    }
    return recorder;
  }

  /** Events so far. */
  get events(): Json[] {
    return this.#run.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** Events of exchanges so far. */
  get exchanges(): Json[] {
    return this.events.filter(({ type }) => type === "exchange");
  }

  get origin(): string {
    return this.events[0].origin;
  }

  /** Sends a request through the recorder. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.origin}${path}`, { redirect: "manual", ...init });
  }

  /** A `POST` with a JSON body. */
  post(path: string, body: Json, init: RequestInit = {}): Promise<Response> {
    return this.fetch(path, { method: "POST", body: JSON.stringify(body), ...init });
  }

  /** Sends a `POST` and reads its answer. */
  async ask(path: string, body: Json, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const answer = await this.post(path, body, init);
    return { status: answer.status, text: await answer.text() };
  }

  /** Waits until `count` events of a type were printed. */
  async reported(count: number, type = "exchange"): Promise<void> {
    await this.#run.printed((stdout) => stdout.split(`"type":"${type}"`).length > count);
  }

  /** Ends the recording; returns its last event, with what it printed for people as `notes`. */
  async end(...codes: readonly number[]): Promise<Json> {
    this.#run.stop();
    const { code, stdout, stderr } = await this.#run.ended;
    if (codes.length > 0) assert.ok(codes.includes(code), `${code}\n${stdout}${stderr}`);
    return { ...this.events.at(-1), code, notes: stderr };
  }

  /** Ends the recording with 0, and reads what it left. */
  async fixture(): Promise<{ readonly header: Json; readonly exchanges: ReadExchange[] }> {
    await this.end();
    return { header: headerOf(this.out), exchanges: exchangesOf(this.out) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#run.stop();
    await this.#run.ended;
  }
}
