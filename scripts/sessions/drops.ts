/**
 * What does not go back to the API, and why: a session for each reason to leave an item out.
 *
 * @module
 */
import { rawBlock, says, text, thinking } from "../../tests/support/messages_server/script.ts";
import { answer, message, reasoning, type RecordedRequest } from "../../tests/support/responses_server.ts";
import { httpError } from "../../tests/support/responses_server/faults.ts";
import type { ScriptedResponse } from "../../tests/support/responses_server/script.ts";
import { HELLO, READS_A } from "./ends.ts";
import { begin, beginReading, goOn, NO_TOOLS, type Scenario } from "./scenario.ts";

const READING = ["--deny", "list_files,search_text"];
const AGAIN = answer([reasoning("Thinking again"), message("Hello again.")]);
const GREETED = { args: begin("Hello?"), answers: [HELLO], exit: 0, state: "completed" } as const;
const NOW = { args: goOn(...NO_TOOLS, "And now?"), answers: [AGAIN], exit: 0, state: "completed" } as const;
const CLAUDE = "claude-fable-5-1";

/** More than a checkpoint takes to tell of it. */
const LONG = "Hello, hello, hello. ".repeat(80).trim();
/** Reasoning whose id the server does not make. */
const RAW = {
  kind: "item",
  item: { id: "rs_same", type: "reasoning", summary: [], encrypted_content: "opaque" },
} as const;

/** Refuses the first item of a type that the request holds, in these words. */
function refuses(type: string, words: (id: string) => string, code?: string) {
  return ({ input }: RecordedRequest): ScriptedResponse => {
    const item = input.find((each) => each.type === type);
    const error = { message: words(String(item?.call_id ?? item?.id)), param: "input" };
    return httpError(400, code === undefined ? error : { ...error, code });
  };
}

/** Them. */
export const DROPS: readonly Scenario[] = [
  {
    name: "drop-replay-off",
    note: "replay_off: no reasoning goes back where --replay says none",
    steps: [
      GREETED,
      {
        args: goOn(...NO_TOOLS, "--replay", "none", "And now?"),
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-outside-window",
    note: "outside_window: reasoning before the window stays out",
    steps: [
      GREETED,
      {
        args: goOn(...NO_TOOLS, "--replay-window", "0", "And now?"),
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-other-model",
    note: "other_model: reasoning of one model does not go to another",
    steps: [
      GREETED,
      {
        args: goOn(...NO_TOOLS, "And now?"),
        model: "gpt-5.4-mini",
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-other-endpoint",
    note: "other_endpoint: reasoning does not go to another address of the same API",
    steps: [
      GREETED,
      {
        args: goOn(...NO_TOOLS, "And now?"),
        baseUrl: "https://eu.api.openai.com/v1",
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-no-content",
    note: "no_encrypted_content: reasoning that came without its blob does not go back",
    steps: [
      {
        ...GREETED,
        answers: [
          answer([
            { kind: "item", item: { id: "rs_empty", type: "reasoning", summary: [] } },
            message("Hello."),
          ]),
        ],
      },
      { args: goOn(...NO_TOOLS, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
    ],
  },
  {
    name: "drop-no-follower",
    note: "no_following_item: reasoning that a cut response ends with does not go back alone",
    steps: [
      {
        ...GREETED,
        answers: [answer([reasoning("Thinking"), message("Hello.")])],
        faults: { 1: "cut after 8 events" },
        exit: 10,
        state: "failed",
      },
      { args: goOn(...NO_TOOLS, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
    ],
  },
  {
    name: "drop-other-account",
    note: "other_account: reasoning stays out once an answer told that the key belongs to somebody else",
    workspace: { "a.txt": "alpha\n" },
    steps: [
      {
        args: beginReading("Hello?"),
        answers: [HELLO],
        organization: "org-one",
        exit: 0,
        state: "completed",
      },
      {
        args: goOn(...READING, "What is in a.txt?"),
        answers: [READS_A, AGAIN],
        organization: "org-two",
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-quarantined",
    note: "quarantined: reasoning that the API refused by name is never sent again",
    steps: [
      GREETED,
      {
        ...NOW,
        answers: [
          refuses(
            "reasoning",
            (id) =>
              `The encrypted content for item ${id} could not be verified. ` +
              "Reason: Encrypted content could not be decrypted or parsed.",
            "invalid_encrypted_content",
          ),
          AGAIN,
        ],
      },
    ],
  },
  {
    name: "drop-refused-in-run",
    note: "refused_in_run: reasoning stays out of a run in which the API refused some without naming it",
    steps: [
      GREETED,
      {
        ...NOW,
        answers: [
          refuses(
            "reasoning",
            () => "The encrypted content gAAA...DQ== could not be verified.",
            "invalid_encrypted_content",
          ),
          AGAIN,
        ],
      },
    ],
  },
  {
    name: "drop-call-refused",
    note: "call_refused: a call whose pair the API refused stays out, with its result",
    workspace: { "a.txt": "alpha\n" },
    steps: [{
      args: beginReading("What is in a.txt?"),
      answers: [
        READS_A,
        refuses("function_call", (id) => `No tool output found for function call ${id}.`),
        AGAIN,
      ],
      exit: 0,
      state: "completed",
    }],
  },
  {
    name: "drop-duplicate",
    note: "duplicate_id: of two reasoning items with one id, one goes",
    steps: [
      {
        ...GREETED,
        provider: "compatible",
        answers: [answer([RAW, message("Hello.")])],
      },
      { ...NOW, provider: "compatible", answers: [answer([RAW, message("Hello again.")])] },
      { ...NOW, provider: "compatible", answers: [AGAIN] },
    ],
  },
  {
    name: "drop-hosted",
    note: "reasoning_dropped: what a hosted tool did does not go without the reasoning that it came from",
    steps: [
      {
        ...GREETED,
        answers: [
          answer([
            reasoning("Searching"),
            {
              kind: "item",
              item: {
                id: "ws_1",
                type: "web_search_call",
                status: "completed",
                action: { type: "search", query: "hello" },
              },
            },
            message("Hello."),
          ]),
        ],
      },
      { ...NOW, args: goOn(...NO_TOOLS, "--replay", "none", "And now?") },
    ],
  },
  {
    name: "drop-unsigned",
    note: "unsigned: thinking that came without its signature does not go back",
    steps: [
      {
        args: begin("Hello?"),
        says: [says([rawBlock({ type: "thinking", thinking: "Thinking", signature: "" }), text("Hello.")])],
        model: CLAUDE,
        exit: 0,
        state: "completed",
      },
      {
        args: goOn(...NO_TOOLS, "And now?"),
        says: [says([thinking("Again"), text("Hello again.")])],
        model: CLAUDE,
        exit: 0,
        state: "completed",
      },
    ],
  },
  {
    name: "drop-unanswered",
    note: "unanswered_call: a call that no tool of ours can answer does not go back",
    steps: [
      {
        ...GREETED,
        answers: [
          answer([
            reasoning("Thinking"),
            {
              kind: "item",
              item: {
                id: "sh_1",
                type: "shell_call",
                call_id: "call_s",
                status: "completed",
                action: { commands: ["ls"] },
              },
            },
            message("Hello."),
          ]),
        ],
      },
      NOW,
    ],
  },
  {
    name: "drop-prefix",
    note: "prefix_changed: thinking that is bound to what a checkpoint stands for now does not go back",
    steps: [
      { args: begin(LONG), says: [says([thinking("Thinking"), text(LONG)])], model: CLAUDE, exit: 0 },
      {
        args: goOn(...NO_TOOLS, "And now?"),
        says: [says([thinking("Again"), text("Hello again.")])],
        model: CLAUDE,
        exit: 0,
      },
      { args: ["compact", "s", "--tail-events", "6"], exit: 0 },
      {
        args: goOn(...NO_TOOLS, "And then?"),
        says: [says([thinking("Once more"), text("Hello once more.")])],
        model: CLAUDE,
        exit: 0,
      },
    ],
  },
];
