/** `record` and `serve` around a command whose tests send one request each, and an upstream that answers by the request. */
import assert from "node:assert/strict";
import { exchangesOf, headerOf } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { answering, RawUpstream, sse, STREAM_HEAD, write, writeChunk } from "../../support/raw_upstream.ts";
import { type Called, type CallOptions, said, Sandbox } from "../../support/reprise.ts";

/** The key that the tests send unless their environment has another one. */
export const CANARY = "sk-canary-4f1c9be07d2a8365";

/** Body of the errors that the upstream answers, with white space and order that no parser keeps. */
export const ERROR_BODY = '{ "error":{"type" :"api_error",\t"message":"na\\u00efve \u00e9\u{1f600}"} }\n\n';

/** An answer as a test got it. */
export interface Got {
  readonly status: number;
  readonly body: string;
  readonly retry: string | null;
}

/** Lines of JSON. */
export function linesOf(text: string): Json[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Answers of the tests of a call. */
export const gotIn = ({ stdout }: Called): readonly Got[] => linesOf(stdout);

/** A command line that runs a script. */
export function running(script: string): string[] {
  return [Deno.execPath(), "eval", "--quiet", script];
}

/** A sandbox with a fixture and an upstream. */
export class Wrapping extends Sandbox {
  /** Answers `error-N` with the status N, breaks off the stream of `cut-…`, and completes any other. */
  readonly upstream = new RawUpstream(async (connection, request) => {
    const { input } = JSON.parse(new TextDecoder().decode(request.body) || "{}");
    const [, status] = /^error-(\d+)$/.exec(input) ?? [];
    if (status !== undefined) {
      const head = `${status} Wrong\r\ncontent-type: application/json`;
      return await answering(head, ERROR_BODY)(connection, request);
    }
    const created = sse({ type: "response.created", sequence_number: 0, response: { id: "resp_1" } });
    if (String(input).startsWith("cut-")) return await write(connection, `${STREAM_HEAD}5a\r\n${created}`);
    const delta = `${input} ${++this.#answers}`;
    await write(connection, STREAM_HEAD);
    await writeChunk(connection, created);
    await writeChunk(connection, sse({ type: "response.output_text.delta", sequence_number: 1, delta }));
    const response = { id: "resp_1", output: [] };
    await writeChunk(connection, sse({ type: "response.completed", sequence_number: 2, response }));
    await write(connection, "0\r\n\r\n");
  });
  readonly out = `${this.directory}/fixture`;
  readonly #log = `${this.directory}/events`;
  #answers = 0;

  /** Runs `record` with these flags around the tests. */
  record(
    flags: readonly string[],
    tests: readonly string[] | string,
    options: CallOptions = {},
  ): Promise<Called> {
    return this.around(["record", "--upstream", this.upstream.origin, "--out", this.out, ...flags], tests, {
      ...options,
      env: { OPENAI_API_KEY: CANARY, ...options.env },
    });
  }

  /** Runs `record`, which must succeed; returns the answers of the tests. */
  async recorded(
    flags: readonly string[],
    tests: readonly string[],
    options: CallOptions = {},
  ): Promise<readonly Got[]> {
    const called = await this.record(flags, tests, options);
    assert.equal(called.code, 0, said(called));
    return gotIn(called);
  }

  /**
   * Runs a verb around tests that send these inputs one after the other, those joined by `+` at the same time; or around a
   * script.
   */
  around(args: readonly string[], tests: readonly string[] | string, options: CallOptions = {}) {
    const command = running(typeof tests === "string" ? tests : scriptOf(tests));
    return this.call([...args, "--events", this.#log, "--", ...command], options);
  }

  /** Events of the last call. */
  get events(): readonly Json[] {
    return linesOf(Deno.readTextFileSync(this.#log));
  }

  /** The last event of the last call. */
  get ended(): Json {
    return this.events.at(-1);
  }

  get header(): Json {
    return headerOf(this.out);
  }

  /** Inputs of the recorded requests, in order. */
  get inputs(): readonly string[] {
    return exchangesOf(this.out).map(({ request }) => request.body.input);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

/** Fails without a key, as clients do; prints the answer of each request as JSON. */
function scriptOf(tests: readonly string[]): string {
  return `
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
}
