/**
 * One step of a session test: a call of the program, and what it asked.
 *
 * @module
 */
import { stringMember } from "../../domain/json.ts";
import type { SessionStep } from "../../fixture/session/session_file.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { main } from "../main.ts";
import type { TestPlace } from "./place.ts";
import { type SentRequest, StepProcess } from "./step_ports.ts";
import { rootedText } from "./virtual_root.ts";

/** How a step ended. */
export interface StepEnd {
  /** The exit code; after a kill, 128 and the number of the signal. */
  readonly exit: number;
  /** It did not end by itself in time. */
  readonly hung: boolean;
  /** Of the run; `null` where it was none. */
  readonly state: string | null;
  /** The turns that it saved. */
  readonly saved: readonly number[];
  readonly requests: readonly SentRequest[];
  /** Its error in one line, or the end of its stderr, paths as tools tell them; empty where it said nothing. */
  readonly said: string;
}

/** What a step is played with. */
export interface StepPlay {
  /** Those of the program that plays it. */
  readonly ports: ProgramPorts;
  readonly place: TestPlace;
  /** The folder of its exchanges. */
  readonly fixture: string | null;
  /** When its clock begins, if it has no fixture. */
  readonly clock: string;
  /** Ends the step. */
  readonly signal: AbortSignal;
}

/** Longer than any step takes that ends at all, in milliseconds. */
const STEP_LIMIT_MS = 120_000;
/** From SIGTERM to SIGKILL for a step that is ended, in milliseconds: longer than a stopped run waits for its commands. */
const END_GRACE_MS = 20_000;
const SAID_CHARACTERS = 2000;

/** Plays a step to its end. */
export async function playStep(
  { args: [verb = "", ...args], stdin, kill }: SessionStep,
  { ports, place, fixture, clock, signal }: StepPlay,
): Promise<StepEnd> {
  const step = new StepProcess(ports, { place, clock, stdin, kill });
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), STEP_LIMIT_MS);
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  // A run that is asked to end ends the commands of its tools first.
  const end = () => {
    step.signal("SIGTERM");
    lastResort = setTimeout(() => step.signal("SIGKILL"), END_GRACE_MS);
  };
  const either = AbortSignal.any([signal, limit.signal]);
  either.addEventListener("abort", end);
  if (either.aborted) end();
  try {
    const exit = await step.run((own) =>
      main([
        verb,
        ...["--json", "--home", place.home],
        ...(verb === "run" ? ["-w", place.workspace] : []),
        ...(fixture === null ? [] : ["--fixture", fixture]),
        ...args,
      ], own)
    );
    const ended = step.lines.findLast(({ type }) => type === "run.ended");
    return {
      exit,
      hung: limit.signal.aborted,
      state: ended === undefined ? null : stringMember(ended, "state") ?? null,
      saved: step.lines.flatMap((line) => line.type === "turn.saved" ? [Number(line.turn)] : []),
      requests: step.requests,
      said: saidBy(step, place),
    };
  } finally {
    either.removeEventListener("abort", end);
    clearTimeout(timer);
    clearTimeout(lastResort);
  }
}

function saidBy({ lines, stderr }: StepProcess, { root }: TestPlace): string {
  const error = lines.findLast(({ type }) => type === "error");
  const text = error === undefined
    ? stderr.trim().slice(-SAID_CHARACTERS)
    : `${stringMember(error, "code")}: ${stringMember(error, "message")}`;
  return rootedText(text, root);
}
