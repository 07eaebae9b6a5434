/** The fate of each reasoning item: the requests that held it, and the reason for each request that did not. */
import { numberMember, objectMember, objectsIn, stringMember } from "../../domain/json.ts";
import type { ShownTurn } from "../../store/read/show.ts";
import { dropText } from "../transcript/words.ts";

/** Requests in a row that treated an item alike. */
interface FateSpan {
  /** Turns of the first and the last of these requests. */
  readonly turns: readonly [number, number];
  /** `null` if it was sent. */
  readonly dropped: string | null;
}

/** Says what requests did with an item, a text for each span. */
export function fateTexts(spans: readonly FateSpan[]): readonly string[] {
  if (spans.length === 0) return ["in no later request"];
  return spans.map(({ turns: [first, last], dropped }) => {
    const turns = first === last ? `turn ${first}` : `turns ${first} to ${last}`;
    return dropped === null ? `sent in ${turns}` : `not sent in ${turns}: ${dropText(dropped)}`;
  });
}

/** A change of what requests did with an item, from the request with index `at` on. */
interface Change {
  readonly at: number;
  readonly dropped: string | null;
}

/** Spans of requests by the `seq` of the item, oldest first; none for an item that no request followed. */
export function reasoningFates(turns: readonly ShownTurn[]): Map<number, readonly FateSpan[]> {
  const changes = new Map<number, Change[]>();
  const requests: number[] = [];
  const checkpoints: { readonly seq: number; readonly to: number }[] = [];
  /** Items that the next request may treat in another way than the last one did. */
  let unsettled = new Set<number>();
  for (const turn of turns) {
    const guard = objectMember(objectMember(turn.value, "request") ?? {}, "guard");
    if (turn.kind === "model" && guard !== undefined) {
      const reasons = new Map(
        objectsIn(guard.dropped).map((item) => [
          numberMember(item, "seq") ?? NaN,
          stringMember(item, "reason") ?? "?",
        ]),
      );
      const replaced = checkpoints.at(-1)?.to ?? 0;
      for (const seq of [...unsettled, ...reasons.keys()]) {
        const known = changes.get(seq);
        const dropped = reasons.get(seq) ?? (seq <= replaced ? "before_checkpoint" : null);
        if (known !== undefined && known.at(-1)?.dropped !== dropped) {
          known.push({ at: requests.length, dropped });
        }
      }
      unsettled = new Set(reasons.keys());
      requests.push(turn.number);
    }
    for (const event of turn.events) {
      const seq = numberMember(event, "seq") ?? 0;
      if (event.type === "reasoning") {
        changes.set(seq, []);
        unsettled.add(seq);
      } else if (event.type === "history_compaction") {
        checkpoints.push({ seq, to: numberMember(event, "to_seq") ?? 0 });
        unsettled = new Set(changes.keys());
      } else if (
        event.type === "compaction_withdrawn" && event.checkpoint === checkpoints.at(-1)?.seq
      ) {
        checkpoints.pop();
        unsettled = new Set(changes.keys());
      }
    }
  }
  return new Map([...changes].map(([seq, known]) => [seq, spansOf(known, requests)]));
}

function spansOf(changes: readonly Change[], requests: readonly number[]): FateSpan[] {
  return changes.map(({ at, dropped }, index) => {
    const last = (changes[index + 1]?.at ?? requests.length) - 1;
    return { turns: [requests[at] ?? 0, requests[last] ?? 0], dropped };
  });
}
