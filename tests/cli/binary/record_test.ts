/** `reprise record` as a process: in front of an API by itself, and around a command. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { Called, Started } from "../../support/reprise.ts";
import { HELLO, KEY, MODEL, Place } from "../harness.ts";
import { textsBelow } from "../../support/files.ts";

/** A secret of the shell that no list of variables names. */
const CANARY = "canary-4f1d0c7ea9-of-the-shell";

// deno-lint-ignore no-explicit-any
function lines(text: string): any[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** A request as a client of the API sends it. */
async function ask(origin: string, input: string): Promise<string> {
  const response = await fetch(`${origin}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, input, stream: true, store: false }),
  });
  return await response.text();
}

/** The program in front of the place's server, ready. */
async function recorder(
  place: Place,
  out: string,
  flags: readonly string[] = [],
): Promise<[Started, string]> {
  const upstream = new URL(place.server.baseUrl).origin;
  const started = place.start(["record", "--json", "--upstream", upstream, "--out", out, ...flags], {
    env: { MY_TOOL_TOKEN: CANARY },
  });
  await started.printed('"type":"ready"');
  return [started, `http://127.0.0.1:${lines(started.stdout)[0].port}`];
}

function assertClean(out: string, { stdout, stderr }: Pick<Called, "stdout" | "stderr">): void {
  for (const secret of [KEY, CANARY, btoa(CANARY).slice(0, -4)]) {
    assert.equal(
      `${[...textsBelow(out).values()].join("\n")}${stdout}${stderr}`.includes(secret),
      false,
      secret,
    );
  }
}

/** A command that asks the API like any client: where the base URL says, and ends with a code of its own. */
function client(code: number, input = "hi"): string[] {
  const script = `
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
      body: JSON.stringify({ model: "${MODEL}", input: ${JSON.stringify(input)}, stream: true }),
    });
    console.log("the command got " + response.status + " " + (await response.text()).includes("response.completed"));
    Deno.exit(${code});`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

Deno.test("record keeps what passes: in front of an API until it is asked to end", async () => {
  await using place = new Place(() => HELLO);
  const out = `${place.sandbox.directory}/fixture`;
  const portFile = `${place.sandbox.directory}/port`;
  const [started, origin] = await recorder(place, out, ["--port-file", portFile]);
  assert.equal(Deno.readTextFileSync(portFile), `${new URL(origin).port}\n`);
  const answers = [await ask(origin, CANARY), await ask(origin, "again")];
  await started.printed('"type":"exchange"', 2);
  // A published fixture is complete at any time.
  assert.equal(readFixture(denoFiles, out).exchanges.length, 2);
  started.process.kill("SIGTERM");
  const called = await started.ended();
  assert.equal(called.code, 0, called.stderr);
  const [ready, first, second, ended, ...more] = lines(called.stdout);
  assert.deepEqual([ready.type, first.state, second.state, ended.type, more], [
    "ready",
    "published",
    "published",
    "record.ended",
    [],
  ]);
  assert.deepEqual([first.number, second.number, ended.published, ended.exit_code], [1, 2, 2, 0]);
  const { exchanges, header } = readFixture(denoFiles, out);
  assert.deepEqual(exchanges.map(({ response }) => new TextDecoder().decode(response.body)), answers);
  assert.deepEqual([header.provider, header.models, header.base_url], [
    "compatible",
    [MODEL],
    place.server.baseUrl,
  ]);
  assertClean(out, called);
  assert.equal(place.server.requests[0]?.text.includes(CANARY), true);
  assert.equal(called.stderr.includes("abort"), false, called.stderr);
});

Deno.test("record keeps what passes: around a command, whose stdout, key and exit code are its own", async () => {
  await using place = new Place(() => HELLO);
  const { directory } = place.sandbox;
  const args = ["record", "--out", `${directory}/fixture`, "--events", `${directory}/events`, "--"];
  const called = await place.call([...args, ...client(3)]);
  assert.equal(called.stdout, "the command got 200 true\n");
  assert.equal(called.code, 3, called.stderr);
  const events = lines(Deno.readTextFileSync(`${directory}/events`));
  assert.deepEqual(events.map(({ type }) => type), ["ready", "exchange", "record.ended"]);
  assert.equal(events[2].exit_code, 3);
  const { header, exchanges: [exchange] } = readFixture(denoFiles, `${directory}/fixture`);
  assert.equal(header.base_url, place.server.baseUrl);
  assert.equal(exchange?.request.path, "/v1/responses");
  assertClean(`${directory}/fixture`, called);
});

Deno.test("record keeps the traffic: and prints each note for the user once at its end", async () => {
  await using place = new Place(() => HELLO);
  const out = (name: string) => `${place.sandbox.directory}/${name}`;
  const env = { MY_TOOL_TOKEN: CANARY, DB_PASSWORD: "hunter2" };
  const upstream = ["--upstream", place.server.baseUrl, "-p", "openai"];
  const around = (input: string) => ["--", ...client(0, input)];

  const reported = await place.call(["record", "--out", out("noted"), ...upstream, ...around(CANARY)], {
    env,
  });
  assert.equal(reported.code, 0, reported.stderr);
  assert.deepEqual(reported.stderr.trim().split("\n"), [
    "1 exchange holds replaced text in its request: serve matches it only if its environment has the same values, " +
    "or if clients send the replaced text",
    "DB_PASSWORD is too short to look for (under 8 characters): check that no recording holds it",
    `recorded 1 exchange into "${out("noted")}", 1 secret replaced`,
  ]);
  // The base URL of the user ends in the version, and that of the command does.
  assert.equal(readFixture(denoFiles, out("noted")).exchanges[0]?.request.path, "/v1/responses");

  const plain = await place.call(["record", "--out", out("plain"), ...upstream, ...around("hi")]);
  assert.equal(plain.stderr, `\nrecorded 1 exchange into "${out("plain")}"\n`);

  const unasked = await place.call(["record", "--out", out("unasked"), "--", "true"]);
  assert.equal(unasked.code, 7, unasked.stderr);
  assert.deepEqual(unasked.stderr.trim().split("\n"), [
    "error: Nothing was recorded: the fixture would hold no exchange",
    "hint: The command sent nothing to the recorder: clients find it by OPENAI_BASE_URL or ANTHROPIC_BASE_URL",
    `recorded 0 exchanges into "${out("unasked")}"`,
  ]);
  const failed = await place.call(["record", "--out", out("failed"), "--", "false"]);
  assert.equal(failed.code, 1, "the command's own exit code comes first");
  const bare = await place.call(["record", "--out", out("bare"), "--"]);
  assert.equal(bare.code, 2);
  assert.match(bare.stderr, /No command after --/);
});

Deno.test("record keeps what passes: and says why where it cannot", async () => {
  await using place = new Place(() => HELLO);
  const { directory } = place.sandbox;
  Deno.mkdirSync(`${directory}/full`);
  Deno.writeTextFileSync(`${directory}/full/a`, "");
  const rows: readonly [readonly string[], RegExp][] = [
    [["--out", `${directory}/new`], /no upstream is given/],
    [["--out", `${directory}/full`, "--upstream", "http://127.0.0.1:1"], /it is not empty/],
    [
      ["--out", `${directory}/new`, "--upstream", `https://u:${CANARY}@example.com`],
      /carries a user name or password/,
    ],
    [
      [
        "--out",
        `${directory}/new`,
        "--upstream",
        "http://127.0.0.1:1",
        "--upstream",
        `https://u:${CANARY}@b.test`,
      ],
      /--upstream is given twice/,
    ],
  ];
  for (const [flags, message] of rows) {
    const called = await place.call(["record", ...flags]);
    assert.equal(called.code, 2, called.stderr);
    assert.match(called.stderr, message);
    assert.equal(called.stderr.includes(CANARY), false);
  }
  const dry = await place.call([
    "record",
    "--dry-run",
    "--json",
    "--out",
    `${directory}/new`,
    "--",
    "true",
  ]);
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal(lines(dry.stdout)[0].type, "dry_run");
  assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).includes("new"), false);
});
