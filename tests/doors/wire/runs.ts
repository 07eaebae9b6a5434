/** Runs against a scripted API on loopback: the requests that each sent, and the turns that it left. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import {
  type MessagesServer,
  type MessagesServerOptions,
  startMessagesServer,
} from "../../support/scripted_api/messages.ts";
import { ending, events, said } from "../../support/reprise.ts";
import {
  type ResponsesServer,
  type ServerOptions,
  startResponsesServer,
} from "../../support/scripted_api/responses.ts";
import { test } from "../../support/test.ts";
import { ID, SessionHome } from "../sessions/home.ts";
import type { GivenTurn } from "../sessions/session_files.ts";
import { brokenRules } from "./next_request.ts";

/** A run of a row. */
export interface GivenRun {
  /** `null` continues the run before. @default {"Go"} */
  readonly prompt?: string | null;
  readonly flags?: readonly string[];
  /** @default {"sk-1"} */
  readonly key?: string;
  /** The server represents OpenAI's own endpoint. */
  readonly isOpenAi?: true;
  /** A path of the same server, which makes it another endpoint. */
  readonly path?: string;
  /** Exit code. @default {0} */
  readonly exit?: number;
  /** Its requests as the row shows them, with a space between two. */
  readonly sent?: string;
  /** A pattern of its error, code, message and hint in one text. */
  readonly says?: RegExp;
}

/** A scripted API and a session. */
export interface Row<Options> {
  readonly server: () => Options;
  readonly runs: readonly GivenRun[];
  /** Shows a request; by default by the number of its reasoning items. */
  readonly show?: (request: Json) => string | number;
  /** The notices on disk: reason and actions of each. */
  readonly notices?: string;
  /** Requests that break the rules on purpose, or of a server that has other rules. */
  readonly isLenient?: boolean;
  /** Requests that do not fold to the bytes that were sent any more. */
  readonly differing?: number;
  /** Files of the workspace, beside `a.txt` that says alpha. */
  readonly files?: Readonly<Record<string, string>>;
  /** The turns of the session before its first run. @default {none: a new session} */
  readonly turns?: readonly GivenTurn[];
  /** Another writer left the session in a state that needs a repair. */
  readonly isDamaged?: true;
  readonly also?: (runs: Runs, ran: readonly Ran[]) => Promise<void> | void;
}

/** Outcome of a run. */
export interface Ran {
  readonly code: number;
  readonly events: readonly Json[];
  readonly ended: Json;
  readonly error: Json;
  readonly requests: readonly Json[];
}

/** A home with a session whose requests go to a server. */
export class Runs extends SessionHome {
  readonly server: ResponsesServer | MessagesServer;
  readonly #flags: readonly string[];

  constructor(server: ResponsesServer | MessagesServer, flags: readonly string[]) {
    super();
    this.server = server;
    this.#flags = flags;
    Deno.writeTextFileSync(`${this.workspace}/a.txt`, "alpha\n");
  }

  /** Runs once. What `--dry-run --body` shows before is what it sends first. */
  async run(
    { prompt = "Go", flags = [], key = "sk-1", isOpenAi, path = "", ...expected }: GivenRun = {},
  ): Promise<Ran> {
    const base = this.server.baseUrl.replace("/v1", `${path}/v1`);
    const isNew = !existsSync(`${this.home}/sessions/${ID}`);
    const args = ["-s", ID, "--base-url", base, ...this.#flags, ...flags, ...prompt === null ? [] : [prompt]];
    const represents = JSON.stringify({ [base]: "https://api.openai.com/v1" });
    const env = isOpenAi ? { REPRISE_REPRESENTS: represents } : {};
    const options = { env: { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, ...env } };
    const preview = isNew ? null : await this.call(["run", "--dry-run", "--body", ...args], options);
    const first = this.server.requests.length;
    const called = await this.call(["run", "--json", ...(isNew ? ["--new"] : []), ...args], options);
    assert.equal(called.code, expected.exit ?? 0, said(called));
    const all: Json[] = events(called);
    const sent = this.server.requests.slice(first);
    if (preview !== null && sent[0] !== undefined) {
      assert.equal(preview.stdout.trim(), sent[0].text, "the preview");
    }
    const error = all.find(({ type }) => type === "error");
    if (expected.says !== undefined) assert.match(JSON.stringify(error ?? null), expected.says);
    return {
      code: called.code,
      events: all,
      ended: ending(called),
      error,
      requests: sent.map(({ body }) => body as Json),
    };
  }

  /** All events on disk of a type. */
  written(type: string): Json[] {
    return this.turns(ID).flatMap(({ events }) => events).filter((event) => event.type === type);
  }

  /** The notices on disk. */
  notices(): string {
    return this.turns(ID).flatMap(({ events }) => events).flatMap(
      ({ type, reason, items, call_seqs }: Json) => {
        if (type === "calls_as_text") return [`${type}: ${call_seqs.length}`];
        if (type !== "replay_notice") return [];
        const done = items.map(({ action, field }: Json) =>
          field === undefined ? action : `${action} ${field}`
        );
        return [`${reason}: ${done.join(" ")}`];
      },
    ).join("; ");
  }

  /** Fails unless the files are sound, and every request is built again from them. */
  async requireSound(differing = 0): Promise<void> {
    const called = await this.call(["fsck", ID, "--requests", "--json"]);
    const { sessions: [{ findings, requests }] } = JSON.parse(called.stdout);
    assert.deepEqual(findings.filter(({ severity }: Json) => severity !== "info"), []);
    const unlike = (requests ?? []).filter(({ verdict }: Json) => verdict !== "same");
    assert.equal(unlike.length, differing, JSON.stringify(unlike));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await super[Symbol.asyncDispose]();
  }
}

const reasoningCount = ({ input, messages }: Json) =>
  (input ?? messages.flatMap(({ content }: Json) => content)).filter(({ type }: Json) =>
    /reasoning|thinking/.test(type)
  ).length;

/** Registers the test of a row. */
export function runRow(name: string, row: Row<ServerOptions>): void {
  register(name, row, () => startResponsesServer({ rules: "none", ...row.server() }), ["-m", "gpt-5.6"]);
}

/** Registers the test of a row with the Messages API. */
export function runMessagesRow(
  name: string,
  row: Row<MessagesServerOptions> & { readonly model: string },
): void {
  register(name, row, () => startMessagesServer(row.server()), ["-p", "anthropic", "-m", row.model]);
}

function register(
  name: string,
  {
    runs: given,
    show = reasoningCount,
    notices,
    isLenient,
    differing,
    files = {},
    turns,
    isDamaged,
    also,
  }: Row<unknown>,
  start: () => ResponsesServer | MessagesServer,
  flags: readonly string[],
): void {
  test.long(name, async () => {
    await using runs = new Runs(start(), flags);
    for (const [name, text] of Object.entries(files)) {
      Deno.writeTextFileSync(`${runs.workspace}/${name}`, text);
    }
    if (turns !== undefined) runs.session(turns);
    const ran = [];
    for (const [index, each] of given.entries()) {
      const { requests, ...outcome } = await runs.run(each);
      if (each.sent !== undefined) assert.equal(requests.map(show).join(" "), each.sent, `run ${index + 1}`);
      for (const body of isLenient ? [] : requests) assert.deepEqual(brokenRules(body), []);
      ran.push({ requests, ...outcome });
    }
    if (notices !== undefined) assert.equal(runs.notices(), notices);
    await also?.(runs, ran);
    if (!isDamaged) await runs.requireSound(differing);
  });
}
