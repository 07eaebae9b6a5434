/**
 * Support for tests of `record` with one recording for each test: the program as a server in front of an upstream that
 * echoes.
 */
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type CallOptions, Sandbox, type Started } from "../support/reprise.ts";
import { answering, pause, RawUpstream } from "../support/raw_upstream.ts";

/** An upstream that answers with the path and the body that it got, up to `delayMs` later. */
export function echoing({ delayMs = 0 } = {}): RawUpstream {
  return new RawUpstream(async (connection, request) => {
    await pause(Math.random() * delayMs);
    const [, path] = request.head.split(" ");
    const body = JSON.stringify({ path, got: new TextDecoder().decode(request.body) });
    await answering("200 OK\r\ncontent-type: application/json", body)(connection, request);
  });
}

/** `record` as a server for any client. */
export class RecordServer {
  readonly started: Started;
  readonly origin: string;

  private constructor(started: Started, origin: string) {
    this.started = started;
    this.origin = origin;
  }

  /** Starts the server, and waits until it listens. */
  static async start(
    sandbox: Sandbox,
    args: readonly string[],
    options: Omit<CallOptions, "stdin"> = {},
  ): Promise<RecordServer> {
    const started = sandbox.start(["record", "--json", ...args], options);
    await started.printed("\n");
    const ready = JSON.parse(started.stdout.split("\n", 1)[0] as string);
    // A call that fails prints its error and then ends.
    if (ready.type !== "ready") await started.ended();
    assert.equal(ready.type, "ready", started.stdout);
    return new RecordServer(started, ready.origin);
  }

  /** Sends a JSON body, and returns the status with the answer. */
  async post(path: string, body: unknown): Promise<{ status: number; answer: Json }> {
    const response = await fetch(`${this.origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: await response.json() };
  }

  /** Ends the recording as Ctrl-C does, and returns its exit code with its events. */
  async end(): Promise<{ code: number; stderr: string; events: Json[] }> {
    this.started.process.kill("SIGINT");
    const { code, stderr, stdout } = await this.started.ended();
    return { code, stderr, events: stdout.trimEnd().split("\n").map((line) => JSON.parse(line)) };
  }
}

/** A folder for recordings, and an upstream. */
export class TestFolder extends Sandbox {
  readonly upstream: RawUpstream;
  readonly out = `${this.directory}/suite`;
  readonly #servers: RecordServer[] = [];

  constructor(upstream: RawUpstream = echoing()) {
    super();
    this.upstream = upstream;
  }

  /** Starts `record` into the folder. */
  async record(
    flags: readonly string[] = [],
    options: Omit<CallOptions, "stdin"> = {},
  ): Promise<RecordServer> {
    const where = ["--upstream", this.upstream.origin, "--out", this.out];
    const server = await RecordServer.start(this, [...where, ...flags], options);
    this.#servers.push(server);
    return server;
  }

  /** Names in the folder. */
  names(path = this.out): string[] {
    return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const { started } of this.#servers) {
      try {
        started.process.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await started.ended();
    }
    await this.upstream[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}
