/** Finds the request that an event on a Responses WebSocket belongs to (protocol §8.5). */
import type { ClientMessage, Lanes, ServerMessage } from "../../socket.ts";
import { errorMessage } from "./messages.ts";

const MAX_IN_FLIGHT = 16;
const MAX_NAMED_LANES = 32;

const LANE = /^[A-Za-z0-9_.-]{1,256}$/;

interface Open<Request> {
  readonly message: ClientMessage;
  readonly request: Request;
}

export class ResponsesLanes<Request> implements Lanes<Request> {
  readonly #open: Open<Request>[] = [];
  readonly #named = new Set<string>();

  get requests(): readonly Request[] {
    return this.#open.map(({ request }) => request);
  }

  open(message: ClientMessage, request: Request): string | null {
    const refusal = this.#refusal(message);
    if (refusal !== null) return refusal;
    if (message.lane !== null) this.#named.add(message.lane);
    this.#open.push({ message, request });
    return null;
  }

  #refusal({ kind, lane }: ClientMessage): string | null {
    if (lane !== null && !LANE.test(lane)) {
      return refusal({
        code: "invalid_stream_id",
        message: "Invalid 'stream_id': expected 1 to 256 of A-Z, a-z, 0-9, '_', '.' and '-'.",
      });
    }
    const isNew = lane !== null && !this.#named.has(lane);
    if (isNew && this.#named.size >= MAX_NAMED_LANES) {
      const message = `Responses websocket stream limit reached (${MAX_NAMED_LANES} streams).`;
      return refusal({ code: "websocket_stream_limit_reached", message, lane });
    }
    if (kind !== "create" || this.#open.filter((open) => open.message.kind === kind).length < MAX_IN_FLIGHT) {
      return null;
    }
    const message = `Responses websocket stream limit reached (${MAX_IN_FLIGHT} responses in flight).`;
    return refusal({ code: "websocket_stream_limit_reached", message, lane });
  }

  take(event: ServerMessage): Request | undefined {
    const open = this.#ownerOf(event);
    if (open === undefined) return undefined;
    const ends = open.message.kind === "create" ? event.ends : endsOther(event);
    if (ends) this.#open.splice(this.#open.indexOf(open), 1);
    return open.request;
  }

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

function refusal(
  { code, message, lane = null }: {
    readonly code: string;
    readonly message: string;
    readonly lane?: string | null;
  },
): string {
  const error = { type: "invalid_request_error", code, message, param: "stream_id" };
  return errorMessage({ status: 400, body: JSON.stringify({ error }) }, lane);
}
