/** A running `serve` or `record` for any client, and suites to serve. */
import assert from "node:assert/strict";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import type { CallOptions, Sandbox, Started } from "../support/reprise.ts";

/** Body of a request. */
export const bodyOf = (input: string) => ({ model: "gpt-5.6", input });

/** A running server. */
export class Serving implements AsyncDisposable {
  readonly started: Started;
  /** `http://127.0.0.1:PORT`. */
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
  ): Promise<Serving> {
    const started = sandbox.start(args, options);
    await started.printed("\n");
    const ready = JSON.parse(started.stdout.split("\n", 1)[0] as string);
    // A call that fails prints its error and then ends.
    if (ready.type !== "ready") await started.ended();
    assert.equal(ready.type, "ready", started.stdout);
    return new Serving(started, ready.origin);
  }

  /** Events on stdout so far. */
  get events(): Json[] {
    return this.started.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
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

  /** Ends the server as Ctrl-C does, and returns its exit code with its events. */
  async end(): Promise<{ code: number; stderr: string; events: Json[] }> {
    this.started.process.kill("SIGINT");
    const { code, stderr } = await this.started.ended();
    return { code, stderr, events: this.events };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.started.process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.started.ended();
  }
}

/** Writes a suite with a fixture for each of these tests; returns its folder. */
export function writeSuite({ directory }: Sandbox, tests: readonly string[], name = "suite"): string {
  const suite = `${directory}/${name}`;
  const response = { headers: { "content-type": "application/json" } };
  for (const test of tests) {
    const exchanges = ["Hi", "And?"].map((input, index) => ({
      request: { path: "/v1/responses", body: bodyOf(input) },
      response,
      body: JSON.stringify({ answer: `${test} ${index + 1}` }),
    }));
    writeFixture(`${suite}/${test}`, exchanges);
  }
  return suite;
}
