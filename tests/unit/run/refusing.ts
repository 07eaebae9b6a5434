/**
 * Runs against a server that refuses, in this process: each run opens the session again from its files.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ReplayNoticeEvent, SessionEvent } from "../../../src/domain/event.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import type { Turn, TurnDraft } from "../../../src/domain/turn.ts";
import type { RunEnded, RunEvent } from "../../../src/run/events.ts";
import { executeRun } from "../../../src/run/loop.ts";
import { previewRequest } from "../../../src/run/preview.ts";
import { verifySession } from "../../../src/run/verify.ts";
import type { RunSetup } from "../../../src/run/setup.ts";
import { livePorts } from "../../../src/cli/live_ports.ts";
import { type FsckFinding, fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths } from "../../../src/store/layout.ts";
import { readBlob, readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { createLiveSend } from "../../../src/transport/live.ts";
import { ID, testPorts, withHome } from "../store/support.ts";
import {
  type ResponsesServer,
  type ServerOptions,
  startResponsesServer,
} from "../../support/responses_server.ts";
import { scripted, type SetupOverrides } from "./scripted.ts";

const LIMITS = { responseTimeoutMs: 5000, idleTimeoutMs: 5000, maxBodyBytes: 1 << 24 };

/** Members that the store adds to the draft of a turn. */
const PLACE = ["format", "session", "turn", "seq", "prev", "at", "sum"];

/** A server that runs can be sent to. */
export interface Reached {
  readonly baseUrl: string;
  readonly requests: readonly { readonly text: string }[];
}

/** A session's home, its server, and its runs. */
export interface SessionRuns<Server extends Reached> {
  readonly server: Server;
  /** Its directory. */
  readonly path: string;
  /** One run in a writer of its own. */
  run(words: string | null, overrides?: SetupOverrides): Promise<Ran>;
  /** For `run`: its requests go to another server, as if the same base URL were answered by it. */
  sendingTo(server: Reached): Pick<RunSetup, "send" | "urlOf">;
  /** Continues a copy of the session that lost its events of this kind. */
  lose(kind: SessionEvent["type"]): Promise<void>;
  /** The turns as the files have them now, also during a run. */
  turns(): readonly Turn[];
  /** The replay notices on disk. */
  notices(): ReplayNoticeEvent[];
  /** Result of re-folding for each model turn. */
  verdicts(): string[];
  /** Findings of the checker. */
  findings(): Promise<readonly FsckFinding[]>;
}

/** A session whose server speaks Responses. */
export type RefusedSession = SessionRuns<ResponsesServer>;

/** Outcome of a run, with the numbers of the requests that it sent. */
export interface Ran {
  readonly ended: RunEnded;
  readonly events: readonly RunEvent[];
  /** Indexes into `server.requests`: first and the one after the last. */
  readonly requests: readonly [number, number];
}

/** Gives `body` a session of its own, and leaves nothing open. */
export async function refusedSession(
  options: ServerOptions,
  body: (session: RefusedSession) => Promise<void>,
): Promise<void> {
  await using server = startResponsesServer(options);
  await sessionRuns(server, {}, body);
}

/** Gives `body` a session of its own, whose runs go to `server` with `defaults`. */
export async function sessionRuns<Server extends Reached>(
  server: Server,
  defaults: SetupOverrides,
  body: (session: SessionRuns<Server>) => Promise<void>,
): Promise<void> {
  await withHome(async (home: Home) => {
    let id = ID;
    const { clock } = livePorts();
    // Sleep that can be cut short: a watchdog of the transport must leave no timer.
    const seeded = testPorts();
    const ports = { ...seeded, clock: { ...seeded.clock, sleep: clock.sleep } };
    const sendingTo = ({ baseUrl }: Reached) => ({
      send: createLiveSend(ports, { ...LIMITS, origin: new URL(baseUrl).origin }),
      urlOf: (path: string) => `${baseUrl}${path}`,
    });
    const turns = () => readSession(ports, home, id).turns;
    const notices = () =>
      turns().flatMap(({ events }) => events as readonly SessionEvent[]).filter((event) =>
        event.type === "replay_notice"
      );
    const findings = async () => (await fsckSession(ports, home, id)).findings;
    const read = (sha256: string) => readBlob(ports, home, id, sha256);
    const verdicts = () => verifySession({ turns: turns(), readBlob: read }).map(({ verdict }) => verdict);
    let isNew = true;
    const run = async (words: string | null, overrides: SetupOverrides = {}): Promise<Ran> => {
      const writer = isNew
        ? await SessionWriter.create(ports, home, { id })
        : await SessionWriter.open(ports, home, { id });
      isNew = false;
      const first = server.requests.length;
      try {
        const { setup, events } = scripted(ports, writer, {
          script: [],
          ...sendingTo(server),
          ...defaults,
          ...overrides,
        });
        const start = words === null
          ? { kind: "continue" } as const
          : { kind: "prompt", content: [{ type: "input_text", text: words }] } as const;
        const { manifest, turns } = writer;
        const allTurns = () => readSession(ports, home, id).turns;
        const session = { id, manifest, turns, allTurns, readBlob: read };
        const promised = (await previewRequest(setup, session, start)).built.body;
        const ended = await executeRun(setup, start);
        const sent = server.requests[first]?.text;
        if (sent !== undefined) {
          assert.equal(promised, sent, "the first request is the one that a preview shows");
        }
        return { ended, events, requests: [first, server.requests.length] };
      } finally {
        writer.close();
      }
    };
    const lose = async (kind: SessionEvent["type"]) => {
      const all = turns();
      const from = id;
      id = parseSessionId(`${ID}-copy`);
      const writer = await SessionWriter.create(ports, home, { id });
      for (const turn of all) {
        if ("pins" in turn && turn.pins !== undefined) {
          for (const blob of [turn.pins.instructions, turn.pins.tools]) {
            writer.putBlob(readBlob(ports, home, from, blob));
          }
        }
        const events = turn.events.filter(({ type }) => type !== kind).map((event) =>
          without(event, ["seq"])
        );
        const draft: object = { ...without(turn, PLACE), events };
        if (events.length > 0) writer.append(draft as TurnDraft);
      }
      writer.close();
    };
    await body({
      server,
      run,
      sendingTo,
      lose,
      turns,
      notices,
      verdicts,
      findings,
      get path() {
        return sessionPaths(home.sessions, id).root;
      },
    });
  });
}

function without(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
