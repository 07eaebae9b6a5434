/**
 * Series of requests in a session: the input of each begins with that of the one before it. A series is
 * folded once, for its last request, so that verifying a session takes time in proportion to its length.
 *
 * @module
 */
import type { CheckpointRef, SessionEvent } from "../domain/event.ts";
import { checkpointAfter } from "../domain/manifest.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";

/** Requests that are folded together. */
export interface Series {
  /** Their model turns, oldest first; one at least. */
  readonly requests: ModelTurn[];
  /** The checkpoint that was in force for all of them. */
  readonly checkpoint: CheckpointRef | null;
}

/** Splits the requests of a session into series, oldest first. */
export function seriesOf(turns: readonly Turn[]): Series[] {
  const history = new PlainHistory();
  const series: Series[] = [];
  let checkpoint: CheckpointRef | null = null;
  for (const turn of turns) {
    if (turn.kind === "model") {
      const requests = series.at(-1)?.requests;
      const last = requests?.at(-1);
      if (last !== undefined && history.continues(last, turn)) requests?.push(turn);
      else series.push({ requests: [turn], checkpoint });
      history.begin(turn);
    }
    history.add(turn);
    checkpoint = checkpointAfter(checkpoint, turn);
  }
  return series;
}

/** Events that add nothing to later requests, and change nothing in them. */
const SILENT: ReadonlySet<string> = new Set([
  "permission_decision",
  "run_ended",
  "run_continued",
  "provider_usage",
]);

/** Follows a history, and knows whether what came since the last request is only appended to later inputs. */
class PlainHistory {
  /** Everything since the last request was plain. */
  #isPlain = false;
  /** Calls of the newest response that no result has answered. */
  readonly #open = new Set<number>();
  /** Ids of all reasoning: which one of two with the same id is sent may depend on both. */
  readonly #reasoningIds = new Set<string>();
  /** Accounts that are known of responses and requests. */
  readonly #accounts = new Set<string>();
  /** Run of the newest refusal: what was left out after it comes back in the next run. */
  #refusedIn = 0;
  /** Kind of the newest turn that is not the harness's. */
  #newest: Turn["kind"] | null = null;

  /** True if the input of the request that `next` answers begins with that of `last`. */
  continues(last: ModelTurn, next: ModelTurn): boolean {
    const accounts = [last, next].map(({ request }) => request.replay?.account ?? null);
    for (const account of accounts) if (account !== null) this.#accounts.add(account);
    return this.#isPlain && this.#isAsked() && targetOf(last) === targetOf(next) &&
      // With one account in the whole history, not to know it makes no difference.
      (accounts[0] === accounts[1] || this.#accounts.size <= 1) &&
      (last.run === next.run || last.run !== this.#refusedIn) &&
      [last, next].every(({ request }) => (request.replay?.window ?? null) === null);
  }

  /** A request goes out, and everything from its response on is what the next one appends. */
  begin(request: ModelTurn): void {
    this.#isPlain = this.#isAsked();
    const account = request.request.replay?.account ?? null;
    if (account !== null) this.#accounts.add(account);
  }

  add(turn: Turn): void {
    const isPlain = this.#isPlainTurn(turn);
    this.#isPlain &&= isPlain;
    if (turn.kind === "model" && turn.fingerprint.account !== null) {
      this.#accounts.add(turn.fingerprint.account);
    }
    if (turn.kind !== "harness") this.#newest = turn.kind;
    if (turn.events.some(({ type }) => type === "replay_notice")) this.#refusedIn = turn.run;
  }

  /** True where the history ends with something to answer: otherwise the fold may add to its end. */
  #isAsked(): boolean {
    return this.#open.size === 0 && (this.#newest === "user" || this.#newest === "tools");
  }

  #isPlainTurn(turn: Turn): boolean {
    switch (turn.kind) {
      case "user":
        return this.#open.size === 0 && turn.events.every(({ type }) => type === "user_message");
      case "tools":
        return turn.events.every((event) =>
          event.type === "tool_result" && this.#open.delete(event.call_seq)
        );
      case "harness":
        return turn.replaces === undefined && turn.events.every(({ type }) => SILENT.has(type));
      case "model": {
        this.#open.clear();
        const { status, paused } = turn.response;
        const plain = turn.events.map((event) => this.#isPlainEvent(event));
        return status === "completed" && paused !== true && plain.every(Boolean);
      }
      default:
        return false;
    }
  }

  #isPlainEvent(event: SessionEvent): boolean {
    switch (event.type) {
      case "reasoning": {
        const { id } = event.item;
        if (typeof id !== "string") return true;
        const isNew = !this.#reasoningIds.has(id);
        this.#reasoningIds.add(id);
        return isNew;
      }
      case "tool_call":
        this.#open.add(event.seq);
        return true;
      case "provider_item":
        // A call whose output comes later, or an output, changes what becomes of the other.
        return event.item.call_id === undefined && event.item.tool_use_id === undefined &&
          !event.item.type.endsWith("tool_use");
      default:
        return event.type === "assistant_message" || SILENT.has(event.type);
    }
  }
}

/** Facts that the fold must know of a request's target, except the account. */
function targetOf({ fingerprint, model, request }: ModelTurn): string {
  return JSON.stringify([{ ...fingerprint, account: null }, model.asked, request.replay?.mode, request.fold]);
}
