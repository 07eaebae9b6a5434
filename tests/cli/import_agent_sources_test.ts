/** import of sessions of other agents: any source is refused with a clear error, or imported, and never changed. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { zstdCompressSync } from "node:zlib";
import { type Json, sha256 } from "../support/files.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { assertError, json, ok, Place } from "./harness.ts";

const TRANSCRIPTS = new URL("../doors/transcripts/recorded/", import.meta.url);
const NAMES = [...Deno.readDirSync(TRANSCRIPTS)].map(({ name }) => name).sort();
const transcript = (name: string) => Deno.readTextFileSync(new URL(name, TRANSCRIPTS));

/** A place where runs continue, and in which sources are written. */
class Importing extends Place {
  constructor() {
    super(() => answer([message("Continued.")]));
  }

  write(name: string, content: string | Uint8Array): string {
    const path = `${this.sandbox.workspace}/${name}`;
    if (typeof content === "string") Deno.writeTextFileSync(path, content);
    else Deno.writeFileSync(path, content);
    return path;
  }

  async refuses(path: string, says: RegExp, code = "bad_import"): Promise<void> {
    assertError(await this.call(["import", path, "--json"]), { code, exit: 2, says });
  }
}

/** Names, modes, times and sums of the files in a directory. */
function stateOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => {
    const { mode, mtime, ctime, size } = Deno.statSync(`${directory}/${name}`);
    const sum = sha256(Deno.readFileSync(`${directory}/${name}`));
    return [name, mode, mtime?.getTime(), ctime?.getTime(), size, sum].join(" ");
  }).sort();
}

test("import changes neither a source nor its directory, which may be read-only", async () => {
  await using at = new Importing();
  const directory = `${at.sandbox.workspace}/sources`;
  Deno.mkdirSync(directory);
  for (const name of NAMES) Deno.chmodSync(at.write(`sources/${name}`, `${transcript(name)}{"torn`), 0o444);
  Deno.chmodSync(directory, 0o555);
  const before = stateOf(directory);
  assert.equal(before.length, 6);
  for (const name of NAMES) {
    const { from, session } = await json(at, ["import", `${directory}/${name}`]);
    assert.deepEqual([from.agent, from.torn_line], [
      name.split(/[.-]/)[0],
      transcript(name).split("\n").length,
    ]);
    await ok(at, ["fsck", session]);
  }
  assert.deepEqual(stateOf(directory), before);
  Deno.chmodSync(directory, 0o755);
});

test("a torn line is kept, and a run continues the session without its reasoning", async () => {
  await using at = new Importing();
  const path = at.write("codex.jsonl", `${transcript("codex.jsonl")}{"type":"respo`);
  assert.equal((await json(at, ["import", path, "--dry-run"])).dry_run, true);
  assert.deepEqual((await json(at, ["ls"])).sessions, []);
  const { session, path: made, from } = await json(at, ["import", path]);
  const torn = `line-${String(from.torn_line).padStart(6, "0")}.torn`;
  assert.equal(Deno.readTextFileSync(`${made}/quarantine/${torn}`), '{"type":"respo');
  assert.deepEqual([from.kept.reasoning, from.kept.sendable], [4, 0]);
  assert.match(await ok(at, ["fsck", "--all"]), /0 errors, 0 warnings/);
  assert.match(await ok(at, ["explain", session]), /left out: it was imported from another agent/);
  await ok(at, ["run", "-s", session, "--provider", "openai", "And now?"]);
  assert.doesNotMatch(at.server.requests[0]?.text ?? "", /encrypted_content":/);
  assert.match(await ok(at, ["fsck", session, "--requests"]), /: imported\n[^]*: same/);
});

test.process("import follows a link, and refuses a FIFO, a directory, a device, a missing and a foreign file", async () => {
  await using at = new Importing();
  const { workspace } = at.sandbox;
  at.write("pi.jsonl", transcript("pi.jsonl"));
  Deno.symlinkSync("pi.jsonl", `${workspace}/link`);
  assert.equal((await json(at, ["import", `${workspace}/link`])).from.agent, "pi");
  new Deno.Command("mkfifo", { args: [`${workspace}/fifo`] }).outputSync();
  await at.refuses(`${workspace}/fifo`, /it is a FIFO, not a file/, "usage");
  await at.refuses(workspace, /it is a directory, not a file/, "usage");
  await at.refuses("/dev/null", /it is a device, not a file/, "usage");
  await at.refuses(`${workspace}/none`, /no such file/, "usage");
  for (const content of ["hello\n", "{}\n", '{"torn', "\u0000\u0001", '{"type":"message"}\n']) {
    const says = /neither an export of reprise nor a session of Codex CLI, Claude Code or pi/;
    await at.refuses(at.write("foreign", content), says);
  }
  const args = ["import", at.write("foreign", "{}\n"), "--trust-origin", "http://127.0.0.1:1", "--json"];
  assertError(await at.call(args), { code: "usage", exit: 2, says: /no session of another agent/ });
  assert.equal((await json(at, ["ls"])).sessions.length, 1);
});

test.long("import reads a long source from a file and from a pipe, and refuses a line over the cap", async () => {
  await using at = new Importing();
  const [header = "", , ...lines] = transcript("pi.jsonl").split("\n");
  const content = { role: "user", content: "a".repeat(3e6) };
  const long = JSON.stringify({ type: "message", id: "long", parentId: null, message: content });
  const text = [header, long, ...lines].join("\n");
  const { turns } = await json(at, ["import", at.write("long.jsonl", text)]);
  const piped = await at.call(["import", "-", "--json"], { stdin: text });
  assert.equal(JSON.parse(piped.stdout).turns, turns);
  const over = `${header}\n${"a".repeat(33 * 1024 * 1024)}\n`;
  await at.refuses(at.write("over.jsonl", over), /line 2 has more than 33554432 bytes/);
});

test("import names a session by the user's own words, not by the context of an editor before them", async () => {
  await using at = new Importing();
  const ide = "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n";
  for (
    const parts of [
      [`${ide}## My request for Codex:\nRename the port`],
      ["<ide_opened_file>The user opened a.ts</ide_opened_file>", "Rename the port"],
      ["This is a summary of the conversation so far:\n\nRename the port"],
    ]
  ) {
    const content = parts.map((text) => ({ type: "input_text", text }));
    const payload = { type: "message", role: "user", content };
    const path = at.write("x.jsonl", JSON.stringify({ type: "response_item", payload }));
    const { session } = await json(at, ["import", path]);
    assert.match(session, /^rename-the-port-/);
    assert.deepEqual(at.sandbox.turns(session)[0].events[0].content, content, "the message itself is kept");
  }
});

test("a trusted origin counts for its base URL only, and never for thinking of the Messages API", async () => {
  await using at = new Importing();
  const url = at.server.baseUrl;
  const codex = at.write("codex.jsonl", transcript("codex.jsonl"));
  const reasons = async (session: string, ...flags: readonly string[]) => {
    const { reasoning } = await json(at, ["explain", session, ...flags, "--model", "gpt-5.6"]);
    return reasoning.map(({ reason }: Json) => reason);
  };
  const trusted = "http://127.0.0.1:1/v1";
  const { session } = await json(at, ["import", codex, "--trust-origin", trusted]);
  const compatible = ["--provider", "compatible", "--base-url"];
  assert.deepEqual(await reasons(session, ...compatible, trusted), Array(4).fill(null));
  assert.deepEqual(await reasons(session, ...compatible, url), Array(4).fill("other_endpoint"));
  const untrusted = await json(at, ["import", codex]);
  assert.deepEqual(await reasons(untrusted.session, ...compatible, url), Array(4).fill("imported"));

  const path = at.write("claude.jsonl", transcript("claude.jsonl"));
  const claude = await at.call(["import", path, "--trust-origin", url]);
  assert.match(claude.stderr, /4 reasoning items will not be sent: thinking counts only under/);
  const anthropic = ["--provider", "anthropic", "--base-url", url];
  assert.deepEqual(await reasons(claude.stdout.trim(), ...anthropic), Array(4).fill("imported"));
});

test("import reads a rollout that is compressed with zstd, and what is left of a cut one", async () => {
  await using at = new Importing();
  const plain = new TextEncoder().encode(transcript("codex.jsonl"));
  const whole = zstdCompressSync(plain);
  // Parallel compressors write a skippable frame first.
  const skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
  const { from } = await json(at, [
    "import",
    at.write("whole.jsonl.zst", new Uint8Array([...skippable, ...whole])),
  ]);
  assert.equal(from.torn_line, null);
  // The second frame ends before its header does.
  const cut = new Uint8Array([
    ...zstdCompressSync(plain.subarray(0, plain.length - 200)),
    ...whole.subarray(0, 8),
  ]);
  const called = await at.call(["import", at.write("cut.jsonl.zst", cut), "--json"]);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stderr, /is cut or damaged/);
  assert.equal(typeof JSON.parse(called.stdout).from.torn_line, "number");
  await ok(at, ["fsck", "--all"]);
  await at.refuses(at.write("nothing.jsonl.zst", whole.subarray(0, 8)), /nothing of it can be decompressed/);
});
