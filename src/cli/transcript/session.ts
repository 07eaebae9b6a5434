/** A session as a transcript. Files may come from any version, so their members may be anything. */
import { costText } from "../../domain/cost.ts";
import { spendingCost } from "../cost/spending.ts";
import { type JsonObject, numberMember, objectMember, stringMember } from "../../domain/json.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import type { SessionSpending } from "../../schemas/inspection.ts";
import type { Spending } from "../../schemas/parts.ts";
import { secondsBetween, type TimeZone } from "../local_time.ts";
import { omittedSeqs } from "../omitted.ts";
import {
  type Block,
  type Entry,
  type Fact,
  type Group,
  type Image,
  OMITTED_MARK,
  type ResultBlock,
  type Transcript,
} from "./blocks.ts";
import { callBlock, contentBlocks, itemBlocks, reasoningBlock } from "./items.ts";
import { eventNote, partsText, plain, stateText, statusText, turnText } from "./words.ts";
import { counted } from "../../domain/text.ts";
import { usageText } from "./usage.ts";

type ShownEvent = ShownTurn["events"][number];

/** The chosen turns of a session, oldest first. Results name calls of turns that are not chosen. */
export function sessionTranscript(
  session: ShownSession,
  chosen: readonly ShownTurn[],
  { spending, zone }: { readonly spending: SessionSpending; readonly zone: TimeZone },
): Transcript {
  const { id, manifest, turns } = session;
  const reader = new BlockReader(omittedSeqs(turns));
  const own = spending.requests.filter((request) => request.session === id);
  const costs = new Map(own.map(({ turn, cost_usd }) => [turn, cost_usd]));
  const isChosen = new Set(chosen);
  const runs = Map.groupBy(chosen, ({ value }) => plain(value.run));
  const groups = new Map([...runs.keys()].map((run, index) => [run, index]));
  const entries = turns.flatMap((turn, index): Entry[] => {
    const blocks = reader.blocksOf(turn);
    if (!isChosen.has(turn)) return [];
    return [{
      id: `turn-${turn.number}`,
      name: `Turn ${turn.number}`,
      words: headingOf(turn, turns[index - 1], { id, zone, cost: costs.get(turn.number) ?? null }),
      from: turn.kind === "user" || turn.kind === "model" ? turn.kind : "other",
      isError: turn.events.some(({ type }) => type === "turn_replaced"),
      group: groups.get(plain(turn.value.run)) ?? 0,
      blocks,
    }];
  });
  return {
    name: id,
    title: manifest?.title ?? "",
    facts: factsOf(session, chosen, { total: spending.total, zone }),
    groups: Array.from(runs, ([run, turns]) => groupOf(turns, run)),
    entries,
  };
}

function headingOf(
  turn: ShownTurn,
  before: ShownTurn | undefined,
  { id, zone, cost }: { readonly id: string; readonly zone: TimeZone; readonly cost: number | null },
): string[] {
  const { kind, value, newer } = turn;
  const at = stringMember(value, "at") ?? "";
  const earlier = stringMember(before?.value ?? {}, "at") ?? "";
  const took = kind === "model" || kind === "tools" ? secondsBetween(earlier, at) : null;
  const model = objectMember(value, "model") ?? {};
  const writer = stringMember(value, "session") ?? id;
  return [
    turnText(kind),
    zone.clock(at, earlier),
    took === null ? "" : `${took} s`,
    seqText(turn),
    newer ? "of a newer version" : "",
    value.redacted === undefined ? "" : "redacted",
    writer === id ? "" : `from ${writer}`,
    // Last, because a narrow terminal cuts it.
    stringMember(model, "answered") ?? stringMember(model, "asked") ?? "",
    cost === null ? "" : costText(cost),
  ].filter((word) => word !== "");
}

/** The range of `seq` of the events of a turn; empty if it names none. */
function seqText({ events }: ShownTurn): string {
  const seqs = events.map(({ seq }) => seq).filter((seq) => Number.isSafeInteger(seq));
  const [first, last] = [seqs[0], seqs.at(-1)].map(plain);
  return seqs.length === 0 ? "" : first === last ? `seq ${first}` : `seq ${first} to ${last}`;
}

function groupOf(turns: readonly ShownTurn[], run: string): Group {
  const events = turns.flatMap((turn) => turn.events);
  const state = events.findLast(({ type }) => type === "run_ended")?.state;
  const prompt = events.find(({ type }) => type === "user_message" || type === "run_continued");
  return {
    name: `Run ${run}`,
    state: stateText(state === undefined ? "open" : plain(state)),
    isError: state !== undefined && state !== "completed",
    about: prompt?.type === "run_continued" ? "continued" : partsText(prompt?.content),
  };
}

/** Reads the events of turns in their order. Remembers calls, so that a result can say what was called. */
export class BlockReader {
  readonly #subjects = new Map<unknown, string>();
  readonly #omitted: ReadonlySet<unknown>;

  /** `omitted` are the `seq` of events that are marked as omitted. */
  constructor(omitted: ReadonlySet<unknown> = new Set()) {
    this.#omitted = omitted;
  }

  /** The blocks of a turn, in the order of its events; the mark of an omitted event is before it. */
  blocksOf(turn: ShownTurn): Block[] {
    return turn.events.flatMap((event) => {
      const blocks = this.eventBlocks(turn, event);
      return this.#omitted.has(event.seq) ? [OMITTED_MARK, ...blocks] : blocks;
    });
  }

  eventBlocks(turn: ShownTurn, event: ShownEvent): Block[] {
    const item = objectMember(event, "item") ?? {};
    const seq = Number.isSafeInteger(event.seq) ? event.seq as number : undefined;
    switch (event.type) {
      case "user_message":
        return contentBlocks(event.content, "user", seq);
      case "assistant_message":
        return contentBlocks(item.content ?? item.text, "assistant", seq);
      case "reasoning":
        return [{ ...reasoningBlock({ type: "reasoning", ...item }), seq }];
      case "tool_call": {
        const block = { ...callBlock(item), seq, key: event.seq };
        this.#subjects.set(event.seq, block.subject);
        return [block];
      }
      case "tool_result":
        return [{ ...resultOf(event, this.#subjects.get(event.call_seq) ?? ""), seq }];
      case "provider_item":
        return itemBlocks(item, "assistant", seq);
      default: {
        const image = event.type === "attachment" ? imageOf(event) : undefined;
        const key = event.type === "permission_decision" ? event.call_seq : undefined;
        return [{ ...eventNote(turn, event), seq, image, key }];
      }
    }
  }
}

/** Types of images that browsers draw without running anything. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

function imageOf(event: JsonObject): Image | undefined {
  const [type, sha256] = [plain(event.media_type), stringMember(objectMember(event, "blob") ?? {}, "sha256")];
  return IMAGE.test(type) && sha256 !== undefined ? { type, sha256 } : undefined;
}

function resultOf(event: ShownEvent, subject: string): ResultBlock {
  const status = stringMember(event, "status") ?? "?";
  const blob = objectMember(event, "blob") ?? {};
  const sha256 = stringMember(blob, "sha256");
  return {
    kind: "result",
    key: event.call_seq,
    name: stringMember(event, "tool") ?? "?",
    subject,
    isOk: status === "ok",
    status: statusText(status),
    text: stringMember(event, "output") ?? "",
    blob: sha256 === undefined ? null : { sha256, bytes: numberMember(blob, "bytes") ?? 0 },
  };
}

/** Returns the facts about a session that spent `total` in its own requests; only the turns of `shown` are shown. */
function factsOf(
  session: ShownSession,
  shown: readonly ShownTurn[],
  { total, zone }: { readonly total: Spending; readonly zone: TimeZone },
): Fact[] {
  const { id, manifest, turns } = session;
  const facts: Fact[] = [
    ["session", manifest === null ? id : `${id} · ${stateText(manifest.state)}`],
  ];
  if (manifest !== null) {
    facts.push(["model", `${manifest.pins.model} · ${manifest.pins.fingerprint.provider}`]);
    facts.push(["workspace", manifest.pins.workspace]);
    if (manifest.parent !== undefined) facts.push(["forked from", manifest.parent]);
  }
  const runs = manifest === null ? "" : ` in ${counted(manifest.run, "run")}`;
  const part = shown.length === turns.length ? "" : `${shown.length} of `;
  facts.push(["turns", `${part}${counted(turns.length, "turn")}${runs}`]);
  const [first, last] = [shown[0], shown.at(-1)].map((turn) => stringMember(turn?.value ?? {}, "at") ?? "");
  if (first !== undefined && last !== undefined && first !== "") {
    facts.push(["time", zone.span(first, last)]);
  }
  if (manifest !== null) facts.push(["tokens", usageText(manifest.usage)]);
  const cost = costFact(total);
  return cost === null ? facts : [...facts, ["cost", cost]];
}

/** The cost of a session in words; `null` if none of its requests has a price, as in one that was played. */
function costFact(spent: Spending): string | null {
  const { requests, unpriced } = spent;
  if (unpriced === requests) return null;
  const lacking = unpriced === 0 ? "" : `: ${counted(unpriced, "request")} of ${requests} without a price`;
  return `${spendingCost(spent)}${lacking}`;
}
