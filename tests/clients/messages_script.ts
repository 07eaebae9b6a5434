/** The same sums with the Messages API: thinking before the uses of the tool. */
import {
  type RecordedMessages,
  says,
  type ScriptedAnswer,
  startMessagesServer,
  text,
  thinking,
  toolUse,
} from "../support/scripted_api/messages.ts";
import type { Mistake, Recorded, Thrown } from "./support.ts";

/** The Messages API in three steps: by how many results it was given. */
export function messagesApi() {
  return startMessagesServer({ script: messagesStep });
}

function messagesStep({ blocks }: RecordedMessages): ScriptedAnswer {
  const results = blocks.filter(({ type }) => type === "tool_result").length;
  if (results === 0) {
    return says([
      thinking("First the small ones, then the rest"),
      text("I will add."),
      toolUse("add", { a: 1, b: 2 }),
      toolUse("add", { a: 3, b: 4 }),
    ]);
  }
  if (results === 2) return says([thinking("Now both"), toolUse("add", { a: 3, b: 7 })]);
  return says([text("The sum is 10: 3 and 7 ✔")]);
}

/** The API's words for each mistake (protocol §11). */
export function messagesRefusals({ exchanges }: Recorded): readonly (readonly [Mistake, Thrown])[] {
  const id = /toolu_[0-9A-Za-z]+/.exec(exchanges[0]?.text ?? "")?.[0];
  const error = (message: string): Thrown => ({ status: 400, type: "invalid_request_error", message });
  return [
    ["blob_altered", error("messages.1.content.0: Invalid `signature` in `thinking` block")],
    [
      "output_forgotten",
      error(
        `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}. Each ` +
          "`tool_use` block must have a corresponding `tool_result` block in the next message.",
      ),
    ],
    [
      "call_forgotten",
      error(
        `messages.2.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each ` +
          "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
      ),
    ],
  ];
}
