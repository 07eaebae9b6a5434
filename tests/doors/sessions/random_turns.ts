/**
 * Turns of sessions that dice have written: runs of every outcome, with calls that are answered at once, in parts, late
 * or never.
 */
import type { Dice } from "../../support/dice.ts";
import { asks, ends, resumes, says, Story } from "../wire/story.ts";
import { call, type GivenTurn, message, model, reasoning, results } from "./session_files.ts";

/** Turns of one to `most` runs; only the last one may be open. */
export function randomTurns(dice: Dice, most = 4): readonly GivenTurn[] {
  const story = new Story();
  let items = 0;
  const id = (kind: string) => `${kind}_${++items}`;
  const text = (what: string) => `${what} ${++items}. `.repeat(dice.pick([1, 1, 5, 60, 200]));

  /** A response with calls and their results; some stay without, if the run is `killed` after it. */
  const round = (killed: boolean) => {
    const calls = Array.from({ length: dice.count(1, 3) }, () => id("call"));
    const { events: made, ...response } = model([
      ...dice.chance(0.7) ? [reasoning(id("rs"), text("blob"))] : [],
      ...dice.chance(0.3) ? [message(id("msg"), text("I look"))] : [],
      ...calls.map(call),
    ]);
    // In some, the usage is unknown, so that the last event is a call.
    story.add({ ...response, kind: "model", events: made.slice(0, dice.pick([-1, undefined])) });
    const answered = killed ? calls.slice(0, dice.count(0, calls.length - 1)) : calls;
    const cut = dice.chance(0.3) ? dice.count(0, answered.length) : 0;
    for (const part of [answered.slice(0, cut), answered.slice(cut)]) {
      if (part.length === 0) continue;
      const status = dice.pick(["ok", "ok", "ok", "error", "denied"]);
      const { events } = results(Object.fromEntries(part.map((each) => [each, story.seqOf(each)])));
      story.add({
        kind: "tools",
        events: events.map((event) => ({ ...event, status, output: text("output") })),
      });
    }
  };

  const runs = dice.count(1, most);
  for (let run = 1; run <= runs; run++) {
    (run > 1 && dice.chance(0.2) ? resumes : asks(text("Task")))(story);
    const outcome = dice.pick(["completed", run === runs ? "killed" : "completed", "failed"]);
    for (let rounds = dice.count(0, 3); rounds > 0; rounds--) round(outcome === "killed" && rounds === 1);
    if (outcome === "completed") says([reasoning(id("rs")), message(id("msg"), text("Done"))])(story);
    if (outcome === "failed" && dice.chance(0.5)) says([call(id("call"))], { status: "incomplete" })(story);
    if (outcome !== "killed") ends(outcome, outcome === "completed" ? 0 : 10)(story);
  }
  return story.turns;
}
