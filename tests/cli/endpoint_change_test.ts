/** A session's history goes to another endpoint only where the user names it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, reasoning, startResponsesServer } from "../support/scripted_api/responses.ts";
import { httpError } from "../support/scripted_api/responses_script.ts";
import { sha256 } from "../support/files.ts";
import { assertError, configure, HELLO, KEY, MODEL, ok, Place } from "./harness.ts";

/** A place in whose environment no base URL is named. */
class Unnamed extends Place {
  override get env(): Record<string, string> {
    return { OPENAI_API_KEY: KEY, REPRISE_MODEL: MODEL };
  }

  /** Creates the session "s" by a run with a flag. */
  begin(): Promise<string> {
    return ok(this, ["run", "--json", "--new", "-s", "s", "--base-url", this.server.baseUrl, "Hi"]);
  }
}

test("the command that continues a session names the endpoint that flags named: as does the hint after a refusal", async () => {
  const answers = [answer([reasoning("one"), message("Hello.")]), httpError(400, { message: "Bad" })];
  await using place = new Unnamed(() => answers.length > 1 ? answers.shift() ?? HELLO : answers[0] ?? HELLO);
  await place.begin();
  const { baseUrl } = place.server;
  const called = await place.call(["run", "--json", "-c", "--base-url", baseUrl, "Go"]);
  const { hint } = assertError(called, { code: "request_refused", exit: 13 });
  assert.ok(hint.endsWith(`reprise run -s s --base-url ${baseUrl} --replay none`), hint);
});

test("a session is not continued at an endpoint that neither flag nor environment names, and goes where they say", async () => {
  await using place = new Unnamed(() => HELLO);
  await using other = startResponsesServer({ script: () => HELLO, key: KEY });
  await place.begin();
  /** Fails unless the call is refused, with both endpoints, and nothing is sent or written. */
  const refused = async (now: string, ...args: readonly string[]) => {
    const hint = /--base-url or OPENAI_BASE_URL/;
    const { message } = assertError(await place.call(args), { code: "endpoint_changed", exit: 2, hint });
    const hashes = [place.server.baseUrl, now].map((url) => sha256(url).slice(0, 8));
    for (const name of [...hashes, now]) assert.ok(message.includes(name), message);
    assert.deepEqual([place.server.requests.length, other.requests.length], [1, 0]);
    assert.equal(place.sandbox.turnNames("s").length, 3);
  };
  const official = "https://api.openai.com/v1";
  for (const more of [[], ["--dry-run"], ["--accept-drift"], ["-p", "openai"]]) {
    await refused(official, "run", "--json", "-c", ...more, "Go");
  }
  await refused(official, "compact", "s", "--json", "--strategy", "model", "--tail-events", "0");
  configure(place.sandbox, { base_url: other.baseUrl });
  await refused(other.baseUrl, "run", "--json", "-s", "s", "Go");

  configure(place.sandbox, {});
  const run = ["run", "--json", "-c", "Go"];
  await ok(place, [...run, "--base-url", other.baseUrl]);
  await ok(place, run, { OPENAI_BASE_URL: place.server.baseUrl });
  await ok(place, run, { REPRISE_BASE_URL: other.baseUrl });
  configure(place.sandbox, { base_url: other.baseUrl });
  // The configuration's is that of the last run.
  await ok(place, run);
  assert.equal(other.requests.length, 3);
});
