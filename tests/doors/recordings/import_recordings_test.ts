/** Recorded traffic of many tools: imported, compared with itself, served, recorded again, and asked by its rules. */
import { bytesBelow, type Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import {
  type Interaction,
  interactionsIn,
  recordingBytes,
  recordingNames,
  recordingText,
} from "../../support/recordings.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { type Imported, imported } from "./importing.ts";
import { exchangesOf, headerOf, type ReadExchange } from "./recording_files.ts";
import { outcomeOf, sent, Served } from "./served.ts";

/** The first line of it lacks its last brace. */
const DAMAGED = "responses/broken_json.chunks.txt";
const NAMES = recordingNames("chat", "messages", "responses").filter((name) => name !== DAMAGED);

/** Imports a recording into a home. */
const importedFrom = (home: RecordingHome, recording: string) =>
  imported(home, recordingBytes(recording), {
    name: recording.slice(recording.lastIndexOf("/") + 1),
    flags: ["--keep-cut"],
  });

/** Text unchanged, bytes without gzip, and parsed bodies by value. */
function sameAsInteraction(exchange: ReadExchange | undefined, { request, response }: Interaction): void {
  assert.equal(exchange?.request.method, request.method);
  assert.ok(request.uri.replace(/#.*/, "").endsWith(exchange?.request.path));
  assert.equal(exchange?.response.status, response.status?.code);
  if (typeof request.body === "string" && request.body !== "") assert.equal(exchange?.sent, request.body);
  const recorded = response.body?.string;
  const text = exchange?.text ?? "";
  if (response.parsed_body !== undefined) assert.deepEqual(JSON.parse(text), response.parsed_body);
  else if (typeof recorded === "string") assert.equal(text, recorded);
  else if (recorded !== undefined) assert.equal(text, new TextDecoder().decode(gunzipSync(recorded)));
  else assert.equal(typeof JSON.parse(text), "object");
}

/** Requires the bodies of a recording, read by the code of this test, to be those of its fixtures. */
function requireBodies(name: string, { format }: Json, fixtures: readonly Imported[]): void {
  const all = fixtures.flatMap(({ exchanges }) => exchanges);
  const source = recordingText(name);
  if (name.endsWith(".yaml")) {
    // The exchanges of one host keep their order.
    const waiting = new Map(
      fixtures.map(({ header, exchanges }) => [new URL(header.base_url).origin, [...exchanges]]),
    );
    const interactions = interactionsIn(name);
    assert.equal(all.length, interactions.length);
    for (const each of interactions) {
      sameAsInteraction(waiting.get(new URL(each.request.uri).origin)?.shift(), each);
    }
  } else if (name.endsWith(".chunks.txt")) {
    const body = all.map(({ text }) => text).join("");
    const data = body.split("\n").flatMap((line) => line.startsWith("data: ") ? [line.slice(6)] : []);
    assert.deepEqual(data, source.split("\n").filter((line) => line !== ""));
    const events = body.matchAll(/event: (.+)\ndata: (\{.*\})\n\n/g);
    for (const [, type, json = ""] of events) assert.equal(JSON.parse(json).type, type);
  } else if (format === "body" || format === "sse") {
    assert.deepEqual(all.map(({ text }) => text), [source]);
  } else if (!name.endsWith(".yml")) {
    const pieces = (JSON.parse(source).chunks ?? []).map(({ b64 }: Json) => atob(b64));
    if (pieces.length === 0) return;
    assert.equal(String.fromCharCode(...all[0]?.body ?? []), pieces.join(""));
    const offsets = pieces.map((_: string, index: number) => pieces.slice(0, index).join("").length);
    assert.deepEqual(all[0]?.response.chunks.map(([offset]: number[]) => offset), offsets);
  }
}

/** Serves all exchanges, each to a request of its own, through a recorder; the bodies stay byte for byte. */
async function roundTrip(home: RecordingHome, fixtures: readonly Imported[]): Promise<void> {
  await using server = await Served.start(home, fixtures.map(({ path }) => path), {
    ...{ cwd: home.directory, flags: ["--match", "sequence", "--rules", "none"] },
  });
  await using recorder = await home.record(server.origin, { out: "again", flags: ["--keep-cut"] });
  const before = fixtures.flatMap(({ exchanges }) => exchanges);
  for (const { request: { method, path }, sent, body } of before) {
    const headers = { "content-type": "application/json" };
    const init = method === "GET" ? {} : { body: sent ?? "" };
    const answer = await recorder.fetch(path, { method, headers, ...init });
    assert.deepEqual(await answer.bytes(), body, path);
  }
  const { exchanges: after } = await recorder.fixture();
  const told = ({ body, sent, response: { status, ended, headers } }: ReadExchange) =>
    [body, sent ?? "", status, ended, headers["content-type"]] as const;
  assert.deepEqual(
    after.map(told),
    before.map((one) => told({ ...one, response: { ...one.response, ended: undefined } })),
  );
}

for (const name of NAMES) {
  withHome(
    `${name}: imported with the bodies of its source, identical to itself, served and recorded again`,
    async (home) => {
      const { report, fixtures } = await importedFrom(home, name);
      // Ids of accounts are the only values that are replaced: nothing else is taken for a secret.
      const replaced = fixtures.flatMap(({ header }) => Object.keys(header.redactions ?? {}));
      assert.deepEqual(replaced.filter((kind) => kind !== "account"), []);
      requireBodies(name, report, fixtures);
      for (const { path } of fixtures) {
        assert.equal((await home.json(["diff", path, path])).verdict, "identical");
      }
      const whole = fixtures.every(({ exchanges }) =>
        exchanges.every(({ response }) => response.terminal !== false)
      );
      if (whole) await roundTrip(home, fixtures);
    },
    test.long,
  );
}

/** Anthropic's recordings keep no headers; they were made under this version. */
const headers = { "anthropic-version": "2023-06-01" };
const asArrived = ({ request, sent: body }: ReadExchange) =>
  sent(body ?? "", { method: request.method, path: request.path, headers });

/** The cassettes of APIs whose rules are known, imported: a folder for each server. */
async function importedAll(home: RecordingHome): Promise<string[]> {
  const names = recordingNames("responses", "messages").filter((name) => name.endsWith(".yaml"));
  for (const [index, name] of names.entries()) {
    home.file(`cassette-${index}.yaml`, recordingText(name));
    const { code } = await home.verb(["import", `cassette-${index}.yaml`, `imported/${index}`]);
    assert.ok([0, 2].includes(code), name);
  }
  const folder = `${home.directory}/imported`;
  const paths = [...bytesBelow(folder).keys()].filter((path) => path.endsWith("/fixture.json"));
  return paths.map((path) => `${folder}/${path.slice(0, -"/fixture.json".length)}`);
}

function mistakesIn({ request: { body } }: ReadExchange): Json[] {
  if (!Array.isArray(body?.input) || body.previous_response_id !== undefined) return [];
  const [output, blob] = [
    body.input.findIndex(({ type }: Json) => type === "function_call_output"),
    body.input.findIndex((item: Json) => !!item.encrypted_content),
  ];
  const altered = { ...body.input[blob], encrypted_content: `${body.input[blob]?.encrypted_content}A` };
  return [
    ...(output < 0 ? [] : [{ ...body, input: body.input.toSpliced(output, 1) }]),
    ...(blob < 0 ? [] : [{ ...body, input: body.input.with(blob, altered) }]),
  ];
}

withHome(
  "recorded traffic plays byte for byte and without a warning; its mistakes are refused",
  async (home) => {
    let [played, refused] = [0, 0];
    const folders = await importedAll(home);
    await using server = await Served.start(home, [`${home.directory}/imported`]);
    for (const folder of folders) {
      const { provider } = headerOf(folder);
      for (const [index, exchange] of exchangesOf(folder).entries()) {
        if (exchange.sent === null) continue;
        const mistakes = provider === "openai" && exchange.response.status === 200
          ? mistakesIn(exchange)
          : [];
        for (const mistake of mistakes) {
          const answer = await server.ask(sent(mistake, { path: exchange.request.path }));
          assert.match(outcomeOf(answer), /^refused /, `${folder} ${index + 1}`);
          refused += 1;
        }
        const answer = await server.ask(asArrived(exchange));
        const expected = [`${index + 1} exact`, exchange.text];
        assert.deepEqual([outcomeOf(answer), answer.text], expected, folder);
        played += 1;
      }
    }
    assert.ok(played >= 33 && refused >= 10, `${played} played, ${refused} refused`);
    await using exact = await Served.start(home, [`${home.directory}/imported`], {
      flags: ["--match", "exact"],
    });
    for (const folder of folders) {
      for (const [index, exchange] of exchangesOf(folder).entries()) {
        if (exchange.sent === null) continue;
        const answer = await exact.ask(asArrived(exchange));
        assert.deepEqual([outcomeOf(answer), answer.text], [`${index + 1} exact`, exchange.text], folder);
      }
    }
  },
  test.long,
);
