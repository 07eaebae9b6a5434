/** The first pages of the docs do what they say: their blocks run in order, and print what the pages show. */
import assert from "node:assert/strict";
import { lacksProgram, lacksPython, needing } from "../../support/needs.ts";
import { ApiProject } from "../../support/api_project.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";

/** Arguments of the call that runs the check of the project. */
const CHECK = { command: "sh check.sh", argv: null, timeout_seconds: null };

/** Answers of the model in docs/start-sessions.md. */
const sessionModel: Script = ({ input }) => {
  const asked = JSON.stringify(input.findLast((item) => item.type === "message" && item.role === "user"));
  const results = input.filter(({ type }) => type === "function_call_output").length;
  if (!asked.includes("Repair")) {
    const where = asked.includes("tests") ? "Its tests are in check.sh." : "The parser is in src/parse.sh.";
    return answer([reasoning(), message(where)]);
  }
  return [
    answer([reasoning(), functionCall("shell", CHECK)]),
    answer([functionCall("edit_file", { path: "src/parse.sh", old_text: "exit 1", new_text: "exit 0" })]),
    answer([functionCall("shell", CHECK)]),
  ][results] ?? answer([message("The parser ended with 1. It now ends with 0, and the check passes.")]);
};

/** Answers of the model in docs/debug.md. */
const readsThenAnswers: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([reasoning(), functionCall("read_file", { path: "a.txt", offset: null, limit: null })])
    : answer([reasoning(), message("It says alpha.")]);

Deno.test({
  ...needing(
    "the blocks of docs/start-tests.md run in order, print what the page shows, and replay without a key",
    await lacksPython("pytest"),
  ),
  async fn() {
    await using project = new ApiProject(({ body }) =>
      answer([message(JSON.stringify(body).includes("river") ? "The Seine." : "Paris.")])
    );
    await project.runPage("docs/start-tests.md", {
      env: (script) =>
        script.startsWith("reprise serve")
          ? { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", HTTPS_PROXY: "http://127.0.0.1:9" }
          : {},
    });
    assert.equal(project.server.requests.length, 3, "two tests and one changed prompt");
  },
});

Deno.test({
  ...needing(
    "the blocks of docs/start-sessions.md run in order and print what the page shows",
    lacksProgram("jq"),
  ),
  async fn() {
    await using project = new ApiProject(sessionModel);
    project.write("src/parse.sh", "exit 1\n");
    project.write("check.sh", "sh src/parse.sh\n");
    await project.runPage("docs/start-sessions.md");
    assert.equal(
      Deno.readTextFileSync(`${project.workspace}/src/parse.sh`),
      "exit 0\n",
      "the model repaired it",
    );
  },
});

Deno.test({
  ...needing(
    "the blocks of docs/debug.md run in order and print what the page shows",
    lacksProgram("/usr/bin/python3"),
  ),
  async fn() {
    await using project = new ApiProject(readsThenAnswers);
    project.write("a.txt", "alpha\n");
    await project.runPage("docs/debug.md");
  },
});

/** A cassette of vcrpy, with one request. */
const CASSETTE = `interactions:
- request:
    body: '{"model":"gpt-5.6","input":"What is the capital of France?","store":false}'
    headers:
      content-type:
      - application/json
    method: POST
    uri: https://api.openai.com/v1/responses
  response:
    body:
      string: '{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.6","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Paris.","annotations":[]}]}]}'
    headers:
      content-type:
      - application/json
    status:
      code: 200
      message: OK
version: 1
`;

/** A recording of Polly.js, with the same request. */
const HAR = JSON.stringify({
  log: {
    version: "1.2",
    creator: { name: "Polly.JS", version: "6.0.6" },
    entries: [{
      startedDateTime: "2026-11-23T09:00:00.000Z",
      request: {
        method: "POST",
        url: "https://api.openai.com/v1/responses",
        headers: [{ name: "content-type", value: "application/json" }],
        postData: { mimeType: "application/json", text: '{"model":"gpt-5.6","input":"Hi","store":false}' },
      },
      response: {
        status: 200,
        headers: [{ name: "content-type", value: "application/json" }],
        content: {
          mimeType: "application/json",
          text: '{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.6","output":[]}',
        },
      },
    }],
  },
});

const TRANSCRIPT = new URL("../../doors/transcripts/recorded/codex.jsonl", import.meta.url);

/** The test of the cassette, without its decorator. */
const CASSETTE_TEST = `import json, os, urllib.request


def test_capital():
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        data=json.dumps({"model": "gpt-5.6", "input": "What is the capital of France?", "store": False}).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        assert "Paris" in response.read().decode()
`;

Deno.test({
  ...needing(
    "the blocks of docs/coming-from.md run in order and print what the page shows",
    await lacksPython("pytest"),
  ),
  async fn() {
    await using project = new ApiProject(sessionModel);
    project.write("tests/cassettes/chat.yaml", CASSETTE);
    project.write("tests/test_chat.py", CASSETTE_TEST);
    project.write("recordings/chat.har", HAR);
    project.write("rollout.jsonl", Deno.readTextFileSync(TRANSCRIPT));
    await project.runPage("docs/coming-from.md", {
      env() {
        assert.deepEqual(project.server.requests, [], "tests and imports send nothing");
        return {};
      },
    });
  },
});
