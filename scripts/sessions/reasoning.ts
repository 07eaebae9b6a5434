/**
 * Reasoning that goes back to its own provider only, and not after a refusal.
 * tests/unit/cli/run/dropped_items_test.ts has a row for each reason to leave an item out.
 *
 * @module
 */
import { says, text, thinking, toolUse } from "../../tests/support/messages_server/script.ts";
import { answer, message, reasoning, type RecordedRequest } from "../../tests/support/responses_server.ts";
import { functionCall, type ScriptedResponse } from "../../tests/support/responses_server/script.ts";
import { reasoningIds, type RefusalShape, refuse } from "../../tests/support/responses_server/refusing.ts";
import {
  A,
  AGAIN,
  CLAUDE,
  greets,
  HELLO,
  killed,
  next,
  READ_A,
  reads,
  SOUND,
  type Story,
  type StoryStep,
} from "./story.ts";

const TWO = answer([reasoning("One"), reasoning("Two"), message("Done.")]);
const READ_ARGS = { path: "a.txt", offset: null, limit: null };
const VERIFY: StoryStep = { args: ["fsck", "s", "--requests"], exit: 0 };

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
const BAD_REQUEST = refuse({ message: "Bad Request" }, "http");

/** The stories. */
export const REASONING: readonly Story[] = [
  {
    name: "provider-switch",
    note: "Text, calls and results go to the other provider and back; reasoning never does",
    workspace: A,
    steps: [
      // An id that Anthropic does not take.
      {
        ...READ_A,
        answers: [
          answer([reasoning("Looking"), functionCall("read_file", READ_ARGS, { callId: "call.one|1" })]),
          HELLO,
        ],
      },
      {
        args: reads("Look yourself").args,
        says: [
          says([thinking("My own look"), toolUse("read_file", READ_ARGS)]),
          says([thinking("Done"), text("alpha")]),
        ],
        model: CLAUDE,
        exit: 0,
        state: "completed",
      },
      reads("Sure?", [AGAIN]),
      {
        args: reads("And you?").args,
        says: [says([thinking("And again"), text("alpha, once more")])],
        model: CLAUDE,
        exit: 0,
        state: "completed",
      },
      ...SOUND,
    ],
  },
  {
    name: "refused-by-name",
    note: "A refused item stays out, even after a kill before the retry, until its quarantine is lifted",
    steps: [
      greets(TWO),
      killed(next("And now?", naming("error_then_failed")), 5),
      next(null, TWO),
      { args: ["repair", "s", "--lift-quarantine"], exit: 0 },
      next("And then?", TWO),
      VERIFY,
    ],
  },
  {
    name: "refused-without-name",
    note: "Reasoning that is refused without a name is sent once more in the next run, then stays out",
    steps: [
      greets(TWO),
      next("And now?", NAMING_NONE, TWO),
      next("And then?", NAMING_NONE, TWO),
      next("And at last?", TWO),
      VERIFY,
    ],
  },
  {
    name: "refused-for-good",
    note: "A refusal that the retry without reasoning meets too is exit code 13, and quarantines nothing",
    steps: [
      greets(TWO),
      { ...next("And now?", BAD_REQUEST, BAD_REQUEST), exit: 13, state: "failed" },
      next("And then?", TWO),
      VERIFY,
    ],
  },
];
