/**
 * Support for the harness of killed recorders and pruners: an API with slow answers, a folder for each kill, and the
 * program as the reader of what is left.
 */
import assert from "node:assert/strict";
import { answerText, responseStream } from "../doors/wire/streams_answers.ts";
import type { Sandbox, Started } from "../support/reprise.ts";
import { bodyOf, listen, type Listening, splitBytes } from "../support/scripted_api/server.ts";
import { signal } from "./killing.ts";

/** A request to a recorder: the test that it names, and its `input`. */
export interface Asked {
  /** `null` for a path without a test. */
  readonly test: string | null;
  readonly input: string;
}

/** Returns the recorded answer to an input. */
export function answerTo(input: string): string {
  return responseStream([answerText(`You asked: ${input}. ${"So be it. ".repeat(600)}`)]);
}

/** An API that sends {@linkcode answerTo} in pieces, and counts its requests. */
export class SlowApi implements AsyncDisposable {
  readonly #server: Listening;
  readonly #asked: { readonly client: string | null; readonly input: string }[] = [];

  constructor() {
    this.#server = listen(async (incoming) => {
      const { input } = await incoming.json();
      this.#asked.push({ client: incoming.headers.get("user-agent"), input });
      const pieces = splitBytes(new TextEncoder().encode(answerTo(input)), 4000);
      return new Response(
        bodyOf(pieces, { delayMs: 1, then: "close", stopped: this.#server.stopped }),
        { headers: { "content-type": "text/event-stream; charset=utf-8" } },
      );
    });
  }

  get origin(): string {
    return this.#server.origin;
  }

  /** Returns the inputs that arrived from a client, sorted. */
  inputsOf(client: string): string[] {
    return this.#asked.filter((each) => each.client === client).map(({ input }) => input).sort();
  }

  async [Symbol.asyncDispose]() {
    await this.#server.stop();
  }
}

/** Sends a request to the API at `origin`, and returns the text of a good answer. */
export async function post(origin: string, { test, input }: Asked, client = "client"): Promise<string> {
  const response = await fetch(`${origin}${test === null ? "" : `/t/${test}`}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": client },
    body: JSON.stringify({ model: "gpt-5.6", input, store: false, stream: true }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

/** Waits until a server of the program listens. @returns its origin. */
export async function originOf(run: Started): Promise<string> {
  await run.printed('"type":"ready"');
  return /"origin":"([^"]+)"/.exec(run.stdout)?.[1] ?? assert.fail(run.stdout);
}

/**
 * Sends these requests to a started recorder or server, those of one test in order, and ends it as its user does.
 *
 * @param options.client Name of the client.
 * @param options.onAnswer Called after each answer.
 */
export async function askAll(
  run: Started,
  asked: readonly Asked[],
  { client, onAnswer }: { readonly client?: string; readonly onAnswer?: () => void } = {},
): Promise<void> {
  const origin = await originOf(run);
  const byTest = Map.groupBy(asked, ({ test }) => test);
  await Promise.all(
    byTest.values().map(async (requests) => {
      for (const request of requests) {
        await post(origin, request, client);
        onAnswer?.();
      }
    }),
  );
  run.process.kill("SIGTERM");
}

/** Runs a recorder for these requests of a client to its end, which must be good. */
export async function recorded(
  sandbox: Sandbox,
  args: readonly string[],
  { asked, client }: { readonly asked: readonly Asked[]; readonly client: string },
): Promise<void> {
  const run = sandbox.start(args);
  await askAll(run, asked, { client });
  const { code, stdout, stderr } = await run.ended();
  assert.equal(code, 0, stdout + stderr);
}

/** Returns the number of exchanges of each test that the recorder reported as published. A cut line reported nothing. */
export function acknowledged(stdout: string): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const [line] of stdout.matchAll(/^\{"type":"exchange","state":"published".*\}\n/gm)) {
    const { test = null } = JSON.parse(line);
    counts.set(test, (counts.get(test) ?? 0) + 1);
  }
  return counts;
}

/**
 * Asserts that `lint` finds no error in the fixtures below a folder, and that `serve` plays each of them, by its name, to
 * the last exchange.
 */
export async function assertPlays(
  { sandbox }: { readonly sandbox: Sandbox },
  folder: string,
  fixtures: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const lint = await sandbox.call(["fixture", "lint", "--json", folder]);
  assert.equal(lint.code, 0, lint.stdout + lint.stderr);
  const serve = sandbox.start(["serve", "--json", "--strict-usage", folder]);
  try {
    const origin = await originOf(serve);
    for (const [test, inputs] of fixtures) {
      for (const input of inputs) assert.equal(await post(origin, { test, input }), answerTo(input));
    }
  } finally {
    signal(serve, "SIGTERM");
  }
  const { code, stdout, stderr } = await serve.ended();
  assert.equal(code, 0, stdout.split("\n").filter((line) => !line.includes('"played"')).join("\n") + stderr);
}
