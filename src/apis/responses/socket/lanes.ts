/** Finds the request that an event on a Responses WebSocket belongs to (protocol §8.5). */
import { type ClientMessage, errorMessage, invalidRequest, type ServerMessage } from "./messages.ts";

const MAX_IN_FLIGHT = 16;
const MAX_NAMED_LANES = 32;

const LANE = /^[A-Za-z0-9_.-]{1,256}$/;

interface Open<Request> {
  readonly message: ClientMessage;
  readonly request: Request;
}

/** The open requests of a connection by lane. One lane answers its requests in order. */
export class Lanes<Request> {
  readonly #open: Open<Request>[] = [];
  readonly #named = new Set<string>();

  /** Open requests in order of arrival. */
  get requests(): readonly Request[] {
    return this.#open.map(({ request }) => request);
  }

  /** Adds a request; returns the text of the error message if the connection refuses it. */
  open(message: ClientMessage, request: Request): string | null {
    const refusal = this.#refusal(message);
    if (refusal !== null) return refusal;
    if (message.lane !== null) this.#named.add(message.lane);
    this.#open.push({ message, request });
    return null;
  }

  #refusal({ kind, lane }: ClientMessage): string | null {
    if (lane !== null && !LANE.test(lane)) {
      const message = "Invalid 'stream_id': expected 1 to 256 of A-Z, a-z, 0-9, '_', '.' and '-'.";
      return errorMessage(invalidRequest("invalid_stream_id", message, "stream_id"), null);
    }
    const limitReached = (limit: string) => {
      const message = `Responses websocket stream limit reached (${limit}).`;
      return errorMessage(invalidRequest("websocket_stream_limit_reached", message, "stream_id"), lane);
    };
    const isNew = lane !== null && !this.#named.has(lane);
    if (isNew && this.#named.size >= MAX_NAMED_LANES) return limitReached(`${MAX_NAMED_LANES} streams`);
    const inFlight = this.#open.filter(({ message }) => message.kind === "create").length;
    return kind === "create" && inFlight >= MAX_IN_FLIGHT
      ? limitReached(`${MAX_IN_FLIGHT} responses in flight`)
      : null;
  }

  /** Returns the request that a message of the server belongs to, and closes it after its last event. */
  take(event: ServerMessage): Request | undefined {
    const open = this.#ownerOf(event);
    if (open === undefined) return undefined;
    const ends = open.message.kind === "create" ? event.ends : endsOther(event);
    if (ends) this.#open.splice(this.#open.indexOf(open), 1);
    return open.request;
  }

  /** Closes a request before its last event. */
  close(request: Request): void {
    const at = this.#open.findIndex((open) => open.request === request);
    if (at !== -1) this.#open.splice(at, 1);
  }

  #ownerOf(event: ServerMessage): Open<Request> | undefined {
    const answersOther = this.#open.find(({ message }) =>
      message.kind === "other" && message.type !== null && event.type?.startsWith(`${message.type}.`) === true
    );
    if (answersOther !== undefined) return answersOther;
    const creates = this.#open.filter(({ message }) => message.kind === "create");
    const inLane = creates.find(({ message }) => message.lane === event.lane);
    if (inLane !== undefined) return inLane;
    // A server may leave out the lane of an error.
    if (event.lane === null && creates.length === 1) return creates[0];
    return event.ends ? this.#open.find(({ message }) => message.kind === "other") : undefined;
  }
}

/** True for an event after which a message of another type has no more: its error, and any answer but `.pending`. */
function endsOther({ type, ends }: ServerMessage): boolean {
  return ends || type?.endsWith(".pending") !== true;
}
