/** Files that the pages of the docs name. */
import { entry, har } from "../../doors/recordings/import_sources.ts";
import { BASE, cassette } from "../../doors/recordings/importing.ts";

/** Answer of a recording of another tool. */
const ANSWER = JSON.stringify({
  ...{ id: "resp_1", object: "response", status: "completed", model: "gpt-5.6" },
  output: [{
    ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: "Paris.", annotations: [] }],
  }],
});
const REQUEST = '{"model":"gpt-5.6","input":"What is the capital of France?","store":false}';

/** A cassette of vcrpy, with one request. */
export const CASSETTE = cassette({ request: { body: REQUEST }, response: { body: { string: ANSWER } } });

/** A recording of Polly.js, with the same request. */
export const HAR = har(
  "Polly.JS",
  entry({
    request: { url: `${BASE}/responses`, postData: { mimeType: "application/json", text: REQUEST } },
    content: { text: ANSWER, size: ANSWER.length },
  }),
);

/** The model's summary of a session, as `compact --strategy model` wants it. */
export const SUMMARY = JSON.stringify({
  summary: "a.txt was read.",
  decisions: [],
  files_read: ["a.txt"],
  files_changed: [],
  open_questions: [],
  next_steps: [],
  tool_calls: 26,
  limitations: ["Results are left out"],
});

/** A schema of an answer. */
export const PERSON = JSON.stringify({
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
});
