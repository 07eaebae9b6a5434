/** Signals stop a run once; the second one, and a stop that takes too long, end the process. */
import assert from "node:assert/strict";
import type { ExitCode } from "../../../src/domain/errors.ts";
import type { ProgramPorts } from "../../../src/cli/live_ports.ts";
import { stopOnSignals, type StopSignal } from "../../../src/cli/signals.ts";
import { Stop } from "../../../src/run/outcome.ts";

/** More than a stopped run may take to close. */
const LONG_MS = 16_000;
const TIMEOUT_MS = 60_000;

/** A run that stops on signals, with timers and signals of its own. */
class Stopping implements Disposable {
  readonly stop = new Stop();
  readonly #timers = new Map<number, { readonly act: () => void; readonly milliseconds: number }>();
  readonly #real = [globalThis.setTimeout, globalThis.clearTimeout] as const;
  readonly exits: ExitCode[] = [];
  readonly undo: () => void;
  signal: (signal: StopSignal, exitCode: ExitCode) => void = () => {};

  constructor() {
    let timers = 0;
    const set = (act: () => void, milliseconds: number) => {
      this.#timers.set(++timers, { act, milliseconds });
      return timers;
    };
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: (timer: number) => this.#timers.delete(timer),
    });
    const ports = {
      onStopSignals: (act: Stopping["signal"]) => {
        this.signal = act;
        return () => this.signal = () => {};
      },
      exit: (code: ExitCode) => this.exits.push(code),
    } as unknown as ProgramPorts;
    this.undo = stopOnSignals(ports, this.stop, TIMEOUT_MS);
  }

  /** Lets time pass for the timers that are set. */
  pass(milliseconds: number): void {
    for (const [timer, { act, milliseconds: after }] of [...this.#timers]) {
      if (after > milliseconds) continue;
      this.#timers.delete(timer);
      act();
    }
  }

  [Symbol.dispose]() {
    this.undo();
    [globalThis.setTimeout, globalThis.clearTimeout] = this.#real;
  }
}

Deno.test("the first signal stops the run, the second ends the process with its own code", () => {
  using run = new Stopping();
  run.signal("SIGTERM", 143);
  assert.deepEqual([run.stop.error?.code, run.exits], ["terminated", []]);
  run.signal("SIGINT", 130);
  assert.deepEqual(run.exits, [130]);
});

Deno.test("a stop that takes too long ends the process, whatever requested it", () => {
  using run = new Stopping();
  run.stop.request("broken_pipe");
  run.pass(LONG_MS);
  assert.deepEqual(run.exits, [run.stop.error?.exitCode]);
});

Deno.test("the total timeout stops the run", () => {
  using run = new Stopping();
  run.pass(TIMEOUT_MS);
  assert.equal(run.stop.error?.code, "timed_out");
});

Deno.test("a run that has ended stops no more, and ends no process", () => {
  using run = new Stopping();
  run.undo();
  run.stop.request("SIGINT");
  run.pass(TIMEOUT_MS);
  assert.deepEqual([run.stop.error?.code, run.exits], ["interrupted", []]);
});
