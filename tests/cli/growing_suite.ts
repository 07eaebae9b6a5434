/**
 * A suite that grows: a command whose tests each send one request, an upstream that answers by the request, and a
 * fixture between them.
 */
import assert from "node:assert/strict";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import { type Called, type CallOptions, Sandbox } from "../support/reprise.ts";
import { answering, RawUpstream, sse, STREAM_HEAD, write, writeChunk } from "../support/raw_upstream.ts";

/** The key that the suite sends unless a test takes it away. */
export const CANARY = "sk-canary-4f1c9be07d2a8365";

/** Bodies of the errors that the upstream answers, with white space and order that no parser keeps. */
export const ERROR_BODY = '{ "error":{"type" :"api_error",\t"message":"na\\u00efve \u00e9\u{1f600}"} }\n\n';

/** An answer as a client of the suite got it. */
export interface Got {
  readonly status: number;
  readonly body: string;
  readonly retry: string | null;
}

/** A sandbox with a fixture and an upstream. */
export class GrowingSuite implements AsyncDisposable {
  /** Answers `error-N` with the status N, breaks off the stream of `cut-…`, and completes any other. */
  readonly upstream = new RawUpstream(async (connection, request) => {
    const { input } = JSON.parse(new TextDecoder().decode(request.body) || "{}");
    const [, status] = /^error-(\d+)$/.exec(input) ?? [];
    if (status !== undefined) {
      return await answering(`${status} Wrong\r\ncontent-type: application/json`, ERROR_BODY)(
        connection,
        request,
      );
    }
    const created = sse({ type: "response.created", sequence_number: 0, response: { id: "resp_1" } });
    if (String(input).startsWith("cut-")) return await write(connection, `${STREAM_HEAD}5a\r\n${created}`);
    const text = `${input} ${++this.#answers}`;
    const delta = sse({ type: "response.output_text.delta", sequence_number: 1, delta: text });
    const completed = sse({
      ...{ type: "response.completed", sequence_number: 2 },
      response: { id: "resp_1", output: [] },
    });
    await write(connection, STREAM_HEAD);
    for (const event of [created, delta, completed]) await writeChunk(connection, event);
    await write(connection, "0\r\n\r\n");
  });
  readonly sandbox = new Sandbox();
  readonly out = `${this.sandbox.directory}/fixture`;
  readonly log = `${this.sandbox.directory}/events`;
  #answers = 0;
  #stopped: Promise<void> | null = null;

  /** Runs `record` with these flags while the tests run. */
  record(flags: readonly string[], tests: readonly string[], options: CallOptions = {}): Promise<Called> {
    const where = ["--upstream", this.upstream.origin, "--out", this.out, "--events", this.log];
    return this.sandbox.call(["record", ...where, ...flags, "--", ...command(tests)], {
      ...options,
      env: { OPENAI_API_KEY: CANARY, ...options.env },
    });
  }

  /** Runs `record`, which must succeed. @returns the answers that the tests got. */
  async recorded(
    flags: readonly string[],
    tests: readonly string[],
    options: CallOptions = {},
  ): Promise<readonly Got[]> {
    const called = await this.record(flags, tests, options);
    assert.equal(called.code, 0, called.stderr);
    return gotIn(called);
  }

  /** Plays the fixture to the tests. @returns the answers that they got. */
  async served(tests: readonly string[]): Promise<readonly Got[]> {
    const called = await this.sandbox.call(["serve", this.out, "--", ...command(tests)]);
    assert.equal(called.code, 0, called.stderr);
    return gotIn(called);
  }

  /** The events of the last recording, between the first and the last. */
  events(): readonly Json[] {
    return this.#lines().slice(1, -1);
  }

  /** The last event of the last recording. */
  ended(): Json {
    return this.#lines().at(-1);
  }

  #lines(): readonly Json[] {
    return Deno.readTextFileSync(this.log).trimEnd().split("\n").map((line) => JSON.parse(line));
  }

  /** The inputs of the recorded requests, in order. */
  get inputs(): readonly string[] {
    return exchangesOf(this.out).map(({ request }) => request.body.input);
  }

  /** Stops the upstream: from now on no request gets there. */
  stopUpstream(): Promise<void> {
    return this.#stopped ??= this.upstream[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopUpstream();
    await this.sandbox[Symbol.asyncDispose]();
  }
}

/** The answers that the tests of a call got. */
export function gotIn({ stdout }: Called): readonly Got[] {
  return stdout.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/**
 * A command whose tests send one request each, one after the other; tests whose names are joined by `+` at the same time.
 * It fails if it has no key, as clients do.
 */
function command(tests: readonly string[]): string[] {
  const script = `
    const key = Deno.env.get("OPENAI_API_KEY");
    if (!key) throw new Error("The OPENAI_API_KEY environment variable is missing");
    const ask = async (input) => {
      try {
        const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer " + key },
          body: JSON.stringify({ model: "m", input, stream: true }),
        });
        const { status, headers } = response;
        return { status, body: await response.text(), retry: headers.get("x-should-retry") };
      } catch (error) {
        return { status: 0, body: String(error), retry: null };
      }
    };
    for (const group of ${JSON.stringify(tests)}) {
      for (const got of await Promise.all(group.split("+").map(ask))) console.log(JSON.stringify(got));
    }`;
  return [Deno.execPath(), "eval", "--quiet", script];
}
