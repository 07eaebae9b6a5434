/**
 * The remote of a run.
 *
 * @module
 */
import { asRepriseError, RepriseError } from "../../domain/errors.ts";
import { isSessionId, type SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { attachSession, requireUnusedRemotely } from "../../remote/attach.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { openRemote } from "../../remote/open.ts";
import { OpenRunBeat } from "../../remote/open_run.ts";
import { pushTurns } from "../../remote/push.ts";
import { SessionRemote } from "../../remote/session_remote.ts";
import { remoteTurns } from "../../remote/standing.ts";
import type { Home } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { lastTurnOf } from "../../store/read/session.ts";
import { pendingNumbers } from "../../store/write/pending.ts";
import { SessionWriter, type WriterOptions } from "../../store/write/writer.ts";

/** Settings of the remote of a run. */
export interface RunRemoteOptions {
  readonly address: string;
  readonly ack: "sync" | "async";
  readonly takeOver: boolean;
  /** Time for one operation, in milliseconds. */
  readonly timeoutMs: number;
}

/** Opens sessions for runs that save to a remote. */
export class RunRemote {
  readonly #ports: Ports;
  readonly #home: Home;
  readonly #store: ObjectStore;
  readonly #options: RunRemoteOptions;
  #beat: OpenRunBeat | null = null;
  #later: LaterPush | null = null;

  private constructor(ports: Ports, home: Home, store: ObjectStore, options: RunRemoteOptions) {
    this.#ports = ports;
    this.#home = home;
    this.#store = store;
    this.#options = options;
  }

  /** Opens the store. Throws as {@linkcode openRemote} does. */
  static async open(ports: Ports, home: Home, options: RunRemoteOptions): Promise<RunRemote> {
    const { address, timeoutMs } = options;
    return new RunRemote(ports, home, await openRemote(ports, { address, timeoutMs, home }), options);
  }

  /** The session that a selector names by its whole id, if it is on the remote and not here; otherwise `null`. */
  async onlyThere(selector: string): Promise<SessionId | null> {
    if (!isSessionId(selector)) return null;
    if (lastTurnOf(this.#ports, sessionPaths(this.#home.sessions, selector)) > 0) return null;
    return (await remoteTurns(this.#store, selector)).length > 0 ? selector : null;
  }

  /** Opens a session that is here or on the remote. Throws as {@linkcode attachSession} and the writer do. */
  async continue(options: WriterOptions): Promise<SessionWriter> {
    const { id } = options;
    const { takeOver, ack } = this.#options;
    const remote = await attachSession(this.#ports, this.#home, this.#store, { ...options, takeOver });
    const waits = pendingNumbers(this.#ports, sessionPaths(this.#home.sessions, id)).length > 0;
    const opened = async (remote?: SessionRemote) =>
      await SessionWriter.open(this.#ports, this.#home, { ...options, remote });
    if (ack === "sync") return await this.#begun(await opened(remote));
    if (waits) (await opened(remote)).close();
    return await this.#begun(await opened(), remote);
  }

  /** Creates a session of an id that is free here and on the remote. Throws `session_exists`, and as the writer does. */
  async create(id: SessionId): Promise<SessionWriter> {
    await requireUnusedRemotely(this.#store, id);
    const remote = new SessionRemote(this.#store, id);
    const isSync = this.#options.ack === "sync";
    const writer = await SessionWriter.create(this.#ports, this.#home, isSync ? { id, remote } : { id });
    return isSync ? await this.#begun(writer) : await this.#begun(writer, remote);
  }

  async #begun(writer: SessionWriter, later?: SessionRemote): Promise<SessionWriter> {
    try {
      this.#beat = await OpenRunBeat.start(this.#ports, this.#home, this.#store, writer.id);
    } catch (error) {
      writer.close();
      throw error;
    }
    const paths = sessionPaths(this.#home.sessions, writer.id);
    if (later !== undefined) {
      this.#later = new LaterPush(
        later,
        (common, last) => pushTurns(this.#ports, later, { paths, common, last }),
        {
          common: writer.end.turn,
        },
      );
    }
    return writer;
  }

  /** Notes a saved turn; returns whether the remote has it. */
  saved({ turn }: Pick<Turn, "turn">): "stored" | "pending" {
    if (this.#later === null) return "stored";
    this.#later.add(turn);
    return "pending";
  }

  /** Keeps the run young no longer. A second call does nothing. */
  stop(): void {
    this.#beat?.stop();
  }

  /** Ends the run on the remote; returns the error if the session went another way there. */
  async end(): Promise<RepriseError | null> {
    const failure = await this.#later?.finish(this.#options.timeoutMs) ?? null;
    await this.#beat?.end();
    return failure;
  }
}

/** Puts turns in the background, in order. */
class LaterPush {
  readonly #push: (common: number, last: number) => Promise<void>;
  readonly #name: string;
  #common: number;
  #last: number;
  #running: Promise<void> | null = null;
  #failure: RepriseError | null = null;

  constructor(
    remote: SessionRemote,
    push: (common: number, last: number) => Promise<void>,
    { common }: { readonly common: number },
  ) {
    this.#name = remote.name;
    this.#push = push;
    this.#common = this.#last = common;
  }

  add(turn: number): void {
    this.#last = turn;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#common < this.#last && this.#failure === null) {
      const last = this.#last;
      try {
        await this.#push(this.#common, last);
        this.#common = last;
      } catch (error) {
        this.#failure = asRepriseError(error);
      }
    }
    // In the same step as the last look at `#last`, so that no turn is missed.
    this.#running = null;
  }

  /** Waits for the puts; returns the error of a divergence. Other turns are left for the next run, or for `push`. */
  async finish(timeoutMs: number): Promise<RepriseError | null> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, timeoutMs));
    await Promise.race([this.#running ?? Promise.resolve(), late]);
    clearTimeout(timer);
    if (this.#failure === null || this.#failure.code === "session_diverged") return this.#failure;
    return new RepriseError(
      this.#failure.code,
      `The turns after turn ${this.#common} are not on ${this.#name} yet: ${this.#failure.message}`,
      { hint: 'Put them with "reprise push"', details: this.#failure.details },
    );
  }
}
