/** The verbs around clients that are programs of their own. */
import assert from "node:assert/strict";
import { type Called, denoCache, PROGRAM } from "../support/reprise.ts";
import { commandOf, Place } from "./client_command.ts";
import { messagesApi } from "./messages_script.ts";
import { responsesApi } from "./script.ts";
import type { Api } from "./support.ts";

/** Each client, its API, and where a changed prompt differs. */
const CLIENTS: readonly (readonly [name: string, api: Api, variable: string, path: string])[] = [
  ["openai", responsesApi, "OPENAI", "input[0].content"],
  ["ai", responsesApi, "OPENAI", "input[1].content[0].text"],
  ["@anthropic-ai/sdk", messagesApi, "ANTHROPIC", "messages[0].content"],
];

/** Records a client as a command, in front of an API that its environment names. */
async function recorded(
  place: Place,
  [name, api, variable]: (typeof CLIENTS)[number],
  out: string,
): Promise<string> {
  await using upstream = api();
  const base = variable === "OPENAI" ? upstream.baseUrl : new URL(upstream.baseUrl).origin;
  const env = { [`${variable}_BASE_URL`]: base, [`${variable}_API_KEY`]: "key-1" };
  // The API provider whose rules a server on this machine follows is unknown.
  const provider = ["--provider", variable.toLowerCase()];
  const called = await place.run(["record", ...provider, "--out", out, "--", ...commandOf(name)], env);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stderr, /recorded 3 exchanges/);
  return called.stdout;
}

const FORM = PROGRAM.length === 1 ? "binary" : "source";
for (const row of CLIENTS) {
  const [name, , , path] = row;
  Deno.test(`record -- CMD and serve -- CMD around clients that are programs (${FORM}): ${name}`, async () => {
    await using place = new Place();
    const out = `${place.directory}/fixture`;
    const report = await recorded(place, row, out);
    assert.match(report, /The sum is 10: 3 and 7 ✔/);

    const replayed = await place.run(["serve", "--strict-usage", out, "--", ...commandOf(name)]);
    assert.deepEqual([replayed.code, replayed.stdout], [0, report], replayed.stderr);

    // The client's program swallows both errors and ends with 0.
    const mistaken = await place.run(["serve", out, "--", ...commandOf(name, { mistake: "blob_altered" })]);
    assert.equal(mistaken.code, 7, mistaken.stderr);
    assert.match(mistaken.stdout, /could not be verified|Invalid `signature` in `thinking` block/);
    assert.match(mistaken.stderr, /1 rejected/);

    const changed = await place.run(["serve", out, "--", ...commandOf(name, { prompt: "Subtract" })]);
    assert.equal(changed.code, 7, changed.stderr);
    assert(changed.stdout.includes(`, exchange 1, at ${path}`), changed.stdout);
    assert(changed.stderr.includes(`differs at ${path}: recorded `), changed.stderr);
    assert.match(changed.stderr, /: 1 missed$/m);
  });
}

Deno.test("record --upstream and serve without a command, with a client that gets their URL", async () => {
  await using place = new Place();
  await using upstream = responsesApi();
  const out = `${place.directory}/fixture`;
  const asked = async (args: readonly string[]): Promise<[client: Called, verb: Called]> => {
    const verb = place.start([...args, "--json"]);
    await verb.printed('"ready"');
    const { port } = JSON.parse(verb.stdout.split("\n")[0] as string);
    const env = { ...denoCache(), OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "key-1" };
    const [command = "", ...words] = commandOf("openai");
    const options = { args: words, env: { ...place.environment(), ...env }, clearEnv: true };
    const { code, stdout, stderr } = await new Deno.Command(command, options).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    verb.process.kill("SIGTERM");
    return [{ code, stdout: text(stdout), stderr: text(stderr) }, await verb.ended()];
  };
  const [first, record] = await asked([
    "record",
    "--upstream",
    new URL(upstream.baseUrl).origin,
    "--out",
    out,
  ]);
  assert.deepEqual([first.code, record.code], [0, 0], first.stderr + record.stderr);
  const [second, serve] = await asked(["serve", "--strict-usage", out]);
  assert.deepEqual([second.code, serve.code], [0, 0], second.stderr + serve.stdout);
  assert.equal(second.stdout, first.stdout);
  assert.match(first.stdout, /The sum is 10/);
  const ended = JSON.parse(serve.stdout.trimEnd().split("\n").at(-1) as string);
  assert.deepEqual([ended.type, ended.served, ended.missed, ended.refused, ended.unused], [
    "serve.ended",
    3,
    0,
    0,
    [],
  ]);
});
