/** The ports of a wrapped command: one for each API, so that a key reaches its own vendor only. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { type Called, Sandbox } from "../../support/reprise.ts";
import { type AnyApi, startAnyApi } from "../any_api.ts";

const KEYS = { OPENAI_API_KEY: "key-of-openai-0123456789", ANTHROPIC_API_KEY: "key-of-anthropic-0123456789" };

/** Sends requests given as JSON, `$NAME` being a variable, and prints the statuses. */
const CLIENT = `
const filled = (text) => text.replace(/\\$([A-Z_]+)/g, (_, name) => Deno.env.get(name));
for (const text of Deno.args) {
  const { url, ...init } = JSON.parse(filled(text));
  const answer = await fetch(url, { redirect: "manual", ...init });
  console.log(answer.status + " " + (await answer.text()).slice(0, 60));
}
`;
const MODELS = { url: "$ANTHROPIC_BASE_URL/v1/models", headers: { "x-api-key": "$ANTHROPIC_API_KEY" } };
const CHECK = { url: "$ANTHROPIC_BASE_URL/", method: "HEAD" };
const MESSAGES = {
  url: "$ANTHROPIC_BASE_URL/v1/messages",
  method: "POST",
  headers: { "x-api-key": "$ANTHROPIC_API_KEY" },
  body: "{}",
};
const RESPONSES = {
  url: "$OPENAI_BASE_URL/responses",
  method: "POST",
  headers: { authorization: "Bearer $OPENAI_API_KEY" },
  body: "{}",
};
const OPENAI_MODELS = {
  url: "$OPENAI_BASE_URL/models",
  headers: { authorization: "Bearer $OPENAI_API_KEY" },
};

/** Two vendors, and a sandbox whose environment leads to them. */
class Place extends Sandbox {
  readonly openai: AnyApi = startAnyApi();
  readonly anthropic: AnyApi = startAnyApi();
  readonly out = `${this.directory}/fixture`;
  readonly log = `${this.directory}/events`;

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.openai[Symbol.asyncDispose]();
    await this.anthropic[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }

  /** The verb around a client that sends these. */
  around(args: readonly string[], ...requests: readonly unknown[]): Promise<Called> {
    Deno.writeTextFileSync(`${this.directory}/client.js`, CLIENT);
    const client = [Deno.execPath(), "run", "-A", "--quiet", `${this.directory}/client.js`];
    const texts = requests.map((request) => JSON.stringify(request));
    return this.call([...args, "--events", this.log, "--", ...client, ...texts], {
      env: {
        ...KEYS,
        OPENAI_BASE_URL: `${this.openai.origin}/v1`,
        ANTHROPIC_BASE_URL: this.anthropic.origin,
      },
    });
  }

  /** The events of the last call. */
  // deno-lint-ignore no-explicit-any
  get events(): any[] {
    return Deno.readTextFileSync(this.log).trimEnd().split("\n").map((line) => JSON.parse(line));
  }
}

function sent({ arrived }: AnyApi): string[] {
  return arrived.map(({ target, headers }) =>
    `${target} ${headers.get("x-api-key") ?? headers.get("authorization") ?? "no key"}`
  );
}

Deno.test("under -- CMD each API has its own port: record delivers each key to its own vendor, whatever path is requested, and records unchanged paths", async () => {
  await using place = new Place();
  const called = await place.around(
    ["record", "--out", place.out],
    MODELS,
    RESPONSES,
    OPENAI_MODELS,
    MESSAGES,
  );
  assert.equal(called.code, 0, called.stderr);
  assert.deepEqual(sent(place.anthropic), [
    `/v1/models ${KEYS.ANTHROPIC_API_KEY}`,
    `/v1/messages ${KEYS.ANTHROPIC_API_KEY}`,
  ]);
  assert.deepEqual(sent(place.openai), [
    `/v1/responses Bearer ${KEYS.OPENAI_API_KEY}`,
    `/v1/models Bearer ${KEYS.OPENAI_API_KEY}`,
  ]);
  const { header, exchanges } = readFixture(denoFiles, place.out);
  assert.deepEqual(exchanges.map(({ request: { path, upstream } }) => [path, upstream]), [
    ["/v1/models", "ANTHROPIC_BASE_URL"],
    ["/v1/responses", "OPENAI_BASE_URL"],
    ["/v1/models", "OPENAI_BASE_URL"],
    ["/v1/messages", "ANTHROPIC_BASE_URL"],
  ]);
  assert.deepEqual(header.upstreams, {
    ANTHROPIC_BASE_URL: { base_url: place.anthropic.origin, provider: "anthropic" },
    OPENAI_BASE_URL: { base_url: `${place.openai.origin}/v1`, provider: "compatible" },
  });
  const { environment } = place.events[0];
  assert.notEqual(
    new URL(environment.OPENAI_BASE_URL).port,
    new URL(environment.ANTHROPIC_BASE_URL).port,
  );

  // The same path on both ports: each gets what its own vendor said, in whatever order they are asked.
  const body = (number: number) => `${place.out}/exchanges/000${number}/body`;
  Deno.writeTextFileSync(body(1), "of anthropic");
  Deno.writeTextFileSync(body(3), "of openai");
  const sealed = await place.call(["fixture", "seal", place.out]);
  assert.equal(sealed.code, 0, sealed.stderr);
  const played = await place.around(["serve", place.out], OPENAI_MODELS, MODELS);
  assert.deepEqual([played.code, played.stdout], [0, "200 of openai\n200 of anthropic\n"], played.stderr);
});

Deno.test("under -- CMD each API has its own port: record --upstream with a command sends one vendor's key there, and says which API it does not record", async () => {
  await using place = new Place();
  const gateway = startAnyApi();
  await using _stopped = gateway;
  const args = ["record", "--upstream", gateway.origin, "--out", place.out];
  const called = await place.around(args, RESPONSES, MESSAGES);
  assert.equal(called.code, 0, called.stderr);
  assert.deepEqual(sent(gateway), [`/v1/responses Bearer ${KEYS.OPENAI_API_KEY}`]);
  assert.deepEqual(sent(place.anthropic), [`/v1/messages ${KEYS.ANTHROPIC_API_KEY}`]);
  assert.match(called.stderr, /only OPENAI_BASE_URL leads to the recorder[^\n]*-p anthropic/);
  const { environment } = place.events[0];
  assert.equal(environment.ANTHROPIC_BASE_URL, undefined);

  const other = ["record", "-p", "anthropic", "--upstream", gateway.origin, "--out", `${place.out}-2`];
  const second = await place.around(other, MESSAGES);
  assert.equal(second.code, 0, second.stderr);
  assert.deepEqual(sent(gateway).slice(1), [`/v1/messages ${KEYS.ANTHROPIC_API_KEY}`]);
  assert.doesNotMatch(second.stderr, /leads to the recorder/);
});

Deno.test("under -- CMD each API has its own port: HEAD of the base URL is passed on by record and answered by serve, and neither an exchange nor a miss", async () => {
  await using place = new Place();
  const recorded = await place.around(["record", "--out", place.out], CHECK, MESSAGES, CHECK);
  assert.equal(recorded.code, 0, recorded.stderr);
  assert.equal(place.anthropic.arrived.length, 3, "the vendor is asked, as without us");
  assert.deepEqual(place.events.map(({ type, reason }) => reason ?? type).sort(), [
    "connection_check",
    "connection_check",
    "exchange",
    "ready",
    "record.ended",
  ]);
  assert.equal(readFixture(denoFiles, place.out).exchanges.length, 1);

  const served = await place.around(["serve", place.out, "--strict-usage", "--verbose"], CHECK, MESSAGES);
  assert.equal(served.code, 0, served.stderr);
  assert.match(served.stdout, /^200 \n200 event: message_start/);
  assert.match(served.stderr, /HEAD \/: 200, a connection check, neither an exchange nor a miss\n/);
  const ended = place.events.at(-1);
  assert.deepEqual([ended.served, ended.missed, ended.skipped], [1, 0, 1]);
});

Deno.test("under -- CMD each API has its own port: no variable of reprise or Azure leads a command around serve, and record refuses one that leads around it", async () => {
  await using place = new Place();
  const fixture = writeFixture(`${place.directory}/old`, [{
    request: { body: {} },
    body: "data: b\n\n",
  }]);
  const url = `${place.openai.origin}/v1`;
  const env = {
    REPRISE_BASE_URL: url,
    AZURE_OPENAI_BASE_URL: url,
    AZURE_OPENAI_ENDPOINT: place.openai.origin,
  };
  const around = (...args: string[]) => {
    const print = Object.keys(env).map((name) => `$\{${name}-unset}`).join(" ");
    return place.call([...args, "--", "sh", "-c", `echo ${print}`], { env });
  };
  const served = await around("serve", fixture, "--allow-unused");
  assert.deepEqual([served.code, served.stdout], [0, "unset unset unset\n"], served.stderr);
  const recorded = await around("record", "--out", place.out);
  assert.deepEqual([recorded.code, recorded.stdout], [2, ""], recorded.stderr);
  assert.match(
    recorded.stderr,
    /REPRISE_BASE_URL makes requests bypass the recorder\nhint: [^\n]*--upstream/,
  );
  const given = await around("record", "--out", place.out, "--upstream", url);
  assert.match(given.stdout, /^unset http/);
});

Deno.test("under -- CMD each API has its own port: a command that asked nothing of serve ends with 7, unless --allow-unused", async () => {
  await using place = new Place();
  const fixture = writeFixture(`${place.directory}/old`, [{ request: { body: {} }, body: "data: b\n\n" }]);
  const run = (...args: string[]) => place.call(["serve", fixture, ...args]);
  const unasked = await run("--", "true");
  assert.equal(unasked.code, 7, unasked.stderr);
  assert.match(
    unasked.stderr,
    /error: No exchange was played[^\n]*\nhint: The command sent nothing [^\n]*--allow-unused/,
  );
  assert.equal((await run("--allow-unused", "--", "true")).code, 0);
  assert.equal((await run("--", "sh", "-c", "exit 3")).code, 3, "the command's own exit code comes first");
  assert.equal((await run("--allow-unused", "--strict-usage", "--", "true")).code, 2);
  // A connection check asks for nothing that was recorded.
  assert.equal((await place.around(["serve", fixture], CHECK)).code, 7);
});
