/** A running `serve`, and suites to serve. */
import { writeFixture } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import type { Called, Sandbox } from "../support/reprise.ts";

/** The body of a request. */
export const bodyOf = (input: string) => ({ model: "gpt-5.6", input });
/** An exchange that answers `input`. */
const exchange = (input: string, answer: string, path = "/v1/responses") => ({
  request: { path, body: bodyOf(input) },
  response: { headers: { "content-type": "application/json" } },
  body: JSON.stringify({ answer }),
});

/** Answer that a client got. */
interface Got {
  readonly status: number;
  readonly body: Json;
}

/** A running `serve`, and what it reported in the end. */
export class Serving implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #started: ReturnType<Sandbox["start"]>;
  #origin = "";

  private constructor(sandbox: Sandbox, args: readonly string[]) {
    this.#sandbox = sandbox;
    const events = `${sandbox.directory}/events`;
    this.#started = sandbox.start(["serve", "--rules", "none", "--events", events, ...args]);
  }

  static async start(sandbox: Sandbox, ...args: readonly string[]): Promise<Serving> {
    const serving = new Serving(sandbox, args);
    await serving.#started.printed('"ready"');
    serving.#origin = JSON.parse(serving.#started.stdout.split("\n")[0] ?? "").origin;
    return serving;
  }

  /** Asks with a path such as `/t/a/v1/responses`. */
  async ask(path: string, input: string): Promise<Got> {
    const response = await fetch(`${this.#origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(bodyOf(input)),
    });
    return { status: response.status, body: await response.json() };
  }

  async asksTest(test: string, input: string): Promise<Got> {
    return await this.ask(`/t/${test}/v1/responses`, input);
  }

  get port(): number {
    return Number(new URL(this.#origin).port);
  }

  /** Ends the server by SIGTERM; returns how it ended and its events. */
  async end(): Promise<Called & { readonly events: Json[]; readonly ended: Json }> {
    this.#started.process.kill("SIGTERM");
    const called = await this.#started.ended();
    const events = Deno.readTextFileSync(`${this.#sandbox.directory}/events`).trimEnd().split("\n")
      .map((line) => JSON.parse(line));
    return { ...called, events, ended: events.at(-1) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#started.process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#started.ended();
  }
}

/** Writes a suite with a fixture for each of these tests; returns its folder. */
export function writeSuite(sandbox: Sandbox, tests: readonly string[], name = "suite"): string {
  const suite = `${sandbox.directory}/${name}`;
  for (const test of tests) {
    writeFixture(`${suite}/${test}`, [exchange("Hi", `${test} 1`), exchange("And?", `${test} 2`)]);
  }
  return suite;
}
