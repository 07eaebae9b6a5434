/** import of sessions of other agents: any source is refused with a clear error, or imported, and never changed. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { sha256Hex } from "../../src/domain/hash.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { assertError, Place } from "./harness.ts";

const TRANSCRIPTS = new URL("../doors/transcripts/recorded/", import.meta.url);
const NAMES = [...Deno.readDirSync(TRANSCRIPTS)].map(({ name }) => name).sort();

function transcript(name: string): string {
  return Deno.readTextFileSync(new URL(name, TRANSCRIPTS));
}

async function json(at: Place, args: readonly string[]) {
  const { code, stdout, stderr } = await at.call([...args, "--json"]);
  assert.equal(code, 0, stdout + stderr);
  return JSON.parse(stdout);
}

/** Names, modes, times and sums of the files in a directory. */
function stateOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => {
    const { mode, mtime, ctime, size } = Deno.statSync(`${directory}/${name}`);
    const sum = sha256Hex(Deno.readFileSync(`${directory}/${name}`));
    return [name, mode, mtime?.getTime(), ctime?.getTime(), size, sum].join(" ");
  }).sort();
}

test("import changes neither a source nor its directory, which may be read-only", async () => {
  await using at = new Place(() => answer([message("Continued.")]));
  const directory = `${at.sandbox.workspace}/sources`;
  Deno.mkdirSync(directory);
  for (const name of NAMES) {
    Deno.writeTextFileSync(`${directory}/${name}`, `${transcript(name)}{"torn`);
    Deno.chmodSync(`${directory}/${name}`, 0o444);
  }
  Deno.chmodSync(directory, 0o555);
  const before = stateOf(directory);
  assert.equal(before.length, 6);
  for (const name of NAMES) {
    const { from, session } = await json(at, ["import", `${directory}/${name}`]);
    assert.equal(from.agent, name.split(/[.-]/)[0]);
    const torn = transcript(name).split("\n").length;
    assert.equal(from.torn_line, torn);
    await json(at, ["fsck", session]);
  }
  assert.deepEqual(stateOf(directory), before);
  Deno.chmodSync(directory, 0o755);
});

test.process("import follows a link, and refuses a FIFO, a directory, a device, a missing and a foreign file", async () => {
  await using at = new Place(() => answer([]));
  const { workspace } = at.sandbox;
  Deno.writeTextFileSync(`${workspace}/pi.jsonl`, transcript("pi.jsonl"));
  Deno.symlinkSync("pi.jsonl", `${workspace}/link`);
  assert.equal((await json(at, ["import", `${workspace}/link`])).from.agent, "pi");
  new Deno.Command("mkfifo", { args: [`${workspace}/fifo`] }).outputSync();
  for (
    const [path, says] of [
      [`${workspace}/fifo`, /it is a FIFO, not a file/],
      [workspace, /it is a directory, not a file/],
      ["/dev/null", /it is a device, not a file/],
      [`${workspace}/none`, /no such file/],
    ] as const
  ) assertError(await at.call(["import", path, "--json"]), { code: "usage", exit: 2, says });
  for (const content of ["hello\n", "{}\n", '{"torn', "\u0000\u0001", '{"type":"message"}\n']) {
    Deno.writeTextFileSync(`${workspace}/foreign`, content);
    assertError(await at.call(["import", `${workspace}/foreign`, "--json"]), {
      code: "bad_import",
      exit: 2,
      says: /neither an export of reprise nor a session of Codex CLI, Claude Code or pi/,
    });
  }
  assert.equal((await json(at, ["ls"])).sessions.length, 1);
});

test.long("import reads a long source from a file and from a pipe, and refuses a line over the cap", async () => {
  await using at = new Place(() => answer([]));
  const path = `${at.sandbox.workspace}/long.jsonl`;
  const [header = "", ...lines] = transcript("pi.jsonl").split("\n");
  const long = {
    type: "message",
    id: "long",
    parentId: null,
    message: { role: "user", content: "a".repeat(3e6) },
  };
  const text = [header, JSON.stringify(long), ...lines.slice(2)].join("\n");
  Deno.writeTextFileSync(path, text);
  const { turns } = await json(at, ["import", path]);
  const piped = await at.call(["import", "-", "--json"], { stdin: text });
  assert.equal(JSON.parse(piped.stdout).turns, turns);
  Deno.writeTextFileSync(path, `${header}\n${"a".repeat(33 * 1024 * 1024)}\n`);
  assertError(await at.call(["import", path, "--json"]), {
    code: "bad_import",
    exit: 2,
    says: /line 2 has more than 33554432 bytes/,
  });
});

test("import gives a session whose prompt is a path an id without separators", async () => {
  await using at = new Place(() => answer([]));
  const path = `${at.sandbox.workspace}/x.jsonl`;
  for (const prompt of ["../../../etc/passwd", "/", "..", "\ud800\u0000", "a\\b"]) {
    const id = JSON.stringify(`../${prompt}`);
    const lines = [
      `{"type":"session","version":3,"id":${id},"cwd":${id}}`,
      `{"type":"message","id":${id},"parentId":null,"message":{"role":"user","content":${
        JSON.stringify(prompt)
      }}}`,
    ];
    Deno.writeTextFileSync(path, lines.join("\n"));
    const { session } = await json(at, ["import", path]);
    assert.match(session, /^[a-z0-9-]+$/);
    await json(at, ["fsck", session]);
  }
  const names = [...Deno.readDirSync(`${at.sandbox.home}/sessions`)].length;
  assert.equal(names, 5);
});

test("import names a session by the user's own words, not by the context of an editor before them", async () => {
  await using at = new Place(() => answer([]));
  const path = `${at.sandbox.workspace}/x.jsonl`;
  const ide = "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n";
  for (
    const parts of [
      [`${ide}## My request for Codex:\nRename the port`],
      [`${ide}## My request:\nRename the port`],
      ["<ide_opened_file>The user opened a.ts</ide_opened_file>", "Rename the port"],
      ["<system-reminder>\nBe brief\n</system-reminder>\n\nRename the port"],
      ["This is a summary of the conversation so far:\n\nRename the port"],
    ]
  ) {
    const content = parts.map((text) => ({ type: "input_text", text }));
    const payload = { type: "message", role: "user", content };
    Deno.writeTextFileSync(path, JSON.stringify({ type: "response_item", payload }));
    const { session } = await json(at, ["import", path]);
    assert.match(session, /^rename-the-port-/);
    const { turns } = await json(at, ["show", session]);
    assert.deepEqual(turns[0].events[0].content, content, "the message itself is kept");
  }
});

test("a trusted origin counts for its base URL only, and never for thinking of the Messages API", async () => {
  await using at = new Place(() => answer([message("Continued.")]));
  const path = `${at.sandbox.workspace}/x.jsonl`;
  Deno.writeTextFileSync(path, transcript("codex.jsonl"));
  const url = at.server.baseUrl;
  const flags = ["--provider", "compatible", "--model", "gpt-5.6"];
  const reasons = async (session: string, baseUrl: string) => {
    const { reasoning } = await json(at, ["explain", session, "--base-url", baseUrl, ...flags]);
    assert.equal(reasoning.length, 4);
    return new Set(reasoning.map(({ reason }: { readonly reason: string }) => reason));
  };
  const { session } = await json(at, ["import", path, "--trust-origin", "http://127.0.0.1:1/v1"]);
  assert.deepEqual(await reasons(session, "http://127.0.0.1:1/v1"), new Set([null]));
  assert.deepEqual(await reasons(session, url), new Set(["other_endpoint"]));
  const untrusted = await json(at, ["import", path]);
  assert.deepEqual(await reasons(untrusted.session, url), new Set(["imported"]));

  Deno.writeTextFileSync(path, transcript("claude.jsonl"));
  const claude = await at.call(["import", path, "--trust-origin", url]);
  assert.match(claude.stderr, /4 reasoning items will not be sent: thinking counts only under/);
  const { reasoning } = await json(at, [
    ...["explain", claude.stdout.trim(), "--provider", "anthropic", "--base-url", url],
  ]);
  assert.deepEqual(
    new Set(reasoning.map(({ reason }: { readonly reason: string }) => reason)),
    new Set(["imported"]),
  );
});
