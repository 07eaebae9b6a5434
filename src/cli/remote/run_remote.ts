/** The remote of a run. */
import { RepriseError } from "../../domain/errors.ts";
import { isSessionId, type SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { attachSession, remoteTurns, requireUnusedRemotely } from "../../remote/attach.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { openRemote } from "../../remote/open.ts";
import { SessionRemote } from "../../remote/session_remote.ts";
import type { Home } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { lastTurnOf } from "../../store/read/session.ts";
import { readTurn } from "../../store/read/turn.ts";
import type { Notice } from "../../schemas/run_events.ts";
import { lateTurnName } from "../../store/write/publish.ts";
import { pendingNumbers, pendingPath } from "../../store/write/pending.ts";
import { SessionWriter, type WriterOptions } from "../../store/write/writer.ts";

interface RunRemoteOptions {
  readonly address: string;
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

  async selected(selector: string, here: () => SessionId): Promise<SessionId> {
    return await sessionOnEither(this.#ports, this.#home, this.#store, { selector, here });
  }

  /** Opens a session that is here or on the remote. Throws as {@linkcode attachSession} and the writer do. */
  async continue(options: WriterOptions): Promise<SessionWriter> {
    const { id } = options;
    const { takeOver } = this.#options;
    const remote = await attachSession(this.#ports, this.#home, this.#store, { ...options, takeOver });
    const waiting = this.#waitingTurns(id);
    const writer = await SessionWriter.open(this.#ports, this.#home, { ...options, remote });
    this.#noteSetAside(id, waiting);
    return writer;
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
    return await SessionWriter.create(this.#ports, this.#home, { id, remote });
  }
}

/**
 * The session that a selector names: here, or by its whole id on the remote.
 *
 * @throws {RepriseError} `no_such_session`; as `here` does.
 */
export async function sessionOnEither(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { selector, here }: {
    readonly selector: string;
    /** Finds the session in this home. */
    readonly here: () => SessionId;
  },
): Promise<SessionId> {
  if (!isSessionId(selector)) return here();
  if (lastTurnOf(ports, sessionPaths(home.sessions, selector)) > 0) return here();
  if ((await remoteTurns(store, selector)).length > 0) return selector;
  try {
    return here();
  } catch (error) {
    if (!(error instanceof RepriseError && error.code === "no_such_session")) throw error;
    throw new RepriseError(error.code, `${error.message}, and ${store.name} has none with that id`, {
      hint: 'List the sessions with "reprise ls", or those there with "reprise ls --remote"',
      details: { ...error.details, remote: store.name },
    });
  }
}
