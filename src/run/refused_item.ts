/**
 * The item of a history that a refusal is about, and the commands that lead on without it. Only `omit` and `fork` change
 * what is sent: the run itself leaves no message, call or result out.
 */
import { DEFAULT_TAIL_EVENTS } from "../compaction/plan.ts";
import { shrink } from "../compaction/shrink.ts";
import { attachmentIn } from "../domain/attachment.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import { type ApiFailure, RepriseError } from "../domain/errors.ts";
import type { Item, SessionEvent } from "../domain/event.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { callNameOf } from "../domain/item.ts";
import { isJsonObject, parsedObject } from "../domain/json.ts";
import { sizeText } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";
import type { FoldTarget } from "../fold/guard.ts";
import type { Folded } from "../fold/history_fold.ts";
import { readOverrides } from "../fold/overrides.ts";
import type { NamedEntry } from "../apis/api.ts";
import { isPolicyRefusal } from "../apis/refusal.ts";
import { forkPoints } from "../store/lifecycle/fork.ts";
import { unseenEvents } from "./auto_compact.ts";
import { continueCommand, type ContinuedSession } from "./outcome.ts";

interface RefusedHistory {
  readonly failure: ApiFailure;
  readonly folded: Folded;
  /** The place that the error names; `null` if it names none. */
  readonly named: NamedEntry | null;
  readonly turns: readonly Turn[];
  readonly session: ContinuedSession;
  /** True if the request held reasoning, and the error may be about it. */
  readonly mayBeReasoning: boolean;
  /** True if `compact` would make the history much smaller. */
  readonly shrinks: () => boolean;
}

/** Reason to think of an item: the error names it, the error's words fit it, or it is the largest. */
type Basis = "named" | "words" | "size";

/** An item, or a part of a message, that a refusal is about. */
interface Suspect extends NamedEntry {
  readonly basis: Basis;
}

/** The error with the refused item in its message, and commands in its hint; `error` itself if no item is found. */
export function withRefusedItem(error: RepriseError, refused: RefusedHistory): RepriseError {
  const suspect = suspectOf(refused);
  if (suspect === null) return error;
  const { folded: { entries, seqs }, turns, session } = refused;
  const entry = entries[suspect.index];
  const place = eventOf(turns, seqs[suspect.index] ?? 0);
  if (entry === undefined || place === null) return error;
  const target = targetOf(entry, place.event, suspect.part);
  const { id } = session.writer;
  const size = suspect.basis === "size" ? `, ${sizeText(sizeOf(entry, target.index))}` : "";
  const about = `${LEAD[suspect.basis]} ${target.what} of seq ${target.seq} (turn ${place.turn.turn})${size}`;
  const omit = `reprise omit ${id} --seq ${target.seq}${
    target.part === null ? "" : ` --part ${target.part}`
  }`;
  const isPrompt = place.event.type === "user_message" && target.index === null;
  const go = `${continueCommand(session)}${isPrompt ? ' "…"' : ""}`;
  const cut = forkPoints(turns).findLast(({ turn }) => turn < place.turn.turn);
  const checkpoint = error.code === "context_overflow" || suspect.basis === "size" && refused.shrinks()
    ? `"reprise compact ${id}"`
    : null;
  const fork = cut === undefined
    ? 'start again: reprise run "…"'
    : `fork before it: "reprise fork ${id} --to-seq ${cut.seq}"`;
  const passed = readOverrides(turns, undefined).checkpoint?.to_seq ?? 0;
  // `omit` changes nothing before a checkpoint, whose run may still send its message.
  const first = target.seq <= passed ? `withdraw the checkpoint: "reprise compact ${id} --undo", ` : "";
  const takeOut = place.event.type === "history_compaction"
    ? `withdraw it: "reprise compact ${id} --undo", then: ${go}`
    : `${first}take it out: "${omit}", then: ${go}`;
  // A whole item may be named for the reasoning before it; a part of a message is not.
  const bare = refused.mayBeReasoning && suspect.basis === "named" && suspect.part === null
    ? `; or send no earlier reasoning: ${continueCommand(session, "--replay", "none")}`
    : "";
  const hint = error.code === "context_overflow"
    ? `Shorten the history, then continue the run: ${checkpoint}; or ${takeOut}`
    : checkpoint === null
    ? `${upper(takeOut)}; or ${fork}${bare}`
    : `${upper(takeOut)}; or shorten the history: ${checkpoint}`;
  return new RepriseError(error.code, `${error.message}. ${about}`, {
    hint,
    details: {
      ...error.details,
      item: { turn: place.turn.turn, seq: target.seq, part: target.part, basis: suspect.basis },
    },
    cause: error.cause,
  });
}

const LEAD: Readonly<Record<Basis, string>> = {
  named: "It names",
  words: "It is likely about",
  size: "The largest item is",
};

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const IMAGE = /\bimages?\b|\bpictures?\b|image_url|\bvision\b/i;
const FILE = /\bfiles?\b|\bpdfs?\b|\bdocuments?\b|file_data/i;
const ARGUMENTS = /\barguments\b|invalid json|valid json|json\.?decode|tool_use.{0,20}input/i;
/** The shortest id to look for in a text. */
const MIN_ID_LENGTH = 6;
/** The share of a history that makes an item worth naming after an overflow. */
const LARGE_SHARE = 1 / 4;

function suspectOf({ failure, folded: { entries, seqs }, named }: RefusedHistory): Suspect | null {
  const { code, status, message } = failure;
  const sizes = entries.map((entry) => sizeOf(entry, null));
  const whole = (index: number, basis: Basis): Suspect | null =>
    index < 0 ? null : { index, part: null, basis };
  const isSent = (index: number) => (seqs[index] ?? 0) > 0 && !isNote(entries[index]);
  if (code === "context_overflow" || status === 413) {
    const heaviest = sizes.reduce(
      (best, size, index) => isSent(index) && size > (sizes[best] ?? 0) ? index : best,
      -1,
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const isLarge = status === 413 || (sizes[heaviest] ?? 0) >= total * LARGE_SHARE;
    return isLarge && heaviest >= 0 ? { ...largestPart(entries[heaviest], heaviest), basis: "size" } : null;
  }
  if (code !== "request_refused") return null;
  if (named !== null) {
    // Refused reasoning has a way of its own.
    return entries[named.index]?.kind === "reasoning" || !isSent(named.index)
      ? null
      : { ...named, basis: "named" };
  }
  const byId = entries.findIndex((entry, index) =>
    isSent(index) && "callId" in entry && entry.callId.length >= MIN_ID_LENGTH &&
    message.includes(entry.callId)
  );
  if (byId >= 0) return whole(byId, "named");
  if (isPolicyRefusal(failure)) {
    return whole(
      entries.findLastIndex(({ kind }, index) =>
        (kind === "user_message" || kind === "tool_result") && isSent(index)
      ),
      "words",
    );
  }
  for (const [words, isKind] of [[IMAGE, isImage], [FILE, isFile]] as const) {
    if (!words.test(message)) continue;
    for (const [index, entry] of [...entries.entries()].toReversed()) {
      const part = entry.kind === "user_message" ? entry.content.findLastIndex(isKind) : -1;
      if (part >= 0 && isSent(index)) return { index, part, basis: "words" };
    }
  }
  if (!ARGUMENTS.test(message)) return null;
  return whole(
    entries.findLastIndex((entry, index) =>
      entry.kind === "tool_call" && isSent(index) && parsedObject(argumentsOf(entry.item)) === null
    ),
    "words",
  );
}

function argumentsOf({ arguments: text, input }: Item): string {
  return typeof text === "string" ? text : isJsonObject(input) ? "{}" : "";
}

/** True for a message of which nothing is left but notes of `omit`. */
function isNote(entry: FoldedEntry | undefined): boolean {
  return entry?.kind === "user_message" &&
    entry.content.every(({ text }) => /^\[omitted .*\]$/.test(String(text)));
}

function isImage(part: Item): boolean {
  return part.type === "input_image" || attachmentIn(part)?.mediaType.startsWith("image/") === true;
}

function isFile(part: Item): boolean {
  return part.type === "input_file" || attachmentIn(part) !== null && !isImage(part);
}

/** Bytes of an entry, or of one of its parts, in a request: nearly. */
function sizeOf(entry: FoldedEntry, part: number | null): number {
  if (entry.kind === "tool_result") return encodeUtf8(entry.output).length;
  if (entry.kind !== "user_message") return encodeUtf8(JSON.stringify(entry.item)).length;
  const parts = part === null ? entry.content : entry.content.slice(part, part + 1);
  return parts.reduce(
    (sum, each) => sum + (attachmentIn(each)?.bytes ?? encodeUtf8(JSON.stringify(each)).length),
    0,
  );
}

function largestPart(entry: FoldedEntry | undefined, index: number): NamedEntry {
  if (entry?.kind !== "user_message" || entry.content.length < 2) return { index, part: null };
  const sizes = entry.content.map((_part, part) => sizeOf(entry, part));
  return { index, part: sizes.indexOf(Math.max(...sizes)) };
}

function eventOf(
  turns: readonly Turn[],
  seq: number,
): { readonly turn: Turn; readonly event: SessionEvent } | null {
  const turn = turns.find(({ seq: [first, last] }) => first <= seq && seq <= last);
  const event = turn?.events.find((each) => each.seq === seq);
  return turn === undefined || event === undefined ? null : { turn, event };
}

/** The item or part that `omit` takes out. */
interface OmitTarget {
  readonly seq: number;
  /** For `--part`, from 1; `null` for the whole event. */
  readonly part: number | null;
  /** Index of the part; `null` for a whole item. */
  readonly index: number | null;
  readonly what: string;
}

function targetOf(entry: FoldedEntry, event: SessionEvent, part: number | null): OmitTarget {
  if (entry.kind !== "user_message" || event.type === "tool_result") {
    return { seq: event.seq, part: null, index: null, what: nameOf(entry, event) };
  }
  const one = part === null || entry.content.length === 1 ? undefined : entry.content[part];
  if (one === undefined || part === null) {
    return { seq: event.seq, part: null, index: null, what: "the prompt" };
  }
  const attached = attachmentIn(one);
  const what = attached === null
    ? `the ${one.type.replace(/^input_/, "")}`
    : `the ${isImage(one) ? "image" : "file"} ${JSON.stringify(attached.name)}`;
  // A file has an event of its own, unless another part of its message is omitted.
  const files = entry.content.filter((each) => attachmentIn(each) !== null).length;
  const isAlone = attached !== null && event.type === "user_message" &&
    event.content.length + files === entry.content.length;
  return isAlone
    ? { seq: event.seq - files + part, part: null, index: part, what }
    : { seq: event.seq, part: part + 1, index: part, what };
}

function nameOf(entry: FoldedEntry, event: SessionEvent): string {
  if (event.type === "tool_result") return `the result of ${event.tool}`;
  if (entry.kind === "tool_call") return `the call of ${callNameOf(entry.item)}`;
  if (entry.kind === "assistant_message") return "the answer";
  return "item" in entry ? `the item of type ${entry.item.type}` : "the item";
}

/** A history that becomes this much smaller is worth a checkpoint. */
const MUCH = 4 / 5;

export function shrinksMuch(turns: readonly Turn[], target: FoldTarget): boolean {
  try {
    const { before, after } = shrink(turns, {
      most: DEFAULT_TAIL_EVENTS,
      least: unseenEvents(turns),
      target,
      elides: true,
    });
    return after.bytes <= before.bytes * MUCH;
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return false;
    throw error;
  }
}
