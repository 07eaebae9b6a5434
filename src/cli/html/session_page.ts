/**
 * The page of a session: its turns as entries, grouped by run, with calls beside their results.
 *
 * @module
 */
import {
  isJsonObject,
  type JsonObject,
  numberMember,
  objectMember,
  plainText,
  stringMember,
} from "../../domain/json.ts";
import { counted, headOf } from "../../domain/text.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import type { PrefixReport } from "../../run/verify.ts";
import { omittedSeqs } from "../omitted.ts";
import { eventBlocks, type EventContext, type FoundResult } from "./event_blocks.ts";
import { textOf } from "./item_blocks.ts";
import type { Entry, Fact, Group, Page, RequestPoint, Tone } from "./page.ts";
import { reasoningFates } from "./reasoning_fate.ts";
import { anyUsage } from "./usage.ts";

/** Facts about a session beside its turns. */
export interface SessionSources {
  /** Comparison of each request with the one before, by the turn that answers it. */
  readonly prefixes: ReadonlyMap<number, PrefixReport>;
  /** Sessions that were forked from this one. */
  readonly forks: readonly string[];
  /** The price of the request that a model turn answers, in US dollars; `null` if unknown. */
  readonly costOf: (turn: ShownTurn) => number | null;
  readonly imageOf: EventContext["imageOf"];
}

/** UTF-16 units of a prompt in the list of runs. */
const SHOWN_PROMPT = 80;

/** Creates the page of a session. */
export function sessionPage(session: ShownSession, sources: SessionSources): Page {
  const { id, manifest, turns, problems } = session;
  const context = { ...contextOf(turns), imageOf: sources.imageOf };
  const groups: Group[] = [];
  const requests: RequestPoint[] = [];
  const runs = new Map<string, number>();
  const entries = turns.map((turn, index): Entry => {
    const run = plainText(turn.value.run);
    if (!runs.has(run)) {
      runs.set(run, groups.length);
      groups.push(groupOf(turns, index, run));
    }
    const point = requestPoint(turn, index, sources);
    const blocks = eventBlocks(turn, context);
    if (point !== null) {
      blocks.push({ type: "usage", request: requests.length });
      requests.push(point);
    }
    return {
      id: `turn-${turn.number}`,
      name: `Turn ${turn.number}`,
      kind: turn.kind,
      about: aboutTurn(turn, id),
      at: stringMember(turn.value, "at") ?? null,
      took: tookOf(turn, turns[index - 1]),
      group: runs.get(run) ?? 0,
      tone: turn.events.some(({ type }) => type === "turn_replaced") ? "bad" : "plain",
      seq: seqOf(turn),
      blocks,
    };
  });
  return {
    kind: "session",
    title: manifest?.title ? `${manifest.title} (${id})` : id,
    facts: factsOf(session, sources),
    warnings: problems.map(({ path, message }) => `damaged: ${path} ${message}`),
    groups,
    entries,
    requests,
  };
}

function contextOf(turns: readonly ShownTurn[]): Omit<EventContext, "imageOf"> {
  const results = new Map<number, FoundResult>();
  const decisions = new Map<number, JsonObject>();
  const calls = new Set<unknown>();
  for (const [index, turn] of turns.entries()) {
    for (const event of turn.events) {
      if (event.type === "tool_call") calls.add(event.seq);
      const call = numberMember(event, "call_seq");
      if (call === undefined || !calls.has(call)) continue;
      if (event.type === "permission_decision") decisions.set(call, event);
      if (event.type === "tool_result" && !results.has(call)) {
        results.set(call, { event, turn: turn.number, took: tookOf(turn, turns[index - 1]) });
      }
    }
  }
  return { results, decisions, fates: reasoningFates(turns), omitted: omittedSeqs(turns) };
}

function groupOf(turns: readonly ShownTurn[], first: number, run: string): Group {
  let state = "open";
  let prompt = "";
  for (let index = first; index < turns.length; index++) {
    const turn = turns[index] as ShownTurn;
    if (plainText(turn.value.run) !== run) break;
    for (const event of turn.events) {
      if (event.type === "user_message") prompt ||= textOf(event.content);
      if (event.type === "run_continued") prompt ||= "(continued)";
      if (event.type === "run_ended") state = plainText(event.state);
    }
  }
  const about = headOf(prompt.replace(/\s+/g, " ").trim(), SHOWN_PROMPT);
  return { name: `Run ${run}`, state, tone: toneOfState(state), first, about };
}

function toneOfState(state: string): Tone {
  return state === "completed" ? "good" : state === "open" ? "plain" : "bad";
}

function aboutTurn({ value, newer }: ShownTurn, id: string): string {
  const model = objectMember(value, "model") ?? {};
  const response = objectMember(value, "response") ?? {};
  const status = stringMember(response, "status");
  const writer = stringMember(value, "session");
  return [
    stringMember(model, "answered") ?? stringMember(model, "asked"),
    status === "completed" ? undefined : status,
    writer === undefined || writer === id ? undefined : `from ${writer}`,
    objectMember(value, "redacted") === undefined ? undefined : "redacted",
    newer ? "of a newer version" : undefined,
  ].filter((part) => part !== undefined).join(" · ");
}

/** Milliseconds between the ends of two turns of one run. */
function tookOf({ value, kind }: ShownTurn, before: ShownTurn | undefined): number | null {
  if (before === undefined || before.value.run !== value.run || kind !== "model" && kind !== "tools") {
    return null;
  }
  const took = Date.parse(plainText(value.at)) - Date.parse(plainText(before.value.at));
  return took >= 0 ? took : null;
}

function seqOf({ value: { seq } }: ShownTurn): readonly [number, number] | null {
  if (!Array.isArray(seq) || seq.length !== 2) return null;
  const [first, last] = seq;
  return typeof first === "number" && typeof last === "number" ? [first, last] : null;
}

function requestPoint(turn: ShownTurn, entry: number, sources: SessionSources): RequestPoint | null {
  if (turn.kind !== "model") return null;
  const usage = turn.events.findLast(({ type }) => type === "provider_usage")?.usage;
  return {
    entry,
    ...anyUsage(isJsonObject(usage) ? usage : null),
    cost: sources.costOf(turn),
    prefix: sources.prefixes.get(turn.number) ?? null,
  };
}

function factsOf({ id, manifest, turns }: ShownSession, { forks }: SessionSources): Fact[] {
  const [first, last] = [turns[0]?.value, turns.at(-1)?.value];
  const fact = (name: string, text: string | undefined): Fact[] => text ? [{ name, text }] : [];
  const time = (name: string, at: unknown): Fact[] => typeof at === "string" ? [{ name, text: "", at }] : [];
  return [
    { name: "session", text: id },
    ...fact("state", manifest?.state),
    ...fact("model", manifest?.pins.model),
    ...fact("workspace", manifest?.pins.workspace),
    ...fact("parent", manifest?.parent),
    ...fact("forks", forks.join(", ")),
    { name: "turns", text: counted(turns.length, "turn") },
    ...time("begun", first?.at),
    ...time("changed", last?.at),
  ];
}
