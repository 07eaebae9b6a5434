/** `serve` in the tests' own process, asked on its loopback socket, and tables of fixtures with requests. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { type HereMachine, HereRun } from "../../support/in_process.ts";
import { test } from "../../support/test.ts";
import { RecordingHome } from "./home.ts";
import { type GivenExchange } from "./recording_files.ts";

/** A request as a test sends it, or as it was recorded. */
export class Sent {
  readonly body: Json;
  readonly method?: string | undefined;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>> = {};
  /** API that `request.json` names. */
  readonly api?: string;
  /** Client that `request.json` names. */
  readonly client?: string;
  /** Answer of a recorded request: an event stream, or JSON. */
  readonly answer: Json = {};
  /** Members of `response.json` of a recorded request. */
  readonly response: Readonly<Record<string, Json>> = {};

  constructor(body: Json, more: Partial<Sent> = {}) {
    Object.assign(this, more, { body });
  }
}

/** A request that needs more than a body; text and bytes are sent as they are, other bodies as JSON. */
export const sent = (body: Json, more: Partial<Omit<Sent, "body">> = {}) => new Sent(body, more);

const withDefaults = (given: Json, path: string): Sent & { readonly path: string } => {
  const whole = given instanceof Sent ? given : new Sent(given);
  return { ...whole, path: whole.path ?? path };
};

/** An exchange of a fixture. */
export function exchangeOf(given: Json, path = "/v1/responses"): GivenExchange {
  const { body, method = "POST", answer, response, ...rest } = withDefaults(given, path);
  const streams = typeof answer === "string";
  return {
    request: {
      ...{ method, path: rest.path, headers: rest.headers, ...recordedBody(body) },
      ...(rest.api === undefined ? {} : { api: rest.api }),
      ...(rest.client === undefined ? {} : { client: rest.client }),
    },
    ...(typeof body === "string" ? { sent: body } : {}),
    response: {
      headers: { "content-type": streams ? "text/event-stream" : "application/json" },
      ...response,
    },
    body: streams || answer instanceof Uint8Array ? answer : JSON.stringify(answer),
  };
}

/** Members of `request.json` about a body; a text has its bytes beside it. */
function recordedBody(body: Json): Readonly<Record<string, Json>> {
  if (body === null || body === undefined) return {};
  if (typeof body === "string") return isJson(body) ? { body: JSON.parse(body) } : {};
  return { body, body_sha256: sha256(JSON.stringify(body)) };
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** The answer that a client got, and the report of the server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** `null` where the connection broke. */
  readonly bytes: Uint8Array | null;
  readonly text: string;
  /** The event of the request, then its warnings. */
  readonly events: readonly Json[];
}

/** Options of a server. */
export interface ServeOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** @default {the workspace of the home} */
  readonly cwd?: string;
  readonly speed?: number;
  readonly machine?: HereMachine;
}

/** A running `serve`. */
export class Served implements AsyncDisposable {
  readonly #run: HereRun;
  #read = 0;

  private constructor(run: HereRun) {
    this.#run = run;
  }

  /** Starts it with these folders, and waits until it is ready. */
  static async start(
    home: RecordingHome,
    folders: readonly string[],
    { flags = [], env = {}, cwd = home.workspace, speed = 1, machine = {} }: ServeOptions = {},
  ): Promise<Served> {
    const args = ["serve", "--json", ...flags, ...folders];
    const run = new HereRun({
      args,
      cwd,
      env: { ...home.environment(), ...env },
      stdin: new Uint8Array(0),
      ...{ speed, machine },
    });
    await run.printed((stdout) => stdout.includes('"type":"ready"'));
    const server = new Served(run);
    if (server.events[0]?.type !== "ready") throw new Error(JSON.stringify(await run.ended));
    return server;
  }

  /** The error of a server that does not start, with its exit code as `exit`. */
  static async refusal(
    home: RecordingHome,
    folders: readonly string[],
    flags: readonly string[] = [],
  ): Promise<Json> {
    const starting = Served.start(home, folders, { cwd: home.directory, flags });
    const reason: string = await starting.then(() => assert.fail("It started"), String);
    const { code, stdout } = JSON.parse(reason.slice("Error: ".length));
    return { exit: code, ...JSON.parse(stdout) };
  }

  /** Events but those of {@linkcode answered}, which come when the client has its answer. */
  get events(): Json[] {
    return this.#all.filter(({ type }) => type !== "answered");
  }

  /** Events about the ends of answers. */
  get answered(): Json[] {
    return this.#all.filter(({ type }) => type === "answered");
  }

  get #all(): Json[] {
    return this.#run.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  get port(): number {
    return this.events[0].port;
  }

  get origin(): string {
    return this.events[0].origin;
  }

  /** Events since the last call. */
  news(): Json[] {
    const all = this.events;
    const news = all.slice(Math.max(1, this.#read));
    this.#read = all.length;
    return news;
  }

  /** Sends a request, and reads its answer to the end. */
  async ask(given: Json, before = "", path = "/v1/responses"): Promise<Answer> {
    const { body, method = "POST", headers, path: asked } = withDefaults(given, path);
    const content = body === null || body === undefined || body === ""
      ? undefined
      : typeof body === "string" || body instanceof Uint8Array
      ? body as BlobPart
      : JSON.stringify(body);
    const type = typeof content === "string" ? "text/plain;charset=UTF-8" : "";
    const answer = await fetch(`${this.origin}${before}${asked}`, {
      ...{ method, headers, redirect: "manual" },
      // The runtime of the binary sends any other body again when the server closes before its answer begins.
      ...(content === undefined ? {} : { body: new Blob([content], { type }) }),
    });
    const bytes = await answer.bytes().catch(() => null);
    const text = bytes === null ? "" : new TextDecoder().decode(bytes);
    return { status: answer.status, headers: answer.headers, bytes, text, events: this.news() };
  }

  /** Ends it; returns its last event, with what it printed for people as `notes`. */
  async end(): Promise<Json> {
    this.#run.stop();
    const { code, stderr } = await this.#run.ended;
    return { ...this.events.at(-1), code, notes: stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#run.stop();
    await this.#run.ended;
  }
}

/**
 * The fate of a request in a few words: the number of the played exchange with its tier, rules and repetition, or
 * another kind of answer with its reason; then the rules of its warnings.
 */
export function outcomeOf({ events: [event, ...warnings] }: Pick<Answer, "events">): string {
  const warned = warnings.length === 0 ? "" : ` (${warnings.map(({ rule }) => rule).join()})`;
  return `${reasonOf(event)}${warned}`;
}

function reasonOf(event: Json): string {
  switch (event?.type) {
    case "played": {
      const { number, tier, rules = [], repeat } = event;
      return [
        ...[number, tier, rules.join() || undefined, repeat && `again ${repeat}`],
      ].filter((word) => word !== undefined).join(" ");
    }
    case "miss": {
      const { nearest, differences: [first] } = event;
      return nearest === null ? "miss" : `miss ${nearest.number} ${first?.path ?? "none"}`;
    }
    case "refused":
      return `refused ${event.rule}`;
    default:
      return [event?.type, event?.code ?? event?.fault].filter((word) => word !== undefined).join(" ");
  }
}

/** A fixture, requests in order, and what each is answered. */
export interface Row {
  /** Path of requests that name none. @default {/v1/responses} */
  readonly path?: string;
  readonly recorded: readonly Json[];
  readonly header?: Readonly<Record<string, Json>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly asked: readonly (readonly [request: Json, outcome: Json])[];
}

/** More rows than the fast suite has time for. */
const MANY_ROWS = 20;

/** Registers a table as one test; each row has a fixture and, as the tests of a suite have, an address of its own. */
export function rows(
  name: string,
  table: Readonly<Record<string, Row>>,
  {
    outcome = outcomeOf,
    register = Object.keys(table).length > MANY_ROWS ? test.long : Deno.test,
    flags: common = [],
    header: shared = {},
    cwd = (home) => home.workspace,
  }: {
    readonly outcome?: (answer: Answer) => Json;
    readonly register?: (name: string, fn: () => Promise<void>) => void;
    /** Flags of all rows. */
    readonly flags?: readonly string[];
    /** Header of all fixtures. */
    readonly header?: Readonly<Record<string, Json>>;
    readonly cwd?: (home: RecordingHome) => string;
  } = {},
): void {
  register(name, async () => {
    await using home = new RecordingHome();
    const found: Record<string, Json> = {};
    const entries = Object.entries(table);
    const groups = Map.groupBy(
      entries,
      ([, { flags = [], env = {} }]) => JSON.stringify([[...common, ...flags], env]),
    );
    for (const [key, group] of groups) {
      const [flags, env] = JSON.parse(key);
      const folder = `rows-${entries.indexOf(group[0] as (typeof entries)[number])}`;
      for (const [index, [, { recorded, header, path }]] of group.entries()) {
        home.fixture(`${folder}/${index}`, recorded.map((given) => exchangeOf(given, path)), {
          ...shared,
          ...header,
        });
      }
      await using server = await Served.start(home, [`${home.directory}/${folder}`], {
        ...{ flags, env, cwd: cwd(home) },
      });
      for (const [index, [sentence, { asked, path }]] of group.entries()) {
        const answers: Json[] = [];
        for (const [request] of asked) answers.push(outcome(await server.ask(request, `/t/${index}`, path)));
        found[sentence] = answers;
      }
    }
    const expected = entries.map(([sentence, { asked }]) => [sentence, asked.map(([, outcome]) => outcome)]);
    assert.deepEqual(found, Object.fromEntries(expected));
  });
}
