/** import of a Codex CLI rollout: a session that fsck accepts and run continues. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, ok, Place } from "./harness.ts";
import { answer, httpError, message } from "../support/scripted_api/responses.ts";

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

function write(at: Place, tail = ""): string {
  const path = `${at.sandbox.workspace}/rollout.jsonl`;
  Deno.writeTextFileSync(path, ROLLOUT.map((line) => `${JSON.stringify(line)}\n`).join("") + tail);
  return path;
}

test("import reads a rollout with a torn last line: fsck is clean, verify reports imported, run -c continues without its reasoning", async () => {
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
  assert.match(await ok(at, ["fsck", report.session, "--requests"]), /turn 2: imported/);
  assert.match(
    await ok(at, ["explain", report.session]),
    /rs_1 .*left out: it was imported from another agent/,
  );
  await ok(at, ["run", "-s", report.session, "And now?"]);
  const [request] = at.server.requests;
  const sent = JSON.stringify(request);
  assert.ok(sent.includes("Fix the test") && sent.includes("c1"), sent);
  assert.equal(sent.includes("gAAAAfirst"), false, "reasoning of an unknown origin");
  assert.match(await ok(at, ["fsck", report.session, "--requests"]), /turn 7: same/);
});

test("import keeps arguments that are no JSON object, and a server that refuses them gets an object", async () => {
  const texts = (input: readonly { readonly type?: unknown; readonly arguments?: unknown }[]) =>
    input.filter(({ type }) => type === "function_call").map((call) => String(call.arguments));
  await using at = new Place(({ input }) =>
    texts(input).every((text) => text.startsWith("{") && text.endsWith("}"))
      ? answer([message("Continued.")])
      : httpError(400, { message: "`arguments` must be valid JSON", param: "arguments" })
  );
  const broken = ["", '{"cmd":', "[1]"].map((text, number) => [
    item({ type: "function_call", call_id: `b${number}`, name: "exec_command", arguments: text }),
    item({ type: "function_call_output", call_id: `b${number}`, output: "no" }),
  ]);
  const path = write(at, broken.flat().map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { session } = JSON.parse(await ok(at, ["import", path, "--json"]));
  await ok(at, ["run", "-s", session, "And now?"]);
  assert.equal(at.server.requests.length, 1);
  assert.deepEqual(texts(at.server.requests[0]?.input ?? []), [
    "{}",
    "{}",
    '{"INVALID_JSON":"{\\"cmd\\":"}',
    '{"INVALID_JSON":"[1]"}',
  ]);
  assert.match(JSON.stringify(at.sandbox.turns(session)), /"arguments":"\[1\]"/);
  await ok(at, ["fsck", session, "--requests"]);
});

test("import refuses a damaged compressed rollout, and --trust-origin for an export", async () => {
  await using at = place();
  const path = `${at.sandbox.workspace}/rollout.jsonl.zst`;
  Deno.writeFileSync(path, new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2]));
  assertError(await at.call(["import", path, "--json"]), {
    code: "bad_import",
    exit: 2,
    says: /nothing of it can be decompressed/,
  });
  Deno.writeTextFileSync(path, "{}\n");
  assertError(await at.call(["import", path, "--trust-origin", "http://127.0.0.1:1", "--json"]), {
    code: "usage",
    exit: 2,
    says: /no session of another agent/,
  });
});

const CLAUDE = (() => {
  const message = (role: string, content: unknown, more = {}) => ({ role, content, ...more });
  const line = (uuid: string, parentUuid: string | null, message: unknown, more = {}) => ({
    ...{
      type: (message as { role: string }).role,
      uuid,
      parentUuid,
      message,
      sessionId: "two",
      version: "2.1.197",
    },
    ...{ isSidechain: false, ...more },
  });
  const answered = (id: string, text: string) =>
    message("assistant", [{ type: "thinking", thinking: "Hm", signature: "s" }, { type: "text", text }], {
      ...{ id, model: "claude-opus-4-8", stop_reason: "end_turn" },
    });
  return [
    line("a", null, message("user", "One")),
    line("b", "a", answered("msg_1", "1")),
    line("c", "b", message("user", "Left")),
    line("d", "c", answered("msg_2", "2")),
    line("s", null, message("user", "Aside"), { isSidechain: true }),
    line("e", "b", message("user", "Two")),
    line("f", "e", answered("msg_3", "3")),
  ];
})();

test("import makes a fork of another branch, and a session of a sidechain; each is sound and continues", async () => {
  await using at = place();
  const path = `${at.sandbox.workspace}/two.jsonl`;
  Deno.writeTextFileSync(path, CLAUDE.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const dry = JSON.parse(await ok(at, ["import", path, "--dry-run", "--json"]));
  assert.equal(dry.changes.length, 3);
  assert.deepEqual(JSON.parse(await ok(at, ["ls", "--json"])).sessions, []);

  const { session, from } = JSON.parse(await ok(at, ["import", path, "--json"]));
  assert.equal(from.agent, "claude");
  const [fork, aside] = from.forks as { readonly session: string; readonly branch: string }[];
  assert.deepEqual([fork?.branch, aside?.branch], ["branch at line 3", "sidechain at line 5"]);
  await ok(at, ["fsck", "--all"]);
  const onDisk = from.forks.map(({ path }: { readonly path: string }) =>
    [...Deno.readDirSync(`${path}/turns`)].length
  );
  for (const { forks } of [from, dry.from]) {
    assert.deepEqual(forks.map(({ turns }: { readonly turns: number }) => turns), onDisk);
  }
  const { sessions } = JSON.parse(await ok(at, ["ls", "--tree", "--json"]));
  const main = sessions.find(({ id }: { readonly id: string }) => id === session);
  assert.deepEqual(main.forks.map(({ id }: { readonly id: string }) => id), [fork?.session]);

  await ok(at, ["run", "-s", fork?.session ?? "", "--provider", "openai", "Go on"]);
  const sent = JSON.stringify(at.server.requests.at(-1));
  for (const text of ["One", "Left", "Go on"]) assert.ok(sent.includes(`"${text}"`), sent);
  for (const text of ["Two", "Aside", "Hm"]) assert.ok(!sent.includes(`"${text}"`), sent);
});

/** A frame of zstd with one block that is not compressed. */
function zstdFrame(bytes: Uint8Array): Uint8Array {
  const header = new DataView(new ArrayBuffer(12));
  header.setUint32(0, 0xfd2fb528, true);
  header.setUint8(4, 0xa0);
  header.setUint32(5, bytes.length, true);
  const block = bytes.length << 3 | 1;
  for (let index = 0; index < 3; index++) header.setUint8(9 + index, block >> 8 * index & 0xff);
  return new Uint8Array([...new Uint8Array(header.buffer), ...bytes]);
}

test("import reads a rollout that is compressed with zstd, and one that is cut", async () => {
  await using at = place();
  const plain = new TextEncoder().encode(ROLLOUT.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const [whole, part] = [plain, plain.subarray(0, plain.length - 200)].map(zstdFrame) as [
    Uint8Array,
    Uint8Array,
  ];
  const frames: readonly [string, Uint8Array][] = [
    // Parallel compressors write a skippable frame first.
    ["whole", new Uint8Array([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9, ...whole])],
    // The second frame ends before its header does.
    ["cut", new Uint8Array([...part, ...whole.subarray(0, 8)])],
    ["nothing", whole.subarray(0, 8)],
  ];
  for (const [name, bytes] of frames) Deno.writeFileSync(`${at.sandbox.workspace}/${name}.jsonl.zst`, bytes);
  const imported = JSON.parse(await ok(at, ["import", `${at.sandbox.workspace}/whole.jsonl.zst`, "--json"]));
  assert.deepEqual([imported.from.kept.responses, imported.from.torn_line], [2, null]);
  const cut = await at.call(["import", `${at.sandbox.workspace}/cut.jsonl.zst`, "--json"]);
  assert.equal(cut.code, 0, cut.stderr);
  assert.match(cut.stderr, /is cut or damaged/);
  assert.equal(JSON.parse(cut.stdout).from.torn_line, 6);
  await ok(at, ["fsck", "--all"]);
  assertError(
    await at.call(["import", `${at.sandbox.workspace}/nothing.jsonl.zst`, "--json"]),
    { code: "bad_import", exit: 2 },
  );
});
