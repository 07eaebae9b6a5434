/** Rules over `items_omitted` and `omission_withdrawn`: where they may be, and the events that they may name. */
import type { EventType, ItemsOmittedEvent, SessionEvent } from "../../domain/event.ts";
import type { Turn } from "../../domain/turn.ts";

/** Kinds that can be omitted: those that a request sends. */
const OMITTABLE: ReadonlySet<EventType> = new Set([
  "user_message",
  "attachment",
  "assistant_message",
  "reasoning",
  "tool_call",
  "tool_result",
  "provider_item",
  "branch_summary",
]);

/** Follows the events of a history that can be omitted, and the omissions in force. */
export class OmissionRules {
  /** Number of parts of each event that can be omitted, by `seq`; 0 if it is no message. */
  readonly #parts = new Map<number, number>();
  readonly #standing = new Set<number>();

  /** The findings about a turn as the next one. */
  check(turn: Turn, { runEnded, checkpointTo, mayBeUnread }: {
    /** `null` while unknown. */
    readonly runEnded: boolean | null;
    /** The last `seq` that the checkpoint in force replaces; 0 without one. */
    readonly checkpointTo: number;
    /** True for a `seq` whose event may be unread. */
    readonly mayBeUnread: (seq: number) => boolean;
  }): string[] {
    const changes = turn.events.filter(isOmission);
    if (changes.length === 0) return [];
    const found: string[] = [];
    const alone = turn.kind === "fork" || turn.kind === "harness" && changes.length === turn.events.length;
    if (!alone) found.push("omits items beside other events, or in a turn that is not the harness's");
    if (runEnded === false && turn.kind !== "fork") {
      found.push(`omits items inside run ${turn.run}, which is open`);
    }
    const withdrawn = new Set<number>();
    for (const event of changes) {
      if (event.type === "omission_withdrawn") {
        const { omission } = event;
        const stands = this.#standing.has(omission) && !withdrawn.has(omission);
        if (!stands && !mayBeUnread(omission)) {
          found.push(`withdraws seq ${omission}, where no omission is in force`);
        }
        withdrawn.add(omission);
      } else {
        for (const seq of event.seqs) {
          const why = mayBeUnread(seq) ? null : this.reasonAgainst(event, seq, checkpointTo);
          if (why !== null) found.push(`omits seq ${seq}, ${why}`);
        }
      }
    }
    return found;
  }

  /** Reason why `event` may not name `seq`; `null` if it may. */
  reasonAgainst(
    { seqs, part }: Pick<ItemsOmittedEvent, "seqs" | "part">,
    seq: number,
    checkpointTo: number,
  ): string | null {
    const parts = this.#parts.get(seq);
    if (parts === undefined) return "where no event is that a request holds";
    if (seq <= checkpointTo) return `which the checkpoint up to seq ${checkpointTo} replaces`;
    if (part === undefined) return null;
    if (seqs.length > 1) return "one of several, with the number of a part";
    return part <= parts
      ? null
      : parts === 0
      ? "which has no parts"
      : `part ${part}, but it has only ${parts}`;
  }

  advance({ events }: Turn): void {
    let attached = 0;
    for (const event of events) {
      attached += event.type === "attachment" ? 1 : 0;
      if (OMITTABLE.has(event.type)) {
        this.#parts.set(event.seq, event.type === "user_message" ? attached + event.content.length : 0);
      }
      if (event.type === "user_message") attached = 0;
      if (event.type === "items_omitted") this.#standing.add(event.seq);
      if (event.type === "omission_withdrawn") this.#standing.delete(event.omission);
    }
  }
}

function isOmission(event: SessionEvent) {
  return event.type === "items_omitted" || event.type === "omission_withdrawn";
}
