/**
 * Turns of sessions that dice have written: runs of every outcome, with calls that are answered at once, in parts, late
 * or never.
 */
import type { Json } from "../../support/files.ts";
import type { Dice } from "../../support/dice.ts";
import {
  call,
  continued,
  ended,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  user,
} from "./session_files.ts";

/** Writes turns, and counts their events. */
class Hand {
  readonly turns: GivenTurn[] = [];
  readonly #dice: Dice;
  #seq = 0;
  #items = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  add(turn: GivenTurn): number {
    const first = this.#seq + 1;
    this.turns.push(turn);
    this.#seq += turn.events.length;
    return first;
  }

  text(what: string): string {
    return `${what} ${++this.#items}. `.repeat(this.#dice.pick([1, 1, 5, 60, 200]));
  }

  /** A response with calls and their results; some stay without, if the run is `killed` after it. */
  round(run: number, killed: boolean): void {
    const dice = this.#dice;
    const calls = Array.from({ length: dice.count(1, 3) }, () => `call_${++this.#items}`);
    const before: Json[] = dice.chance(0.7) ? [reasoning(`rs_${++this.#items}`, this.text("blob"))] : [];
    if (dice.chance(0.3)) before.push(message(`msg_${++this.#items}`, this.text("I look")));
    const { events: items, ...response } = model([...before, ...calls.map(call)], run);
    // In some, the usage is unknown, so that the last event is a call.
    const first =
      this.add({ ...response, kind: "model", events: items.slice(0, dice.pick([-1, undefined])) }) +
      before.length;
    const answered = calls.map((id, index) => [id, first + index] as const)
      .slice(0, killed ? dice.count(0, calls.length - 1) : calls.length);
    const cut = dice.chance(0.3) ? dice.count(0, answered.length) : 0;
    for (const part of [answered.slice(0, cut), answered.slice(cut)]) {
      if (part.length === 0) continue;
      const { events, ...turn } = results(Object.fromEntries(part), run);
      const status = dice.pick(["ok", "ok", "ok", "error", "denied"]);
      this.add({
        ...turn,
        events: events.map((event) => ({ ...event, status, output: this.text("output") })),
      });
    }
  }

  run(run: number, last: boolean): void {
    const dice = this.#dice;
    this.add(run > 1 && dice.chance(0.2) ? continued(run) : user(this.text("Task"), run));
    const outcome = dice.pick(
      last ? ["completed", "killed", "failed"] : ["completed", "completed", "failed"],
    );
    for (let rounds = dice.count(0, 3); rounds > 0; rounds--) {
      this.round(run, outcome === "killed" && rounds === 1);
    }
    if (outcome === "completed") {
      this.add(
        model([reasoning(`rs_${++this.#items}`), message(`msg_${++this.#items}`, this.text("Done"))], run),
      );
    }
    if (outcome === "failed" && dice.chance(0.5)) {
      const response = { id: null, status: "incomplete" };
      this.add(model([call(`call_${++this.#items}`)], run, { response }));
    }
    if (outcome !== "killed") this.add(ended(run, outcome, outcome === "completed" ? 0 : 10));
  }
}

/** Turns of one to `most` runs; only the last one may be open. */
export function randomTurns(dice: Dice, most = 4): readonly GivenTurn[] {
  const hand = new Hand(dice);
  const runs = dice.count(1, most);
  for (let run = 1; run <= runs; run++) hand.run(run, run === runs);
  return hand.turns;
}
