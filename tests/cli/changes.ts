/**
 * Support for the tests of the changing tools: calls that change things, what of them is on disk, and a look at what
 * still runs.
 */
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type Called, said } from "../support/reprise.ts";
import { answer, reasoning, type Script } from "../support/scripted_api/responses.ts";
import type { ScriptedItem } from "../support/scripted_api/responses_script.ts";
import { HELLO, type Place } from "./harness.ts";

export { edit, EVERYTHING, read, shellArgv, shellLine, write } from "../support/calls.ts";

/** A model that makes these calls in the first step of each run with a prompt, then answers. */
export function calling(...items: readonly ScriptedItem[]): Script {
  return ({ input }) => input.at(-1)?.type === "message" ? answer([reasoning("Hm"), ...items]) : HELLO;
}

/** The start of a run of the new session `s`. */
export const NEW_RUN = ["run", "--json", "--new", "-s", "s"] as const;

/** The events of one kind of a session, oldest first. */
export function eventsOf(place: Place, type: string, session = "s"): Json[] {
  return place.sandbox.turns(session).flatMap((turn): Json[] => turn.events)
    .filter((event) => event.type === type);
}

/** The status of each call, in order. */
export function statuses(place: Place, session = "s"): string[] {
  return eventsOf(place, "tool_result", session).map(({ status }) => status);
}

/** Every decision on disk as `tool: decision, reason (rule)`. */
export function decisions(place: Place, session = "s"): string[] {
  return eventsOf(place, "permission_decision", session).map(({ tool, decision, reason, rule }) =>
    `${tool}: ${decision}, ${reason}${rule === undefined ? "" : ` (${rule})`}`
  );
}

/** Names of the tools that the request with this number offered, from 1. */
export function offered(place: Place, number: number): string[] {
  const body: Json = place.server.requests[number - 1]?.body;
  return (body?.tools ?? []).map(({ name }: Json) => name);
}

/** Fails unless each call of a session has exactly one result on disk. */
export function assertAnswered(place: Place, session = "s"): void {
  const calls = eventsOf(place, "tool_call", session).map(({ seq }) => seq);
  const answered = eventsOf(place, "tool_result", session).map(({ call_seq }) => call_seq);
  assert.deepEqual(answered.toSorted(), calls.toSorted(), `each call of ${session} has exactly one result`);
}

/** Exit codes of stopped runs. */
export const EXIT_OF = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The next run of the session `s` completes, by the server's rules too, with one result for each call. */
export async function assertContinues(place: Place, ...prompt: readonly string[]): Promise<Called> {
  const next = await place.call(["run", "--json", "-s", "s", ...prompt]);
  assert.equal(next.code, 0, said(next));
  assert.deepEqual(place.server.refusals, []);
  assertAnswered(place);
  return next;
}

/** The names in the workspace. */
export function names(place: Place): string[] {
  return [...Deno.readDirSync(place.sandbox.workspace)].map(({ name }) => name).sort();
}

/** The content of a file of the workspace. */
export function content(place: Place, name: string): string {
  return Deno.readTextFileSync(`${place.sandbox.workspace}/${name}`);
}

let marks = 0;

/** A number of seconds that no other command of any test sleeps: it finds the processes of one case. */
export function mark(): string {
  return `1000.${Deno.pid}${String(++marks).padStart(4, "0")}`;
}

/** A command line that forks four processes; all ignore the signals that ask for an end. */
export function stubborn(seconds: string): string {
  return `trap '' TERM INT HUP; sleep ${seconds} & sleep ${seconds} & sleep ${seconds}; true`;
}

/** The command lines with this word in them that run now; those that wait to be collected have none. */
export function running(word: string): string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ");
      if (line.includes(word)) found.push(`${name} ${line}`);
    } catch {
      // It ended while the list was read.
    }
  }
  return found;
}
