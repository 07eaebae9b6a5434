/** import of a Codex CLI rollout: a session that fsck accepts and run continues. */
import assert from "node:assert/strict";
import { assertError, Place } from "./harness.ts";
import { answer, message } from "../support/responses_server.ts";

const item = (payload: unknown) => ({ type: "response_item", payload });
const ROLLOUT = [
  { type: "session_meta", payload: { id: "one", cli_version: "0.169.0", model_provider: "mine" } },
  { type: "turn_context", payload: { model: "gpt-5.6" } },
  item({ type: "message", role: "user", content: [{ type: "input_text", text: "Fix the test" }] }),
  item({ type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "gAAAAfirst" }),
  item({ type: "function_call", id: "fc_1", call_id: "c1", name: "exec_command", arguments: "{}" }),
  item({ type: "function_call_output", call_id: "c1", output: "hi" }),
  item({
    type: "message",
    role: "assistant",
    id: "msg_1",
    status: "completed",
    content: [{ type: "output_text", text: "Done", annotations: [] }],
  }),
];

function place(): Place {
  return new Place(() => answer([message("Continued.")]));
}

async function ok(at: Place, args: readonly string[]): Promise<string> {
  const called = await at.call(args);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return called.stdout;
}

function write(at: Place, tail = ""): string {
  const path = `${at.sandbox.workspace}/rollout.jsonl`;
  Deno.writeTextFileSync(path, ROLLOUT.map((line) => `${JSON.stringify(line)}\n`).join("") + tail);
  return path;
}

Deno.test("import reads a rollout with a torn last line: fsck is clean, verify reports imported, run -c continues without its reasoning", async () => {
  await using at = place();
  const path = write(at, '{"type":"respo');
  const before = Deno.readTextFileSync(path);
  const dry = JSON.parse(await ok(at, ["import", path, "--dry-run", "--json"]));
  assert.deepEqual([dry.dry_run, dry.from.torn_line], [true, 8]);
  const report = JSON.parse(await ok(at, ["import", path, "--json"]));
  assert.deepEqual(report.from.kept, {
    messages: 1,
    responses: 2,
    reasoning: 1,
    sendable: 0,
    calls: 1,
    results: 1,
    compactions: 0,
  });
  assert.equal(Deno.readTextFileSync(path), before);
  assert.equal(Deno.readTextFileSync(`${report.path}/quarantine/line-000008.torn`), '{"type":"respo');
  assert.match(await ok(at, ["fsck", "--all"]), /0 errors, 0 warnings/);
  assert.match(await ok(at, ["verify", report.session]), /turn 2: imported/);
  assert.match(
    await ok(at, ["explain", report.session]),
    /rs_1 .*left out: it was imported from another agent/,
  );
  await ok(at, ["run", "-s", report.session, "And now?"]);
  const [request] = at.server.requests;
  const sent = JSON.stringify(request);
  assert.ok(sent.includes("Fix the test") && sent.includes("c1"), sent);
  assert.equal(sent.includes("gAAAAfirst"), false, "reasoning of an unknown origin");
  assert.match(await ok(at, ["verify", report.session]), /turn 7: same/);
});

Deno.test("import --trust-origin: reasoning goes to that base URL only", async () => {
  await using at = place();
  const path = write(at);
  const report = JSON.parse(await ok(at, ["import", path, "--trust-origin", at.server.baseUrl, "--json"]));
  assert.equal(report.from.kept.sendable, 1);
  await ok(at, ["run", "-s", report.session, "And now?"]);
  assert.ok(JSON.stringify(at.server.requests[0]).includes("gAAAAfirst"));
});

Deno.test("import refuses a compressed rollout, and --trust-origin for an export", async () => {
  await using at = place();
  const path = `${at.sandbox.workspace}/rollout.jsonl.zst`;
  Deno.writeFileSync(path, new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2]));
  assertError(await at.call(["import", path, "--json"]), { code: "bad_import", exit: 2, says: /zstd/ });
  Deno.writeTextFileSync(path, "{}\n");
  assertError(await at.call(["import", path, "--trust-origin", "http://127.0.0.1:1", "--json"]), {
    code: "usage",
    exit: 2,
    says: /no session of another agent/,
  });
});
