/**
 * Loops of calls: with each kind of server, and with a model that makes mistakes.
 *
 * @module
 */
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import { read, shellArgv } from "../../tests/support/calls.ts";
import { says, text, thinking, toolUse } from "../../tests/support/messages_server/script.ts";
import { answer, type DialectName, message, reasoning } from "../../tests/support/responses_server.ts";
import { functionCall } from "../../tests/support/responses_server/script.ts";
import { COMPLETED, HELLO, START, type Story, type StoryStep } from "./story.ts";

const FILES = { "a.txt": "hello\n", "b.txt": "hello too\n" };
const LIST = { path: null, pattern: null, depth: null };
const readArgs = (path: string) => ({ path, offset: null, limit: null });
const QUESTION = [...START, "What do the files say?"];
const VERIFY: StoryStep = { args: ["fsck", "s", "--requests"], exit: 0 };
const LOOKS = answer([
  reasoning("I list first"),
  message("Let me look.", { phase: "commentary" }),
  functionCall("list_files", LIST),
]);
const READS_BOTH = answer([reasoning(), read("a.txt"), read("b.txt")]);
const ANSWERS = answer([
  reasoning("one", "two"),
  reasoning(),
  message("Both say hello.", { phase: "final_answer" }),
]);

/** One loop with a server that differs from OpenAI's. */
function like(name: string, dialect: DialectName, provider: ProviderKind, note: string): Story {
  const step = { args: QUESTION, provider, dialect, answers: [LOOKS, ANSWERS], ...COMPLETED };
  return { name: `loop-${name}`, note, workspace: FILES, steps: [step] };
}

/** The stories. */
export const LOOPS: readonly Story[] = [
  {
    name: "loop",
    note: "Parallel calls, phases and several reasoning items go back unchanged, in the next run too",
    workspace: FILES,
    steps: [
      { args: QUESTION, answers: [LOOKS, READS_BOTH, ANSWERS], ...COMPLETED },
      {
        args: ["run", "-s", "s", "Sure?"],
        answers: [answer([reasoning(), message("Still hello.", { phase: "final_answer" })])],
        ...COMPLETED,
      },
      VERIFY,
    ],
  },
  {
    name: "loop-anthropic",
    note: "Thinking goes back to Anthropic with its signature, before the calls that it led to",
    workspace: FILES,
    steps: [
      {
        args: QUESTION,
        says: [
          says([thinking("I list first"), text("Let me look."), toolUse("list_files", LIST)]),
          says([toolUse("read_file", readArgs("a.txt")), toolUse("read_file", readArgs("b.txt"))]),
          says([thinking("Both the same"), text("Both say hello.")]),
        ],
        ...COMPLETED,
      },
      {
        args: ["run", "-s", "s", "Sure?"],
        says: [says([thinking("Yes"), text("Still hello.")])],
        ...COMPLETED,
      },
      VERIFY,
    ],
  },
  like("azure", "azure", "azure", "The same loop with Azure"),
  like("openrouter", "openrouter", "compatible", "The same loop with a server like OpenRouter"),
  like("copilot", "copilot", "compatible", "The same loop with new ids in every event and no blob"),
  like("lmstudio", "lmstudio", "compatible", "The same loop with a server like LM Studio"),
  like("xai", "xai", "compatible", "The same loop with a server like xAI's"),
  like("deepseek", "deepseek", "compatible", "The same loop with a server like DeepSeek's"),
  {
    name: "calls",
    note: "A wrong call gets an error as its result; a large output is cut for the model and kept whole",
    workspace: FILES,
    runsTools: true,
    steps: [{
      args: [...START, "--allow", "shell", "Try"],
      answers: [
        answer([
          functionCall("launch_rockets", {}),
          functionCall("read_file", "{not json"),
          functionCall("read_file", { path: 7 }),
          functionCall("list_files", LIST, { callId: "call_same" }),
          functionCall("list_files", LIST, { callId: "call_same" }),
          read("../../etc/passwd"),
        ]),
        answer([reasoning("Counting"), shellArgv("seq", "9000")]),
        HELLO,
      ],
      ...COMPLETED,
    }],
  },
];
