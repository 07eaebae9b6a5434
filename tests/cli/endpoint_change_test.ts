/** A session's history goes to another endpoint only where the user names it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { endpointHashes, parseBaseUrl } from "../../src/domain/fingerprint.ts";
import {
  answer,
  message,
  reasoning,
  type ResponsesServer,
  type Script,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import { httpError } from "../support/scripted_api/responses_script.ts";
import { type Called } from "../support/reprise.ts";
import { assertError, configure, HELLO, KEY, MODEL, Place } from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s"];

/** A session whose one run was sent by flag, in an environment that names no base URL. */
class Flagged extends Place {
  readonly other: ResponsesServer = startResponsesServer({ script: () => HELLO, key: KEY });

  constructor(script: Script = () => HELLO) {
    super(script);
  }

  override get env(): Record<string, string> {
    return { OPENAI_API_KEY: KEY, REPRISE_MODEL: MODEL };
  }

  static async begun(): Promise<Flagged> {
    const place = new Flagged();
    const called = await place.call([...RUN, "--base-url", place.server.baseUrl, "Hi"]);
    assert.equal(called.code, 0, called.stdout);
    return place;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.other.stop();
    await super[Symbol.asyncDispose]();
  }
}

/** Checks that a call was refused, that it names both endpoints, and that nothing was sent or written. */
function assertRefused(place: Flagged, called: Called, now: string): void {
  const before = endpointHashes(parseBaseUrl(place.server.baseUrl)).endpoint;
  const next = endpointHashes(parseBaseUrl(now)).endpoint;
  const error = assertError(called, {
    code: "endpoint_changed",
    exit: 2,
    hint: /--base-url or OPENAI_BASE_URL/,
  });
  for (const name of [before, next, now]) {
    assert.ok(String(error.message).includes(name), String(error.message));
  }
  assert.equal(place.server.requests.length, 1);
  assert.equal(place.other.requests.length, 0);
  assert.equal(place.sandbox.turnNames("s").length, 3);
}

test("the command that continues a session names the endpoint that flags named: as does the hint after a refusal", async () => {
  let run = 1;
  await using place = new Flagged(() =>
    run === 1 ? answer([reasoning("one"), message("Hello.")]) : httpError(400, { message: "Bad" })
  );
  assert.equal((await place.call([...RUN, "--base-url", place.server.baseUrl, "Hi"])).code, 0);
  run = 2;
  const args = ["run", "--json", "-c", "--base-url", place.server.baseUrl, "Go"];
  const command = `reprise run -s s --base-url ${place.server.baseUrl} --replay none`;
  const { hint } = assertError(await place.call(args), {
    code: "request_refused",
    exit: 13,
    hint: /--replay none/,
  });
  assert.ok(String(hint).endsWith(command), String(hint));
});

test("run -c ends with 2 where it would ask another endpoint that neither flag nor environment names: the provider's own server, by default", async () => {
  await using place = await Flagged.begun();
  const args = ["--json", "-w", place.sandbox.workspace];
  for (
    const more of [["-c"], ["-s", "s"], ["-c", "--dry-run"], ["-c", "--accept-drift"], [
      "-c",
      "-p",
      "openai",
    ]]
  ) {
    assertRefused(place, await place.call(["run", ...args, ...more, "Go"]), "https://api.openai.com/v1");
  }
  const compact = await place.call(["compact", "s", "--json", "--strategy", "model", "--tail-events", "0"]);
  assertRefused(place, compact, "https://api.openai.com/v1");
});

test("run -c ends with 2 where it would ask another endpoint that neither flag nor environment names: or that of the configuration", async () => {
  await using place = await Flagged.begun();
  configure(place.sandbox, { base_url: place.other.baseUrl });
  assertRefused(place, await place.call(["run", "--json", "-c", "Go"]), place.other.baseUrl);
});

test("run -c ends with 2 where it would ask another endpoint that neither flag nor environment names: but goes where a flag or a variable says, and where it went before", async () => {
  await using place = await Flagged.begun();
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    place.call(["run", "--json", "-c", ...args, "Go"], { env });
  assert.equal((await run(["--base-url", place.other.baseUrl])).code, 0);
  assert.equal((await run([], { OPENAI_BASE_URL: place.server.baseUrl })).code, 0);
  assert.equal((await run([], { REPRISE_BASE_URL: place.other.baseUrl })).code, 0);
  configure(place.sandbox, { base_url: place.other.baseUrl });
  assert.equal((await run([])).code, 0, "the configuration's is that of the last run");
  assert.equal(place.other.requests.length, 3);
});
