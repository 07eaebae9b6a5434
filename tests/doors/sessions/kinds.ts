/** Turns of one session of each kind. */
import { sha256 } from "../../support/files.ts";
import {
  call,
  checkpoint,
  ended,
  FIVE_TURNS,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  user,
} from "./session_files.ts";

/** Content of blobs that the sessions name beside those of their pins. */
export const LARGE = "a large output ".repeat(50);

/** A later run, from that seq on: ten events in five turns. */
export const again = (run: number, first: number): readonly GivenTurn[] => [
  user("go on", run),
  model([reasoning(`rs_${run}`), call("call_x"), call("call_y")], run),
  results({ call_x: first + 2, call_y: first + 3 }, run),
  model([message(`msg_${run}`, "Done.")], run),
  ended(run),
];

const killed = [
  ...FIVE_TURNS,
  user("go on", 2),
  model([reasoning("rs_2"), call("call_x"), call("call_y")], 2),
  results({ call_x: 13 }, 2),
];

/** Turns of each kind of session, by its id. */
export const KINDS: Readonly<Record<string, readonly GivenTurn[]>> = {
  plain: FIVE_TURNS,
  blobs: [
    user("read the large one"),
    model([reasoning("rs_1"), call("call_a")]),
    {
      kind: "tools",
      events: results({ call_a: 3 }).events.map((event) => ({
        ...event,
        blob: { sha256: sha256(LARGE), bytes: LARGE.length },
      })),
    },
    ended(),
  ],
  killed,
  compacted: [
    ...FIVE_TURNS,
    ...again(2, 11),
    checkpoint({ turn: 5, seq: 10 }, null),
    ...again(3, 22),
  ],
  "cut-inside": [
    ...FIVE_TURNS,
    user("a long task", 2),
    model([message("msg_2", "First part.")], 2),
    checkpoint({ turn: 7, seq: 13 }, 6),
    model([message("msg_3", "Second part.")], 2),
  ],
};
