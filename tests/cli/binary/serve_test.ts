import assert from "node:assert/strict";
import type { FixtureHeader } from "../../../src/fixture/seal.ts";
import { events as linesOf, Sandbox } from "../../support/reprise.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";

const REQUEST = { model: "gpt-5.6", input: "hi", stream: true };
const STREAM = 'event: response.completed\r\ndata: {"type":"response.completed"}\n\n';

/** Asks as a client does whose base URL and key come from the environment; prints the key, then the answers. */
const CLIENT = `
console.log(Deno.env.get("OPENAI_API_KEY"));
for (const body of Deno.args) {
  const answer = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
    method: "POST",
    headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY"), "content-type": "application/json" },
    body,
  });
  console.log(answer.status + " " + await answer.text());
}
`;

/** A home with a fixture of two exchanges, and a client. */
class Place extends Sandbox {
  readonly fixture: string;
  readonly client: readonly string[];

  constructor() {
    super();
    const exchange = (input: string) => ({ request: { body: { ...REQUEST, input } }, body: STREAM });
    this.fixture = writeFixture(`${this.directory}/chat`, [exchange("hi"), exchange("bye")]);
    Deno.writeTextFileSync(`${this.directory}/client.js`, CLIENT);
    this.client = [Deno.execPath(), "run", "-A", "--quiet", `${this.directory}/client.js`];
  }
}

const HI = JSON.stringify(REQUEST);
const BYE = JSON.stringify({ ...REQUEST, input: "bye" });
const OTHER = JSON.stringify({ ...REQUEST, input: "something else" });

async function withPlace(test: (place: Place) => Promise<void>): Promise<void> {
  await using place = new Place();
  await test(place);
}

// deno-lint-ignore no-explicit-any
function eventsIn(path: string): any[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: serves until SIGTERM: port file, a line for each request, a summary, exit code 7 after a miss", () =>
  withPlace(async (place) => {
    const { fixture, directory } = place;
    const portFile = `${directory}/run/port`;
    const server = place.start(["serve", fixture, "--json", "--port-file", portFile]);
    await server.printed('"ready"');
    const port = Number(Deno.readTextFileSync(portFile));
    assert.equal(JSON.parse(server.stdout.split("\n")[0] as string).port, port);
    const ask = (body: string) => fetch(`http://127.0.0.1:${port}/v1/responses`, { method: "POST", body });
    const hit = await ask(HI);
    assert.deepEqual([hit.status, await hit.text()], [200, STREAM]);
    const miss = await ask(OTHER);
    assert.equal(miss.headers.get("x-should-retry"), "false");
    await miss.body?.cancel();
    server.process.kill("SIGTERM");
    const called = await server.ended();
    assert.deepEqual([called.code, called.stderr], [7, ""]);
    // deno-lint-ignore no-explicit-any
    const [ready, played, missed, ended, ...more] = linesOf(called) as any[];
    assert.deepEqual([ready.type, played.type, missed.type, ended.type, more], [
      "ready",
      "played",
      "miss",
      "serve.ended",
      [],
    ]);
    assert.deepEqual([played.fixture, played.number, missed.nearest.fixture], [fixture, 1, fixture]);
    assert.deepEqual(
      [ended.exit_code, ended.served, ended.missed, ended.unused],
      [7, 1, 1, [{ fixture, number: 2 }]],
    );
    assert.throws(() => Deno.statSync(portFile), Deno.errors.NotFound);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: SIGINT is an ordinary end; the ready line is there without --json, people read on stderr", () =>
  withPlace(async (place) => {
    const server = place.start(["serve", place.fixture]);
    await server.printed('"ready"');
    server.process.kill("SIGINT");
    const { code, stdout, stderr } = await server.ended();
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^\{"type":"ready","port":\d+[^\n]*\}\n$/);
    assert.match(
      stderr,
      /^serving 2 exchanges of 1 fixture at http:[^]*\nunused: exchange 1 of [^]*, exchange 2 of /,
    );
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a wrapped command is led to the server, never given a real key, and has stdout to itself", () =>
  withPlace(async (place) => {
    const log = `${place.directory}/events`;
    const called = await place.call(
      ["serve", place.fixture, "--strict-usage", "--events", log, "--", ...place.client, HI, BYE],
      { env: { OPENAI_API_KEY: "sk-real", ANTHROPIC_API_KEY: "sk-real" } },
    );
    assert.equal(called.code, 0, called.stderr);
    assert.equal(called.stdout, `reprise-plays-this\n200 ${STREAM}\n200 ${STREAM}\n`);
    const events = eventsIn(log);
    assert.deepEqual(events.map(({ type }) => type), ["ready", "played", "played", "serve.ended"]);
    assert.deepEqual([events.at(-1).exit_code, events.at(-1).command_exit_code], [0, 0]);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a command finds each API under the path that it was recorded at, and every key that is set is a dummy", () =>
  withPlace(async (place) => {
    const recorded = (name: string, path: string, header: Partial<FixtureHeader>) =>
      writeFixture(
        `${place.directory}/${name}`,
        [{ request: { path, body: REQUEST }, body: STREAM }],
        header,
      );
    const gateway = recorded("gateway", "/api/v3/responses", {
      base_url: "https://gateway.example/api/v3",
    });
    const claude = recorded("claude", "/claude/v1/messages", {
      provider: "anthropic",
      base_url: "https://gateway.example/claude",
    });
    const print = 'echo $ANTHROPIC_BASE_URL $ANTHROPIC_AUTH_TOKEN; exec "$@"';
    const called = await place.call(
      ["serve", gateway, claude, place.fixture, "--", "sh", "-c", print, "sh", ...place.client, HI],
      { env: { ANTHROPIC_AUTH_TOKEN: "sk-real" } },
    );
    assert.equal(called.code, 0, called.stderr);
    const [said, ...rest] = called.stdout.split("\n");
    assert.match(said ?? "", /^http:\/\/127\.0\.0\.1:\d+\/claude reprise-plays-this$/);
    assert.equal(rest.join("\n"), `reprise-plays-this\n200 ${STREAM}\n`);
    assert.match(called.stderr, /^"[^"]*chat" was recorded under another base path/);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a miss that the command swallowed is exit code 7", () =>
  withPlace(async (place) => {
    const called = await place.call(["serve", place.fixture, "--", ...place.client, HI, OTHER]);
    assert.equal(called.code, 7);
    assert.match(called.stderr, /2 POST \/v1\/responses: 400, miss: [^]*\nerror: .*: 1 missed\n/);
    assert.match(called.stderr, /^1 served, 1 missed, 0 rejected, 0 warnings$/m);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a fault that broke nothing is reported, and is exit code 7 with --strict-usage; a fault in a fixture is named", () =>
  withPlace(async (place) => {
    const broken = writeFixture(`${place.directory}/broken`, [
      { request: { body: REQUEST }, response: { fault: "429 retry-after 2" }, body: STREAM },
    ]);
    const ask = ["serve", broken, "--fault", "7: fail", "--fault", "9: html"];
    const client = ["--", ...place.client, HI];
    const lenient = await place.call([...ask, "--verbose", ...client]);
    assert.deepEqual([lenient.code, lenient.stderr.includes("error:")], [0, false], lenient.stderr);
    assert.match(lenient.stderr, /: 429, exchange 1 of [^ ]*broken, broken: 429 retry-after 2\n/);
    assert.match(
      lenient.stderr,
      /the fault "7: fail" had no effect\nthe fault "9: html" had no effect\n/,
    );
    const strict = await place.call([...ask, "--strict-usage", ...client]);
    assert.equal(strict.code, 7);
    assert.match(strict.stderr, /error: .*: 2 faults without effect\n/);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: events go to stdout or stderr by their usual names too", () =>
  withPlace(async (place) => {
    const ask = ["--", ...place.client, HI];
    const types = (text: string) =>
      text.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).type);
    const all = ["ready", "played", "serve.ended"];
    const onStdout = await place.call(["serve", place.fixture, "--events", "-", ...ask]);
    assert.deepEqual(types(onStdout.stdout).filter((type) => all.includes(type)), all);
    const onStderr = await place.call([
      "serve",
      place.fixture,
      "--quiet",
      "--events",
      "/dev/stderr",
      ...ask,
    ]);
    assert.deepEqual([onStderr.code, types(onStderr.stderr)], [0, all]);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a request that was turned away is reported, counted, and exit code 7", () =>
  withPlace(async (place) => {
    const log = `${place.directory}/events`;
    const script = `await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses",
        { method: "POST", headers: { "content-encoding": "gzip" }, body: "x" })`;
    const client = [Deno.execPath(), "eval", script];
    const called = await place.call(["serve", place.fixture, "--events", log, "--", ...client]);
    assert.equal(called.code, 7);
    assert.match(
      called.stderr,
      /turned away with 400: [^]*, 1 turned away\n[^]*error: .*: 1 turned away\n/,
    );
    assert.equal(eventsIn(log).at(-1).turned_away, 1);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: an unused exchange is exit code 7 with --strict-usage, and 0 without", () =>
  withPlace(async (place) => {
    const ask = ["--", ...place.client, HI];
    assert.equal((await place.call(["serve", place.fixture, ...ask])).code, 0);
    const strict = await place.call(["serve", place.fixture, "--strict-usage", ...ask]);
    assert.equal(strict.code, 7);
    assert.match(strict.stderr, /error: .*: 1 unused\n/);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: the command's own exit code comes first, and a signal that ended it is 128 and its number", () =>
  withPlace(async (place) => {
    const run = (script: string) =>
      place.call(["serve", place.fixture, "--strict-usage", "--", "sh", "-c", script]);
    assert.equal((await run("exit 3")).code, 3);
    assert.equal((await run("kill -KILL $$")).code, 137);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: signals are passed to the command, which ends in its own way", () =>
  withPlace(async (place) => {
    const script = "trap 'echo stopped; exit 5' TERM; echo waiting; while :; do sleep 0.05; done";
    const started = place.start(["serve", place.fixture, "--", "sh", "-c", script]);
    await started.printed("waiting");
    started.process.kill("SIGTERM");
    const called = await started.ended();
    assert.deepEqual([called.code, called.stdout], [5, "waiting\nstopped\n"]);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a token is what the command gets as its key, and what others must send", () =>
  withPlace(async (place) => {
    const called = await place.call(
      ["serve", place.fixture, "--token", "open-sesame", "--", ...place.client, HI],
    );
    assert.deepEqual([called.code, called.stdout], [0, `open-sesame\n200 ${STREAM}\n`]);
  }));

Deno.test("serve plays fixtures to any client, and its exit code says whether all went as recorded: a fixture that cannot be served is refused before anything listens", () =>
  withPlace(async (place) => {
    const refused = async (code: number, said: RegExp, ...args: string[]) => {
      const called = await place.call(["serve", ...args]);
      assert.equal(called.code, code, `${args}: ${called.stdout}${called.stderr}`);
      assert.match(called.stderr, said);
      assert.equal(called.stdout, "");
    };
    const { fixture } = place;
    await refused(2, /--pace "slow"/, fixture, "--pace", "slow");
    await refused(2, /without a token/, fixture, "--host", "0.0.0.0");
    await refused(2, /Cannot start the command "no-such-program"/, fixture, "--", "no-such-program");
    await refused(7, /--max-age allows 0\n/, fixture, "--max-age", "0");
    await refused(2, /is the same folder/, fixture, `${fixture}/`);
    await refused(
      2,
      /^error: No command after --\nhint: Did a shell variable expand to nothing\?/,
      fixture,
      "--",
    );
    Deno.writeTextFileSync(`${fixture}/exchanges/0002/body`, "changed");
    await refused(2, /exchanges\/0002\/body": its checksum differs/, fixture);
    await refused(2, /chat-gone": no such folder/, `${fixture}-gone`);
  }));
