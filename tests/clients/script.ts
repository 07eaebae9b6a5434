/** Conversation with every client: sums, in three steps, with reasoning before the calls. */
import {
  answer,
  functionCall,
  message,
  reasoning,
  type RecordedRequest,
  type ScriptedResponse,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import type { Conversation, Mistake, Recorded, Thrown } from "./support.ts";

/** The model of every request to the Responses API; one that clients know to reason. */
export const MODEL = "gpt-5.6";
/** The model of every request to Chat Completions; one that clients do not take for a reasoning model. */
export const CHAT_MODEL = "gpt-4o";
export const PROMPT = "Add 1 and 2, add 3 and 4, and then the two sums";
export const INSTRUCTIONS = "Add with the tool, never by yourself";

/** The one tool. */
export const ADD = {
  name: "add",
  description: "Adds two numbers",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
} as const;

/** Returns the result of the tool. */
export function sumOf(args: string): string {
  const { a, b } = JSON.parse(args) as { a: number; b: number };
  return String(a + b);
}

/** Ids of the items in a recording's first answer, and of the compaction in a later one. */
export interface Ids {
  readonly reasoning: string;
  readonly message: string;
  readonly call_id: string;
  readonly compaction: string;
}

/** Finds the first item of each type that a recording issued. */
export function idsOf({ exchanges }: Recorded): Ids {
  const texts = exchanges.map(({ text }) => text).join("\n");
  const first = (pattern: RegExp) => pattern.exec(texts)?.[0] ?? "";
  return {
    reasoning: first(/rs_[0-9a-f]+/),
    message: first(/msg_[0-9a-f]+/),
    call_id: first(/call_[0-9a-f]{24}/),
    compaction: first(/cmp_[0-9a-f]+/),
  };
}

/** Errors of the `openai` package for each mistake. */
export const refusalsOfOpenai = (recorded: Recorded) => refusals(recorded, "400 ");

/** The API's words for each mistake (protocol §6.2), after what a client's error puts before them. */
export function refusals(recorded: Recorded, before = ""): readonly (readonly [Mistake, Thrown])[] {
  const { reasoning, message, call_id } = idsOf(recorded);
  const error = (words: string, param: string | null, code: string | null): Thrown => ({
    status: 400,
    type: "invalid_request_error",
    code,
    param,
    message: `${before}${words}`,
  });
  return [
    [
      "reasoning_dropped",
      error(
        `Item '${message}' of type 'message' was provided without its required 'reasoning' item: '${reasoning}'.`,
        "input",
        null,
      ),
    ],
    [
      "blob_altered",
      error(
        `The encrypted content for item ${reasoning} could not be verified. Reason: Encrypted content could ` +
          "not be decrypted or parsed.",
        null,
        "invalid_encrypted_content",
      ),
    ],
    ["output_forgotten", error(`No tool output found for function call ${call_id}.`, "input", null)],
    [
      "call_forgotten",
      error(`No tool call found for function call output with call_id ${call_id}.`, "input", null),
    ],
  ];
}

/** Differences that a miss reports for the first request, if the package sends instructions separately. */
export const MISSES: Conversation["misses"] = [
  [{ prompt: "Subtract" }, "input[0].content", PROMPT, "Subtract"],
  [{ instructions: "Subtract" }, "instructions", INSTRUCTIONS, "Subtract"],
  [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
  [{ result: "4" }, "input[5].output", '"3"', '"4"'],
];

/** The Responses API in three steps: by how many results it was given. */
export function responsesApi() {
  return startResponsesServer({ script: responsesStep });
}

/** The answer of that API to a request. */
export function responsesStep({ input }: RecordedRequest): ScriptedResponse {
  const results = input.filter(({ type }) => type === "function_call_output").length;
  if (results === 2) {
    return answer([reasoning("Now both"), functionCall("add", { a: 3, b: 7 })]);
  }
  if (results > 2 || !input.some(({ content }) => JSON.stringify(content ?? "").includes("Add"))) {
    return answer([reasoning(), message("The sum is 10: 3 and 7 ✔", { phase: "final_answer" })]);
  }
  return answer([
    reasoning("First the **small** ones", "then the rest"),
    message("I will add.", { phase: "commentary" }),
    functionCall("add", { a: 1, b: 2 }),
    functionCall("add", { a: 3, b: 4 }),
  ]);
}
