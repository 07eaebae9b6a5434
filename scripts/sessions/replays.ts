/**
 * How far reasoning goes back, and what becomes of a refusal over several runs.
 *
 * @module
 */
import { answer, message, reasoning, type RecordedRequest } from "../../tests/support/responses_server.ts";
import type { ScriptedResponse } from "../../tests/support/responses_server/script.ts";
import {
  OTHER_WORDS,
  reasoningIds,
  type RefusalShape,
  refuse,
} from "../../tests/support/responses_server/refusing.ts";
import { HELLO, READS_A } from "./ends.ts";
import { begin, beginReading, goOn, NO_TOOLS, type Scenario, type ScenarioStep } from "./scenario.ts";

const A = { "a.txt": "alpha\n" };
const READING = ["--deny", "list_files,search_text"];
const COMPLETED = { exit: 0, state: "completed" } as const;
const TWO = answer([reasoning("One"), reasoning("Two"), message("Done.")]);
const DONE = answer([message("Done.")]);
const GREETED: ScenarioStep = { args: begin("Hello?"), answers: [TWO], ...COMPLETED };
const READ_A: ScenarioStep = {
  args: beginReading("What is in a.txt?"),
  answers: [READS_A, HELLO],
  ...COMPLETED,
};
const OLD_MODEL = "gpt-4.1";
const ELSEWHERE = "https://eu.api.openai.com/v1";

/** One more run without tools. */
function next(words: string, ...answers: ScenarioStep["answers"] & object): ScenarioStep {
  return { args: goOn(...NO_TOOLS, words), answers, ...COMPLETED };
}

/** One more run that reads. */
function reads(words: string, ...flags: readonly string[]): ScenarioStep {
  return { args: goOn(...READING, ...flags, words), answers: [READS_A, HELLO], ...COMPLETED };
}

/** Refuses the first reasoning item of the request by its name. */
function naming(shape: RefusalShape) {
  return (request: RecordedRequest): ScriptedResponse =>
    refuse({
      message: `The encrypted content for item ${reasoningIds(request)[0]} could not be verified.`,
      code: "invalid_encrypted_content",
    }, shape);
}

const NAMING_NONE = refuse({
  message: "The encrypted content gAAA...DQ== could not be verified.",
  code: "invalid_encrypted_content",
}, "http");
const EXPIRED = OTHER_WORDS["expired"] as (id: string) => ScriptedResponse;
const BAD_REQUEST = refuse({ message: "Bad Request" }, "http");
const NO_INCLUDE = refuse({
  message: "Encrypted content is not supported with this model.",
  param: "include",
}, "http");

/** Them. */
export const REPLAYS: readonly Scenario[] = [
  {
    name: "replay-family",
    note: "--replay family sends what another model of the family has made",
    steps: [GREETED, {
      ...next("And now?", HELLO),
      args: goOn(...NO_TOOLS, "--replay", "family", "And now?"),
      model: "gpt-5.6-mini",
    }],
  },
  {
    name: "replay-window",
    note: "--replay-window sends the newest items from before the prompt, and all from behind it",
    workspace: A,
    steps: [READ_A, reads("And now?"), reads("And then?", "--replay-window", "3")],
  },
  {
    name: "replay-off-for-a-run",
    note: "--no-reasoning-replay holds in every request of its run, and only there",
    workspace: A,
    steps: [READ_A, reads("And now?", "--no-reasoning-replay"), reads("And then?")],
  },
  {
    name: "endpoint-and-back",
    note: "Back at its own endpoint, a session sends what was made there and nothing that was made elsewhere",
    workspace: A,
    steps: [READ_A, { ...reads("And there?"), baseUrl: ELSEWHERE }, reads("And now?")],
  },
  {
    name: "refused-in-stream",
    note: "An item that is refused in a stream is left out of all that follows; the others go again",
    steps: [
      GREETED,
      next("And now?", naming("error_then_failed"), TWO),
      next("And then?", TWO),
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "refused-without-name",
    note: "Reasoning that is refused without a name is tried once more in the next run, then kept out",
    steps: [
      GREETED,
      next("And now?", NAMING_NONE, TWO),
      next("And then?", NAMING_NONE, TWO),
      next("And at last?", TWO),
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "refused-twice",
    note: "A second refusal in one run ends it with the API's words: state failed, exit code 13",
    steps: [GREETED, { ...next("And now?", NAMING_NONE, NAMING_NONE), exit: 13, state: "failed" }],
  },
  {
    name: "refused-in-other-words",
    note: "An item that is refused in words of no documentation is left out of all that follows",
    steps: [
      GREETED,
      next("And now?", (request) => EXPIRED(String(reasoningIds(request)[0])), TWO),
      next("And then?", TWO),
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "refused-whatever-goes",
    note: "A refusal that the retry without reasoning meets too leaves nothing behind: exit code 13",
    steps: [
      GREETED,
      { ...next("And now?", BAD_REQUEST, BAD_REQUEST), exit: 13, state: "failed" },
      next("And then?", TWO),
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "refused-then-killed",
    note: "Killed before the request without the refused item: the next run knows what was refused",
    steps: [
      GREETED,
      {
        args: goOn(...NO_TOOLS, "And now?"),
        answers: [naming("http")],
        kill: { after: "turn.saved", turn: 5 },
        exit: 137,
      },
      { args: goOn(...NO_TOOLS), answers: [TWO], ...COMPLETED },
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "refused-and-lifted",
    note: "repair --lift-quarantine sends a refused item again",
    steps: [
      GREETED,
      next("And now?", naming("http"), TWO),
      { args: ["repair", "s", "--lift-quarantine"], exit: 0 },
      next("And then?", TWO),
      { args: ["verify", "s"], exit: 0 },
    ],
  },
  {
    name: "include-refused",
    note: "A member that one model at one endpoint refuses is left out there, and asked for elsewhere",
    steps: [
      { args: begin("Hello?"), answers: [NO_INCLUDE, DONE], model: OLD_MODEL, ...COMPLETED },
      { ...next("And now?", DONE), model: OLD_MODEL },
      next("And then?", DONE),
      { ...next("And there?", NO_INCLUDE, DONE), model: OLD_MODEL, baseUrl: ELSEWHERE },
    ],
  },
];
