/** Match rules that `record` writes: those of its flags, and those that the requests of its command need. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { answering, COMPLETED, RawUpstream } from "../../support/raw_upstream.ts";
import { Sandbox } from "../../support/reprise.ts";

/** A command that writes its directory and the date into a request, as agents do; `agent` is its user agent. */
function client(agent: string, note = ""): string[] {
  const script = `
    const input = "<cwd>" + Deno.cwd() + "</cwd>\\nToday's date is 2026-11-22.\\n" + ${JSON.stringify(note)};
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": ${JSON.stringify(agent)} },
      body: JSON.stringify({ model: "m", input: [{ role: "user", content: input }], stream: true }),
    });
    await response.text();`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

/** Records the command with these flags and returns what the fixture, the events and stderr say. */
async function recorded(
  flags: readonly string[],
  command: readonly string[],
  env: Record<string, string> = {},
) {
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: text/event-stream", COMPLETED));
  await using sandbox = new Sandbox();
  const out = `${sandbox.directory}/fixture`;
  const log = `${sandbox.directory}/events`;
  const args = [
    "record",
    "--upstream",
    upstream.origin,
    "--out",
    out,
    "--events",
    log,
    ...flags,
    "--",
    ...command,
  ];
  const { code, stderr } = await sandbox.call(args, { env });
  assert.equal(code, 0, stderr);
  const ended = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line)).at(-1);
  const { header, exchanges: [exchange] } = readFixture(denoFiles, out);
  return { header, exchange, ended, stderr, sent: upstream.requests[0]?.body, directory: sandbox.directory };
}

Deno.test("record writes the rules that the requests need, names them, and keeps the bytes of the requests", async () => {
  const { header, exchange, ended, stderr, sent } = await recorded([], client("agent/1"));
  assert.deepEqual(header.match, { normalize: ["cwd", "date"] });
  assert.deepEqual(ended.match_rules, ["cwd", "date"]);
  assert.match(stderr, /match rules written: cwd, date; see "match" in fixture\.json/);
  assert.deepEqual(exchange?.request.body, sent);
});

Deno.test("record keeps the rules of its flags in the fixture", async () => {
  const flags = [
    "--normalize",
    "uuid,codex",
    "--ignore",
    "metadata.run",
    "--replace",
    "took \\d+ ms=took N ms",
  ];
  const { header, ended } = await recorded(flags, client("agent/1"));
  assert.deepEqual(header.match, {
    normalize: ["codex", "cwd", "date", "uuid"],
    ignore: ["metadata.run"],
    replace: [{ pattern: "took \\d+ ms", with: "took N ms" }],
  });
  assert.deepEqual(ended.match_rules.slice(-2), ["ignore metadata.run", "replace took \\d+ ms"]);
});

for (
  const [flag, value, message] of [
    [
      "--normalize",
      "cwd,nothing",
      /Cannot use --normalize "nothing": it is no named rule and no client profile/,
    ],
    ["--ignore", "input[?(@.a)]", /Cannot use --ignore "input\[\?\(@\.a\)\]"/],
    ["--replace", "(?<!a)b=c", /Cannot use --replace "\(\?<!a\)b"/],
  ] as const
) {
  Deno.test(`record refuses a ${flag} that cannot be used before the command starts`, async () => {
    await using sandbox = new Sandbox();
    const out = `${sandbox.directory}/fixture`;
    const { code, stderr } = await sandbox.call([
      ...["record", "--upstream", "http://127.0.0.1:1", "--out", out, flag, value, "--", "echo", "started"],
    ]);
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /started/);
    assert.equal(denoFiles.facts(out), null);
  });
}
