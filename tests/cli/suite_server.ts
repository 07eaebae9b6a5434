/** A running `serve --suite` or `record --suite`, which a process of tests talks to by its stdin. */
import type { Json } from "../support/files.ts";
import type { Sandbox } from "../support/reprise.ts";
import { Serving } from "./serving.ts";

/** Running server with its stdin. */
export class SuiteServer implements AsyncDisposable {
  readonly #serving: Serving;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  #ended = 0;
  #asked = 0;

  private constructor(serving: Serving) {
    this.#serving = serving;
    this.#stdin = serving.started.process.stdin.getWriter();
  }

  static async start(sandbox: Sandbox, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return new SuiteServer(
      await Serving.start(sandbox, [...args, "--suite", "--json"], { stdin: "piped", env }),
    );
  }

  /** Base URLs of the known APIs, as "VARIABLE URL". */
  get upstreams(): string[] {
    return this.#serving.events[0].upstreams.map(({ variable, url }: Json) => `${variable} ${url}`);
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#serving.events[0].environment;
  }

  /** Base URL of a test. */
  baseUrl(test: string): string {
    return `${this.#serving.origin}/t/${test}${new URL(this.environment.OPENAI_BASE_URL ?? "").pathname}`;
  }

  /** Asks as a client of a test; returns the status. */
  async ask(test: string, input: unknown): Promise<number> {
    const { pathname } = new URL(`${this.baseUrl(test)}/responses`);
    return (await this.#serving.post(pathname, { model: "gpt-5.6", input })).status;
  }

  async line(text: string): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(`${text}\n`));
  }

  /** Waits until the server has begun a test. */
  async began(test: string): Promise<void> {
    await this.#serving.started.printed(JSON.stringify({ type: "test.began", test }));
  }

  /** Asks for the requests without a test. */
  async strays(): Promise<string[]> {
    await this.line('{"type":"strays"}');
    await this.#serving.started.printed('"strays"', ++this.#asked);
    return this.#serving.events.at(-1).requests;
  }

  /** Ends a test; returns its report. */
  async end(test: string, more: object = {}): Promise<Json> {
    await this.line(JSON.stringify({ type: "end", test, ...more }));
    await this.#serving.started.printed('"test.ended"', ++this.#ended);
    return this.#serving.events.at(-1);
  }

  /** Waits for the reports of `count` tests that were ended by {@linkcode line}; a server without them is killed. */
  async reports(count: number): Promise<Json[]> {
    const timer = setTimeout(() => this.#serving.started.process.kill("SIGKILL"), 20_000);
    await this.#serving.started.printed('"test.ended"', this.#ended += count);
    clearTimeout(timer);
    return this.#serving.events.slice(-count);
  }

  /** Closes stdin, as the end of the process of tests does. */
  async over() {
    await this.#stdin.close();
    return await this.#serving.started.ended();
  }

  /** Ends the server of a failed test too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stdin.abort().catch(() => {/* it has ended */});
    await this.#serving[Symbol.asyncDispose]();
  }

  /** Waits for the end of a server that ends by itself. */
  async ended() {
    const called = await this.#serving.started.ended();
    await this.#stdin.abort().catch(() => {});
    return called;
  }
}
