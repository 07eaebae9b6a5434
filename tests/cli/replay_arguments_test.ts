import assert from "node:assert/strict";
import { replayCall } from "../../src/cli/run/run_recording.ts";
import type { RunFlags } from "../../src/cli/run/command.ts";
import type { RunSetup } from "../../src/run/setup.ts";

const SETUP = {
  writer: { id: "one" },
  model: "gpt-5.6",
  instructions: "Be brief.",
  replay: "exact",
  window: null,
} as unknown as RunSetup;
const FLAGS = { color: true, maxSteps: 50, timeout: 1800, wait: 0 } as RunFlags;

Deno.test("a new session is played with its own id, the model and the instructions that it had", () => {
  const call = replayCall(SETUP, { flags: FLAGS, isNew: true, prompt: "Go" });
  const args = ["run", "--new", "-s", "one", "-m", "gpt-5.6", "--instructions", "Be brief.", "Go"];
  assert.deepEqual(call, { args, files: new Map() });
});

Deno.test("everything that shapes requests and decisions becomes a flag; machine, keys and output do not", () => {
  const setup = {
    ...SETUP,
    effort: "low",
    summary: "auto",
    replay: "exact",
    window: 4,
    outputSchema: { name: "answer", schema: {} },
  } as unknown as RunSetup;
  const flags: RunFlags = {
    ...FLAGS,
    json: true,
    home: "/srv/me",
    baseUrl: "http://127.0.0.1:1",
    workspace: "/work",
    record: "kept",
    output: "answer.txt",
    allow: ["write", "shell:ls"],
    deny: ["edit_file"],
    ask: true,
    failOnDenied: true,
    maxSteps: 3,
    maxTokens: 900,
    autoCompact: 100,
  };
  const { args, files } = replayCall(setup, { flags, isNew: false, prompt: null });
  assert.deepEqual(args.join(" ").split(" --"), [
    "run -s one -m gpt-5.6",
    ...["effort low", "summary auto", "replay last:4", "allow write", "allow shell:ls"],
    ...["deny edit_file", "ask", "fail-on-denied", "max-steps 3", "max-tokens 900", "auto-compact 100"],
    "output-schema output_schema.json",
  ]);
  assert.deepEqual(JSON.parse(String(files.get("output_schema.json"))), setup.outputSchema);
});

Deno.test("texts that would be read as something else, are too long or hold a NUL, still arrive unchanged", () => {
  const said = (prompt: string) => replayCall(SETUP, { flags: FLAGS, isNew: false, prompt });
  assert.deepEqual(said("--json").args.slice(-2), ["--", "--json"]);
  for (const words of ["-", "x".repeat(128 * 1024), "caf\0 nul"]) {
    const { args, stdin } = said(words);
    assert.deepEqual([args.at(-1), stdin], ["-", words]);
  }
  for (const instructions of ["@missing", "x".repeat(128 * 1024), "Be\0brief."]) {
    const { args, files } = replayCall({ ...SETUP, instructions }, {
      flags: FLAGS,
      isNew: true,
      prompt: null,
    });
    assert.deepEqual(args.slice(-2), ["--instructions", "@instructions.txt"]);
    assert.equal(files.get("instructions.txt"), instructions);
  }
});
