/**
 * One step of a session test: a process of the program, and what it asked.
 *
 * @module
 */
import { type JsonObject, parsedObject, stringMember } from "../../domain/json.ts";
import type { SessionStep } from "../../fixture/session/session_file.ts";
import { rootedText } from "../../tools/rooted.ts";
import { signalChild } from "../stop_signals.ts";
import type { TestPlace } from "./place.ts";
import { ownProgram, stepEnvironment } from "./program.ts";

/** A request as the step sent it. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** How a step ended. */
export interface StepEnd {
  /** The exit code; of a killed process, 128 and the number of the signal. */
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
  readonly place: TestPlace;
  /** 1, 2, … */
  readonly number: number;
  /** The folder of its exchanges. */
  readonly fixture: string | null;
  /** Where its clock begins, when it has no fixture. */
  readonly clock: string;
  /** Ends the process. */
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
  { place, number, fixture, clock, signal }: StepPlay,
): Promise<StepEnd> {
  const log = `${place.root}/asked-${number}`;
  const [command, ...before] = ownProgram();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), STEP_LIMIT_MS);
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  try {
    const child = new Deno.Command(command, {
      args: [
        ...before,
        verb,
        ...["--json", "--home", place.home],
        ...(verb === "run" ? ["-w", place.workspace] : []),
        ...(fixture === null ? [] : ["--fixture", fixture]),
        ...args,
      ],
      cwd: place.cwd,
      clearEnv: true,
      env: {
        ...stepEnvironment(place),
        ...(fixture === null ? { REPRISE_PLAY_CLOCK: clock } : { REPRISE_PLAY_LOG: log }),
        ...(kill === undefined ? {} : { REPRISE_PLAY_STOP: `${kill.signal ?? "SIGKILL"} ${kill.turn}` }),
      },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    // A run that is asked to end ends the commands of its tools first; nobody could find these afterwards.
    const end = () => {
      signalChild(child, "SIGTERM");
      lastResort = setTimeout(() => signalChild(child, "SIGKILL"), END_GRACE_MS);
    };
    const either = AbortSignal.any([signal, limit.signal]);
    either.addEventListener("abort", end);
    if (either.aborted) end();
    const [{ code, stdout, stderr }] = await Promise.all([child.output(), feed(child, stdin)]);
    either.removeEventListener("abort", end);
    const lines = jsonLines(new TextDecoder().decode(stdout));
    const asked = jsonLines(fixture === null ? "" : textOf(log));
    const ended = lines.findLast(({ type }) => type === "run.ended");
    return {
      exit: code,
      hung: limit.signal.aborted,
      state: ended === undefined ? null : stringMember(ended, "state") ?? null,
      saved: lines.flatMap((line) => line.type === "turn.saved" ? [Number(line.turn)] : []),
      requests: asked.filter((line) => line.type !== "end") as unknown as SentRequest[],
      said: rootedText(
        { status: "error", text: saidIn(lines, new TextDecoder().decode(stderr)) },
        { playRoot: place.root },
      ).text,
    };
  } finally {
    clearTimeout(timer);
    clearTimeout(lastResort);
  }
}

async function feed(child: Deno.ChildProcess, stdin: string | undefined): Promise<void> {
  if (stdin === undefined) return;
  const writer = child.stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  } catch {
    // A program that ends before it reads says why by its exit code.
  }
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** The JSON objects of a text, one a line; a process that was killed may have cut the last one. */
function jsonLines(text: string): JsonObject[] {
  return text.split("\n").map(parsedObject).filter((value) => value !== null);
}

function saidIn(lines: readonly JsonObject[], stderr: string): string {
  const error = lines.findLast(({ type }) => type === "error");
  if (error !== undefined) return `${stringMember(error, "code")}: ${stringMember(error, "message")}`;
  return stderr.trim().slice(-SAID_CHARACTERS);
}
