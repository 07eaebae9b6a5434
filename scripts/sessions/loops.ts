/**
 * Loops of calls: with every kind of server, and with a model that calls what it should not.
 *
 * @module
 */
import { read, shellArgv } from "../../tests/support/calls.ts";
import { answer, type DialectName, message, reasoning } from "../../tests/support/responses_server.ts";
import { functionCall } from "../../tests/support/responses_server/script.ts";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import { HELLO } from "./ends.ts";
import { goOn, type Scenario, type ScenarioStep } from "./scenario.ts";

const FILES = { "a.txt": "hello\n", "b.txt": "hello too\n" };
const LIST = { path: null, pattern: null, depth: null };
const COMPLETED = { exit: 0, state: "completed" } as const;
const START = ["run", "--new", "-s", "s", "--instructions", "Be brief."];

/** Two steps with calls and an answer; then a second run. */
function loop(
  name: string,
  note: string,
  dialect: DialectName,
  provider: ProviderKind,
  ...further: readonly ScenarioStep[]
): Scenario {
  return {
    name,
    note,
    workspace: FILES,
    steps: [
      {
        args: [...START, "What do the files say?"],
        provider,
        dialect,
        answers: [
          answer([
            reasoning("I list first"),
            message("Let me look.", { phase: "commentary" }),
            functionCall("list_files", LIST),
          ]),
          answer([reasoning(), read("a.txt"), read("b.txt")]),
          answer([
            reasoning("one", "two"),
            reasoning(),
            message("Both say hello.", { phase: "final_answer" }),
          ]),
        ],
        ...COMPLETED,
      },
      {
        args: goOn("Sure?"),
        provider,
        dialect,
        answers: [answer([reasoning(), message("Still hello.", { phase: "final_answer" })])],
        ...COMPLETED,
      },
      ...further,
    ],
  };
}

/** Them. */
export const LOOPS: readonly Scenario[] = [
  loop(
    "loop",
    "Parallel calls, phases and several reasoning items go back as they came",
    "openai",
    "openai",
    { args: ["verify", "s"], exit: 0 },
  ),
  loop("loop-azure", "The same loop of calls with Azure", "azure", "azure"),
  loop("loop-openrouter", "The same loop with a server like OpenRouter", "openrouter", "compatible"),
  loop("loop-copilot", "The same loop with new ids in every event and no blob", "copilot", "compatible"),
  loop("loop-lmstudio", "The same loop with a server like LM Studio", "lmstudio", "compatible"),
  loop("loop-xai", "The same loop with a server like xAI's", "xai", "compatible"),
  loop("loop-deepseek", "The same loop with a server like DeepSeek's", "deepseek", "compatible"),
  {
    name: "calls-misused",
    note: "What a model gets wrong becomes the result of its call, and the run goes on",
    workspace: FILES,
    runsTools: true,
    steps: [{
      args: [...START, "Try"],
      answers: [
        answer([
          functionCall("launch_rockets", {}),
          functionCall("read_file", "{not json"),
          functionCall("read_file", { path: 7 }),
          functionCall("list_files", LIST, { callId: "call_same" }),
          functionCall("list_files", LIST, { callId: "call_same" }),
          read("../../etc/passwd"),
        ]),
        HELLO,
      ],
      ...COMPLETED,
    }],
  },
  {
    name: "calls-large-output",
    note: "A large output goes whole into a blob; the model gets its head and its tail",
    workspace: FILES,
    runsTools: true,
    steps: [{
      args: [...START, "--allow", "shell", "Count"],
      answers: [answer([reasoning("Counting"), shellArgv("seq", "9000")]), HELLO],
      ...COMPLETED,
    }],
  },
  {
    name: "calls-of-failed",
    note: "Calls of a failed response are never run, and no later request holds them",
    workspace: FILES,
    runsTools: true,
    steps: [
      {
        args: [...START, "What is in a.txt?"],
        answers: [
          answer([reasoning("Looking"), read("a.txt")], {
            end: { kind: "failed", error: { code: "server_error", message: "The server had an error" } },
          }),
        ],
        exit: 10,
        state: "failed",
      },
      { args: goOn(), answers: [HELLO], ...COMPLETED },
    ],
  },
];
