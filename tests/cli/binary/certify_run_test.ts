/** `certify -- reprise run`: our own client has no bad day, over each API that it speaks. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  startResponsesServer,
} from "../../support/scripted_api/responses.ts";
import { says, startMessagesServer, text, thinking, toolUse } from "../../support/scripted_api/messages.ts";
import { PROGRAM, said, Sandbox } from "../../support/reprise.ts";

const SAID = "There is one file, and its name is a.txt.";
const LIST = { path: ".", pattern: null, depth: null };
const APIS = {
  openai: {
    model: "gpt-5.6",
    variable: "OPENAI",
    start: () =>
      startResponsesServer({
        script: [
          answer([reasoning("Look."), functionCall("list_files", LIST)]),
          answer([reasoning("Say."), message(SAID)]),
        ],
      }),
  },
  anthropic: {
    model: "claude-opus-5",
    variable: "ANTHROPIC",
    start: () =>
      startMessagesServer({
        script: [
          says([thinking("Look."), toolUse("list_files", LIST)]),
          says([thinking("Say."), text(SAID)]),
        ],
      }),
  },
} as const;

/** Faults after which a request is sent again; what began to arrive is kept instead. */
const RECOVERED = new Set(["429", "429-wait", "500", "529", "502-html", "drop", "empty"]);

for (const [provider, { model, variable, start }] of Object.entries(APIS)) {
  Deno.test(`reprise run has no bad cell with the API of ${provider}`, async () => {
    await using sandbox = new Sandbox();
    await using server = start();
    Deno.writeTextFileSync(`${sandbox.workspace}/a.txt`, "alpha\n");
    const run = [...PROGRAM, "run", "--new", "-p", provider, "-m", model, "What is here?"];
    const recorded = await sandbox.call(["record", "--out", "../agent", "--", ...run], {
      env: { [`${variable}_BASE_URL`]: server.baseUrl, [`${variable}_API_KEY`]: "key-12345678" },
    });
    assert.equal(recorded.code, 0, said(recorded));
    const flags = ["--json", "--max-wait", "12", "--jobs", "3"];
    const called = await sandbox.call(["certify", "../agent", ...flags, "--", ...run], {
      env: { REPRISE_IDLE_TIMEOUT: "2" },
    });
    const { cells, bad } = JSON.parse(called.stdout) as { cells: readonly Json[]; bad: number };
    assert.deepEqual([called.code, bad], [0, 0], said(called));
    assert.equal(cells.length, 34);
    for (const { exchange, fault, verdict, detail } of cells) {
      const expected = RECOVERED.has(fault) ? "recovered" : fault === "twice-ended" ? "unhurt" : "failed";
      assert.equal(verdict, expected, `${exchange}:${fault}: ${detail}`);
    }
  });
}
