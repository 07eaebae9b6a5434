/**
 * What the events up to a cut say, gathered for a summary.
 *
 * @module
 */
import type { SessionEvent, ToolCallEvent } from "../domain/event.ts";
import { callNameOf } from "../domain/item.ts";
import type { Turn } from "../domain/turn.ts";
import { callPaths, callSubjects, fileEffect, messageOf, type Subject } from "./reading.ts";

/** A message of either side. */
export interface DigestMessage {
  readonly seq: number;
  readonly role: "user" | "assistant";
  readonly text: string;
}
/** A call and how it ended. */
export interface DigestCall {
  readonly seq: number;
  readonly tool: string;
  readonly subjects: readonly Subject[];
  /** A result's status, or `no result`. */
  readonly outcome: string;
}
/** Something that nobody answered. */
export interface DigestQuestion {
  readonly seq: number;
  readonly what: string;
  readonly text: string;
}

/** What a log says; lists are in the order of the log, the newest last. */
export interface LogDigest {
  /** How many events of each kind, by name. */
  readonly counts: readonly (readonly [type: string, count: number])[];
  readonly first: DigestMessage | null;
  readonly messages: readonly DigestMessage[];
  readonly calls: readonly DigestCall[];
  /** Paths of calls that ended well, each once, by the last call that named it. */
  readonly filesRead: readonly string[];
  readonly filesChanged: readonly string[];
  readonly questions: readonly DigestQuestion[];
}

/** Gathers what the events up to `toSeq` say. Later ones only tell which questions were answered. */
export function digestOf(turns: readonly Turn[], toSeq: number): LogDigest {
  const all = turns.flatMap(({ events }) => events);
  const events = all.filter(({ seq }) => seq <= toSeq);
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  const messages = events.flatMap(asMessage);
  const calls = callsOf(events);
  return {
    counts: [...counts].sort(([a], [b]) => a < b ? -1 : 1),
    first: messages.find(({ role }) => role === "user") ?? null,
    messages,
    calls: calls.map(({ call, outcome }) => ({
      seq: call.seq,
      tool: callNameOf(call.item),
      subjects: callSubjects(call),
      outcome,
    })),
    filesRead: filesOf(calls, "read"),
    filesChanged: filesOf(calls, "changed"),
    questions: questionsOf(all, { messages, calls }),
  };
}

interface Called {
  readonly call: ToolCallEvent;
  readonly outcome: string;
}

function asMessage(event: SessionEvent): DigestMessage[] {
  const message = messageOf(event);
  return message === null || message.text.trim() === "" ? [] : [{ seq: event.seq, ...message }];
}

function callsOf(events: readonly SessionEvent[]): Called[] {
  const outcomes = new Map<number, string>();
  for (const event of events) if (event.type === "tool_result") outcomes.set(event.call_seq, event.status);
  return events.filter((event) => event.type === "tool_call").map((call) => ({
    call,
    outcome: outcomes.get(call.seq) ?? "no result",
  }));
}

function filesOf(calls: readonly Called[], effect: "read" | "changed"): string[] {
  const paths = new Set<string>();
  for (const { call, outcome } of calls) {
    if (outcome !== "ok" || fileEffect(call) !== effect) continue;
    for (const path of callPaths(call)) {
      paths.delete(path);
      paths.add(path);
    }
  }
  return [...paths];
}

/** What nobody answered: a question at the end of what was said, and calls that never came to a good end. */
function questionsOf(
  all: readonly SessionEvent[],
  { messages, calls }: { readonly messages: readonly DigestMessage[]; readonly calls: readonly Called[] },
): DigestQuestion[] {
  const lastUser = all.findLast(({ type }) => type === "user_message")?.seq ?? 0;
  const lastAnswer = all.findLast(({ type }) => type === "assistant_message")?.seq ?? 0;
  const asked = messages.flatMap(({ seq, role, text }): DigestQuestion[] => {
    if (role === "user") return seq > lastAnswer ? [{ seq, what: "unanswered request", text }] : [];
    const question = seq > lastUser ? lastQuestion(text) : null;
    return question === null ? [] : [{ seq, what: "question to the user", text: question }];
  });
  const done = new Map<string, number>();
  for (const { call, outcome } of calls) if (outcome === "ok") done.set(subjectOf(call), call.seq);
  const failed = calls.filter(({ call, outcome }) =>
    outcome !== "ok" && (done.get(subjectOf(call)) ?? 0) < call.seq
  ).map(({ call, outcome }) => ({
    seq: call.seq,
    what: `call that ended as ${outcome}`,
    text: subjectOf(call),
  }));
  return [...failed, ...asked].sort((a, b) => a.seq - b.seq);
}

/** The tool and what it was about: what a later call repeats when it tries again. */
function subjectOf(call: ToolCallEvent): string {
  return [callNameOf(call.item), ...callSubjects(call).map(({ text }) => text)].join(" ");
}

/** The last sentence of a text when it is a question. */
function lastQuestion(text: string): string | null {
  const trimmed = text.trim();
  if (!trimmed.endsWith("?")) return null;
  return trimmed.slice(Math.max(...[". ", "! ", "? ", "\n"].map((end) => trimmed.lastIndexOf(end))) + 1)
    .trim();
}
