/** Files that the pages of the docs name. */

/** Answer of a recording of another tool. */
const ANSWER = JSON.stringify({
  ...{ id: "resp_1", object: "response", status: "completed", model: "gpt-5.6" },
  output: [{
    ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: "Paris.", annotations: [] }],
  }],
});
const REQUEST = '{"model":"gpt-5.6","input":"What is the capital of France?","store":false}';
const URL_OF_API = "https://api.openai.com/v1/responses";

/** A cassette of vcrpy, with one request. */
export const CASSETTE = `interactions:
- request:
    body: '${REQUEST}'
    headers: {content-type: [application/json]}
    method: POST
    uri: ${URL_OF_API}
  response:
    body: {string: '${ANSWER}'}
    headers: {content-type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`;

const HEADERS = [{ name: "content-type", value: "application/json" }];
/** A recording of Polly.js, with the same request. */
export const HAR = JSON.stringify({
  log: {
    version: "1.2",
    creator: { name: "Polly.JS", version: "6.0.6" },
    entries: [{
      startedDateTime: "2026-11-23T09:00:00.000Z",
      request: {
        ...{ method: "POST", url: URL_OF_API, headers: HEADERS },
        postData: { mimeType: "application/json", text: REQUEST },
      },
      response: { status: 200, headers: HEADERS, content: { mimeType: "application/json", text: ANSWER } },
    }],
  },
});

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
