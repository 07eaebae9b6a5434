/**
 * A Responses API on this machine that can be stopped and started again at the same address.
 *
 * @module
 */
import { isJsonObject } from "../../src/domain/json.ts";
import { counted } from "../../src/domain/text.ts";
import {
  answer,
  message,
  type RecordedRequest,
  type ResponsesServer,
  startResponsesServer,
} from "../../tests/support/responses_server.ts";
import { listen, type Listening } from "../../tests/support/serving.ts";
import { unexpected } from "./terminal.ts";

/** The accepted key. */
export const KEY = "sk-rehearsal-4f1d0c7ea9-never-recorded";

/** Answers by a word of the prompt; other prompts are repeated. */
const ANSWERS: Readonly<Record<string, string>> = { France: "Paris.", river: "The Seine." };

/** An API that counts its requests. */
export class StoppableApi implements AsyncDisposable {
  #api: ResponsesServer | null = null;
  #front: Listening | null = null;
  #port = 0;
  #requests = 0;
  #counted = 0;

  /** Base URL for clients, known from the first start on. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  /** Starts the API. */
  start(): void {
    const api = startResponsesServer({ script: answerTo, key: KEY });
    this.#api = api;
    this.#front = listen(async (incoming) => {
      this.#requests++;
      const { method, headers } = incoming;
      const target = new URL(new URL(incoming.url).pathname, api.baseUrl);
      return await fetch(target, { method, headers, body: await incoming.text() });
    }, this.#port);
    this.#port = Number(new URL(this.#front.origin).port);
  }

  /** Stops the API. Requests fail until it is started again. */
  async stop(): Promise<void> {
    await this.#front?.stop();
    await this.#api?.stop();
    this.#front = this.#api = null;
  }

  /**
   * Checks the number of requests since the last call.
   *
   * @throws {RepriseError} `unexpected` if it is not `expected`.
   */
  received(expected: number): void {
    const count = this.#requests - this.#counted;
    this.#counted = this.#requests;
    if (count !== expected) {
      throw unexpected(`the API received ${counted(count, "request")}, not ${expected}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function answerTo({ body }: RecordedRequest) {
  const prompt = isJsonObject(body) ? String(body["input"]) : "";
  const [, text = `You asked: ${prompt}`] = Object.entries(ANSWERS).find(([word]) => prompt.includes(word)) ??
    [];
  return answer([message(text)]);
}
