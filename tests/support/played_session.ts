/**
 * Sessions that are played in this process: a fixture of scripted answers replies to each run, and tools run in a
 * scratch workspace.
 */
import { messagesRequest } from "../../src/apis/messages/rules/request.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { loadVerbs } from "../../src/cli/load_verbs.ts";
import { main } from "../../src/cli/main.ts";
import { createScratch, type TestScratch } from "../../src/cli/test/scratch.ts";
import { playStep, StepProcess } from "../../src/cli/test/step.ts";
import type { SessionEvent } from "../../src/domain/event.ts";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { DropReason, Turn } from "../../src/domain/turn.ts";
import type { StepKill } from "../../src/fixture/session/session_file.ts";
import { type GivenExchange, writeFixture } from "../doors/recordings/recording_files.ts";
import { encodeMessagesEvents, messagesEvents } from "./messages_server/events.ts";
import { MessagesIssuer } from "./messages_server/issuer.ts";
import type { ScriptedAnswer } from "./messages_server/script.ts";
import { DIALECTS } from "./responses_server/dialect.ts";
import { answerEvents, encodeEvents } from "./responses_server/events.ts";
import { Issuer } from "./responses_server/issuer.ts";
import type { ScriptedResponse } from "./responses_server/script.ts";

/** One run of the session `s`. */
export interface GivenRun {
  /** Flags and prompt. @default {["Go"]} */
  readonly args?: readonly string[];
  /** The recorded answers, in order. */
  readonly answers?: readonly ScriptedResponse[];
  /** The same from a Messages API. */
  readonly says?: readonly ScriptedAnswer[];
  /** @default {"openai"}, or `anthropic` with `says` */
  readonly provider?: ProviderKind;
  /** @default {"gpt-5.6"}, or `claude-opus-5-5` with `says` */
  readonly model?: string;
  readonly baseUrl?: string;
  /** The organization that Responses answers name. */
  readonly organization?: string;
  /** Faults by the number of the exchange, from 1. */
  readonly faults?: Readonly<Record<number, string>>;
  readonly kill?: StepKill;
}

/** The body of a request to either API. */
export interface PlayedRequest {
  readonly input?: readonly JsonObject[];
  readonly messages?: readonly { readonly content: readonly JsonObject[] }[];
  readonly tools?: readonly JsonObject[];
  readonly max_output_tokens?: number;
}

/** The end of a run, and what it sent. */
export interface PlayedRun {
  readonly exit: number;
  readonly state: string | null;
  /** The code of its error; `null` if it reported none. */
  readonly code: string | null;
  /** The bodies of its requests. */
  readonly requests: readonly PlayedRequest[];
}

/** A session `s` in a home of its own. */
export class PlayedSession implements AsyncDisposable {
  readonly #directory: string;
  readonly #scratch: TestScratch;
  readonly #issuer = new Issuer(DIALECTS.openai, "org-test");
  readonly #messagesIssuer = new MessagesIssuer(() => true);
  #runs = 0;

  private constructor(directory: string, scratch: TestScratch) {
    this.#directory = directory;
    this.#scratch = scratch;
  }

  /** Creates a home, and a workspace that holds `files`. */
  static async open(files: Readonly<Record<string, string>> = {}): Promise<PlayedSession> {
    const directory = Deno.makeTempDirSync({ prefix: "reprise-test-" });
    const session = new PlayedSession(directory, await createScratch(livePorts(), directory));
    for (const [name, content] of Object.entries(files)) {
      Deno.writeTextFileSync(`${session.workspace}/${name}`, content);
    }
    return session;
  }

  /** The directory of the tools. */
  get workspace(): string {
    return this.#scratch.workspace;
  }

  /** Plays the next run. The first one begins the session. */
  run(given: GivenRun): Promise<PlayedRun> {
    const { args, ...played } = this.#next(given);
    return this.#play(args, { ...played, kill: given.kill });
  }

  /** Plays the next run for a person, without `--json` and with these variables too, and returns its stdout. */
  async stdoutOf(given: GivenRun, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const { args, fixture, number } = this.#next(given);
    const { home, workspace } = this.#scratch;
    const { ports } = new StepProcess(livePorts(), {
      scratch: this.#scratch,
      clock: createdAt(number),
      stdin: "",
      kill: undefined,
    });
    let printed = "";
    const stdout = {
      isTerminal: () => false,
      writeSync(bytes: Uint8Array) {
        printed += new TextDecoder().decode(bytes);
        return bytes.length;
      },
    };
    const flags = ["--home", home, "-w", workspace, "--fixture", fixture, "--match", "sequence"];
    const env = (name: string) => variables[name] ?? ports.env(name);
    await main([...args, ...flags], { ...ports, stdout, env }, loadVerbs);
    return printed;
  }

  #next(given: GivenRun) {
    const { args = ["Go"], model = given.says === undefined ? "gpt-5.6" : "claude-opus-5-5" } = given;
    const number = ++this.#runs;
    const fixture = this.#writeFixture(`${this.#directory}/${number}`, given, model);
    const begins = number === 1 ? ["--new", "--instructions", "Be brief."] : [];
    return { args: ["run", ...begins, "-s", "s", "-m", model, ...args], fixture, number };
  }

  /** Calls another verb. */
  call(...args: readonly string[]): Promise<PlayedRun> {
    return this.#play(args, { fixture: null, number: this.#runs });
  }

  async #play(
    args: readonly string[],
    { fixture, number, kill }: {
      readonly fixture: string | null;
      readonly number: number;
      readonly kill?: StepKill | undefined;
    },
  ): Promise<PlayedRun> {
    const { exit, state, said, requests } = await playStep({
      args: [...args],
      exit: 0,
      ...(kill === undefined ? {} : { kill }),
    }, {
      ports: livePorts(),
      scratch: this.#scratch,
      fixture,
      clock: createdAt(number),
      signal: new AbortController().signal,
    });
    const [, code = null] = /^([a-z_]+): /.exec(said) ?? [];
    return { exit, state, code, requests: requests.map(({ body }) => JSON.parse(body)) };
  }

  #writeFixture(path: string, given: GivenRun, model: string): string {
    const { answers = [], says = [], organization, faults = {} } = given;
    const provider = given.provider ?? (says.length > 0 ? "anthropic" : "openai");
    const account: Record<string, string> = organization === undefined
      ? {}
      : { "openai-organization": organization };
    const exchanges = [
      ...answers.map((each) => this.#responsesExchange(each, model, account)),
      ...says.map((each) => this.#messagesExchange(each, model)),
    ].map((exchange, index): GivenExchange => {
      const fault = faults[index + 1];
      return fault === undefined ? exchange : { ...exchange, response: { ...exchange.response, fault } };
    });
    return writeFixture(path, exchanges, {
      created: createdAt(this.#runs),
      provider,
      models: [model],
      base_url: given.baseUrl ??
        (provider === "anthropic" ? "https://api.anthropic.com" : "https://api.openai.com/v1"),
    });
  }

  #responsesExchange(
    response: ScriptedResponse,
    model: string,
    headers: Readonly<Record<string, string>>,
  ): GivenExchange {
    if (response.kind === "bytes") throw new TypeError("Raw bytes are not played here");
    if (response.kind === "http") {
      return {
        response: { status: response.status, headers: { ...headers, ...response.headers } },
        body: response.body,
      };
    }
    const body = { model, stream_options: { include_obfuscation: false } };
    const context = { issuer: this.#issuer, dialect: DIALECTS.openai, body };
    const { events } = answerEvents(response.items, response.options, context);
    return {
      response: { headers: { ...headers, "content-type": "text/event-stream" } },
      body: encodeEvents(events, DIALECTS.openai, response.options),
    };
  }

  #messagesExchange(answer: ScriptedAnswer, model: string): GivenExchange {
    if (answer.kind !== "stream") throw new TypeError("Only streams of Messages are played here");
    const request = messagesRequest({ model, stream: true }, {});
    const { events } = messagesEvents(answer.blocks, answer.options, request, this.#messagesIssuer);
    return { request: { path: "/v1/messages" }, body: encodeMessagesEvents(events) };
  }

  /** The turns of the session, oldest first. */
  turns(): Turn[] {
    const directory = `${this.#scratch.home}/sessions/s/turns`;
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort()
      .map((name) => JSON.parse(Deno.readTextFileSync(`${directory}/${name}`)));
  }

  /** The events of one kind, oldest first. */
  events<Type extends SessionEvent["type"]>(type: Type): Extract<SessionEvent, { readonly type: Type }>[] {
    return this.turns().flatMap(({ events }) => events)
      .filter((event): event is Extract<SessionEvent, { readonly type: Type }> => event.type === type);
  }

  /** The reasons for which the last request with a recorded response left items out, in order. */
  dropped(): DropReason[] {
    const last = this.turns().findLast(({ kind }) => kind === "model");
    return last?.kind === "model" ? last.request.guard.dropped.map(({ reason }) => reason) : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#scratch[Symbol.dispose]();
    await Deno.remove(this.#directory, { recursive: true });
  }
}

/** Each run begins an hour after the one before. */
function createdAt(number: number): string {
  return new Date(Date.parse("2026-11-21T20:18:00.000Z") + number * 3_600_000).toISOString();
}
