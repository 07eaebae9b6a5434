import { RepriseError } from "../../domain/errors.ts";
import { parseSessionId, slugOf } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Stop } from "../../run/stop.ts";
import { type Home, resolveSession } from "../../store/home.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import { type RunPlan, runTarget } from "./run_plan.ts";

/** How a run begins. */
export interface Start {
  /** `null` to go on without a prompt. */
  readonly words: string | null;
  readonly stop: Stop;
}

/** The session under its lock; a stop while waiting for it ends the waiting. */
export async function openSession(home: Home, plan: RunPlan, start: Start): Promise<SessionWriter> {
  try {
    return await lockSession(home, plan, start);
  } catch (error) {
    const stopped = start.stop.error;
    throw stopped === null
      ? error
      : new RepriseError(stopped.code, stopped.message, { hint: "Nothing was done: run the command again" });
  }
}

async function lockSession(home: Home, plan: RunPlan, { words, stop }: Start): Promise<SessionWriter> {
  const { ports, flags } = plan;
  const { signal } = stop;
  if (plan.selector !== null) {
    const id = resolveSession(ports, home, {
      selector: plan.selector,
      workspace: ports.workspacePin(plan.root),
    });
    return await SessionWriter.open(ports, home, { id, waitMs: flags.wait * 1000, signal });
  }
  if (flags.session !== undefined) {
    return await SessionWriter.create(ports, home, { id: parseSessionId(flags.session) });
  }
  const base = `${slugOf(await namingWords(plan, words ?? ""))}-${randomSuffix(ports)}`;
  for (let attempt = 1;; attempt++) {
    const id = parseSessionId(attempt === 1 ? base : `${base}-${attempt}`);
    try {
      return await SessionWriter.create(ports, home, { id });
    } catch (error) {
      if (!(error instanceof RepriseError && error.code === "session_exists")) throw error;
    }
  }
}

/** The words that name a new session: those of a recorded one stand in its fixture, where no secret may be. */
async function namingWords(plan: RunPlan, words: string): Promise<string> {
  if (plan.flags.record === undefined) return words;
  const { recordingScrubber } = await import("./recording_scrubber.ts");
  return recordingScrubber(runTarget(plan, null).key, plan.flags.notSecret).text(words);
}

const SUFFIX_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz";

/** Four letters and digits that nobody mistakes for one another: the end of a new session's id. */
export function randomSuffix(ports: Ports): string {
  return Array.from({ length: 4 }, () => SUFFIX_LETTERS[Math.floor(ports.random() * SUFFIX_LETTERS.length)])
    .join("");
}
