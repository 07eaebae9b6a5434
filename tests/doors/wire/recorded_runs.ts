/** Runs whose server is a recording of given answers. */
import { type Called, events } from "../../support/reprise.ts";
import type { Json } from "../../support/files.ts";
import { SessionHome } from "../sessions/home.ts";
import { writeFixture } from "../recordings/recording_files.ts";

/** The APIs that a run speaks. */
export type Api = "responses" | "messages";
/** A stream, or an answer with a status; a body that is no text is JSON. */
export type Answer =
  | string
  | Uint8Array
  | readonly [status: number, body: Json, headers?: Readonly<Record<string, string>>];

/** Options of a run. */
export interface Given {
  /** @default {"responses"} */
  readonly api?: Api;
  /** @default {"s"} */
  readonly session?: string;
  readonly flags?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** More members of the first `response.json`, such as a fault. */
  readonly first?: Json;
}

/** Output of a run, and the turns that it left. */
export interface Recorded extends Called {
  readonly lines: readonly Json[];
  readonly error: Json;
  readonly retries: readonly Json[];
  readonly turns: readonly Json[];
}

const TO = {
  responses: {
    path: "/v1/responses",
    provider: "openai",
    model: "gpt-5.6",
    base: "https://api.openai.com/v1",
  },
  messages: {
    ...{ path: "/v1/messages", provider: "anthropic", model: "claude-opus-5-5" },
    base: "https://api.anthropic.com",
  },
};

/** A home whose runs play recordings that tests write. */
export class RecordedRuns extends SessionHome {
  #count = 0;
  readonly #sessions = new Set<string>();

  /** Runs once against these answers, in this order; prints JSON. */
  async run(answers: readonly Answer[], given: Given = {}): Promise<Recorded> {
    const { session = "s" } = given;
    const called = await this.print(answers, { ...given, flags: ["--json", ...given.flags ?? []] });
    const lines = events(called);
    return {
      ...called,
      lines,
      error: lines.find(({ type }) => type === "error"),
      retries: lines.filter(({ type, kind }) => type === "notice" && kind === "retry"),
      turns: this.turns(session),
    };
  }

  /** Runs once as {@linkcode run} does, and prints text. */
  print(
    answers: readonly Answer[],
    { api = "responses", session = "s", flags = [], env = {}, first }: Given,
  ): Promise<Called> {
    const { provider, model, path, base } = TO[api];
    const exchanges = answers.map((answer, index) => {
      const [status, body, headers] = Array.isArray(answer) ? answer : [200, answer];
      const isText = typeof body === "string" || body instanceof Uint8Array;
      const type = isText ? "text/event-stream" : "application/json";
      const response = { status, headers: { "content-type": type, ...headers } };
      return {
        request: { path },
        response: index === 0 ? { ...response, ...first } : response,
        body: isText ? body : JSON.stringify(body),
      };
    });
    const header = { provider, base_url: base, models: [model] };
    const fixture = writeFixture(`${this.directory}/server-${++this.#count}`, exchanges, header);
    const isNew = !this.#sessions.has(session);
    this.#sessions.add(session);
    const to = [...(isNew ? ["--new"] : []), "-s", session, "-p", provider, "-m", model];
    return this.call(["run", ...to, "--fixture", fixture, "--match", "sequence", ...flags, "Go"], { env });
  }
}
