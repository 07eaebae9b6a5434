/**
 * The remote of a run.
 *
 * @module
 */
import { asRepriseError, RepriseError } from "../../domain/errors.ts";
import { isSessionId, type SessionId } from "../../domain/ids.ts";
import type { Clock, Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { attachSession, requireUnusedRemotely } from "../../remote/attach.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { openRemote } from "../../remote/open.ts";
import { OpenRunBeat } from "../../remote/open_run.ts";
import { type PushOptions, pushTurns } from "../../remote/push.ts";
import { SessionRemote } from "../../remote/session_remote.ts";
import { remoteTurns } from "../../remote/standing.ts";
import type { Home } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { lastTurnOf } from "../../store/read/session.ts";
import { readTurn } from "../../store/read/turn.ts";
import type { Notice } from "../../run/events.ts";
import { lateTurnName } from "../../store/write/publish.ts";
import { pendingNumbers, pendingPath } from "../../store/write/pending.ts";
import { SessionWriter, type WriterOptions } from "../../store/write/writer.ts";

/** Settings of the remote of a run. */
export interface RunRemoteOptions {
  readonly address: string;
  readonly ack: "sync" | "async";
  readonly takeOver: boolean;
  /** Time for one operation, in milliseconds. */
  readonly timeoutMs: number;
}

type LateTurn = Pick<Turn, "turn" | "sum">;

/** Opens sessions for runs that save to a remote. */
export class RunRemote {
  readonly #ports: Ports;
  readonly #home: Home;
  readonly #store: ObjectStore;
  readonly #options: RunRemoteOptions;
  /** Changes that opening the session made. */
  readonly notices: Notice[] = [];
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

  /** The session that a selector names: here, or by its whole id on the remote. Throws as `here` does. */
  async selected(selector: string, here: () => SessionId): Promise<SessionId> {
    if (!isSessionId(selector)) return here();
    if (lastTurnOf(this.#ports, sessionPaths(this.#home.sessions, selector)) > 0) return here();
    if ((await remoteTurns(this.#store, selector)).length > 0) return selector;
    try {
      return here();
    } catch (error) {
      if (!(error instanceof RepriseError && error.code === "no_such_session")) throw error;
      throw new RepriseError(error.code, `${error.message}, and ${this.#store.name} has none with that id`, {
        hint: 'List the sessions with "reprise ls", or those there with "reprise ls --remote"',
        details: { ...error.details, remote: this.#store.name },
      });
    }
  }

  /** Opens a session that is here or on the remote. Throws as {@linkcode attachSession} and the writer do. */
  async continue(options: WriterOptions): Promise<SessionWriter> {
    const { id } = options;
    const { takeOver, ack } = this.#options;
    const remote = await attachSession(this.#ports, this.#home, this.#store, { ...options, takeOver });
    const waiting = this.#waitingTurns(id);
    const opened = async (remote?: SessionRemote) =>
      await SessionWriter.open(this.#ports, this.#home, { ...options, remote });
    const writer = ack === "sync" || waiting.length > 0 ? await opened(remote) : await opened();
    this.#noteSetAside(id, waiting);
    if (ack === "sync") return await this.#begun(writer);
    if (waiting.length === 0) return await this.#begun(writer, remote);
    writer.close();
    return await this.#begun(await opened(), remote);
  }

  #waitingTurns(id: SessionId): LateTurn[] {
    const paths = sessionPaths(this.#home.sessions, id);
    return pendingNumbers(this.#ports, paths).map((turn) => {
      const read = readTurn(this.#ports, pendingPath(paths, turn));
      return { turn, sum: read.status === "ok" ? read.turn.sum : "damaged" };
    });
  }

  /** Notes the turns that waited and went to quarantine. */
  #noteSetAside(id: SessionId, waiting: readonly LateTurn[]): void {
    const { quarantine } = sessionPaths(this.#home.sessions, id);
    for (const late of waiting) {
      const name = lateTurnName(late);
      if (this.#ports.files.facts(`${quarantine}/${name}`) === null) continue;
      const message = `turn ${late.turn} of a run that was cut off here was not acknowledged, and ` +
        `${this.#store.name} has another turn ${late.turn}; it is kept in quarantine/${name}`;
      this.notices.push({ kind: "turn_set_aside", turn: late.turn, message });
    }
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
        (turns) => pushTurns(this.#ports, later, { paths, ...turns }),
        { id: writer.id, common: writer.end.turn, clock: this.#ports.clock },
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

  /**
   * Ends the run on the remote; returns the error if turns are missing there. A run whose end is not there remains this
   * home's: its next call continues it at once.
   */
  async end({ isClosed }: { readonly isClosed: boolean }): Promise<RepriseError | null> {
    const failure = await this.#later?.finish(this.#options.timeoutMs) ?? null;
    if (isClosed && (failure === null || failure.code === "session_diverged")) await this.#beat?.end();
    else this.stop();
    return failure;
  }
}

/** Puts turns in the background, in order. */
class LaterPush {
  readonly #push: (turns: Omit<PushOptions, "paths">) => Promise<void>;
  readonly #name: string;
  readonly #id: SessionId;
  readonly #clock: Clock;
  #common: number;
  #last: number;
  #running: Promise<void> | null = null;
  #failure: RepriseError | null = null;

  constructor(
    remote: SessionRemote,
    push: (turns: Omit<PushOptions, "paths">) => Promise<void>,
    { id, common, clock }: { readonly id: SessionId; readonly common: number; readonly clock: Clock },
  ) {
    this.#id = id;
    this.#clock = clock;
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
        await this.#push({ common: this.#common, last, onTurn: (turn) => this.#common = turn });
      } catch (error) {
        this.#failure = asRepriseError(error);
      }
    }
    // In the same step as the last look at `#last`, so that no turn is missed.
    this.#running = null;
  }

  /** Waits for the puts; returns the error of a divergence. Other turns are left for the next run, or for `push`. */
  async finish(timeoutMs: number): Promise<RepriseError | null> {
    const ended = new AbortController();
    await Promise.race([this.#running, this.#clock.sleep(timeoutMs, ended.signal)]);
    ended.abort();
    const failure = this.#failure;
    if (failure?.code === "session_diverged" || failure === null && this.#running === null) return failure;
    const why = failure?.message ?? `it did not take them within ${timeoutMs / 1000} seconds`;
    return new RepriseError(
      failure?.code ?? "remote_unreachable",
      `The turns after turn ${this.#common} are not on ${this.#name} yet: ${why}`,
      { hint: `Put them with "reprise push ${this.#id}"`, details: failure?.details ?? {} },
    );
  }
}
