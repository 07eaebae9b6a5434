import { oneFailed, type Tally } from "./tally.ts";

/** How one phase of the gate ended. */
export interface PhaseResult {
  readonly tally: Tally;
  /** Shown when something failed, or when the phase has something to say. */
  readonly output: string;
}

/** One independent part of the gate. */
export interface Phase {
  readonly name: string;
  /** Name of the phase that must have ended before this one starts; one that is not in the list is not waited for. */
  readonly after?: string;
  run(): Promise<PhaseResult>;
}

/** A phase that ended. */
export interface EndedPhase extends PhaseResult {
  readonly name: string;
  readonly seconds: number;
}

/** How phases are run. */
export interface PhaseOptions {
  /** How many run at the same time. */
  readonly jobs: number;
  /** Called as each phase ends. */
  readonly onEnd: (ended: EndedPhase) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Runs all phases in list order, `jobs` at a time; a phase that throws counts as one failure. */
export async function runPhases(phases: readonly Phase[], options: PhaseOptions): Promise<EndedPhase[]> {
  const waiting = [...phases];
  const running = new Map<string, Promise<void>>();
  const ended: EndedPhase[] = [];

  function isReady(phase: Phase): boolean {
    return !running.has(phase.after ?? "") && !waiting.some((other) => other.name === phase.after);
  }

  async function runOne(phase: Phase): Promise<void> {
    const started = options.now();
    const result = await phase.run().catch((error: unknown): PhaseResult => ({
      tally: oneFailed(phase.name),
      output: error instanceof Error ? error.message : String(error),
    }));
    running.delete(phase.name);
    const done = { ...result, name: phase.name, seconds: (options.now() - started) / 1000 };
    ended.push(done);
    options.onEnd(done);
  }

  while (waiting.length > 0 || running.size > 0) {
    const next = running.size < options.jobs ? waiting.findIndex(isReady) : -1;
    if (next >= 0) {
      const [phase] = waiting.splice(next, 1);
      if (phase !== undefined) running.set(phase.name, runOne(phase));
    } else if (running.size > 0) {
      await Promise.race(running.values());
    } else {
      throw new Error(
        `Cannot order the phases: each of ${waiting.map((phase) => phase.name)} waits for another`,
      );
    }
  }
  return ended;
}
