/** The WebSocket client of the `openai` package, recorded by `record` and replayed by `serve`. */
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type ResponsesSocket, startResponsesSocket } from "../support/scripted_api/socket.ts";
import { commandOf, Place } from "./client_command.ts";
import { responsesStep } from "./script.ts";

/** A conversation that was recorded. */
interface Recorded {
  /** Folder of the recording. */
  readonly out: string;
  /** The client's report. */
  readonly report: readonly Json[];
  readonly upstream: Pick<ResponsesSocket, "requests" | "refusals">;
}

/** Records a client as a command, in front of a server that is stopped afterwards. */
async function record(place: Place, name: string): Promise<Recorded> {
  await using upstream = await startResponsesSocket({ script: responsesStep });
  const out = `${place.directory}/${name.replace(/\W+/g, "-")}`;
  const env = { OPENAI_BASE_URL: upstream.baseUrl, OPENAI_API_KEY: "key-1" };
  const args = ["record", "--provider", "openai", "--out", out, "--", ...commandOf(name)];
  const { code, stdout, stderr } = await place.run(args, env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(upstream.refusals, []);
  return { out, report: reportIn(stdout), upstream };
}

/** Replays a recording to a client; the server it was recorded from is gone. */
async function replay(place: Place, { out }: Recorded, name: string, exitCode = 0, change = {}) {
  const events = `${out}.events.jsonl`;
  const args = ["serve", "--strict-usage", "--events", events, out, "--", ...commandOf(name, change)];
  const called = await place.run(args);
  const lines = Deno.readTextFileSync(events).trimEnd().split("\n");
  Deno.removeSync(events);
  const shown = `${called.stderr}\n${called.stdout.slice(0, 1000)}`;
  assert.equal(called.code, exitCode, shown);
  return { ...called, shown, events: lines.map((line): Json => JSON.parse(line)) };
}

function reportIn(stdout: string): Json[] {
  const parsed: unknown = JSON.parse(stdout);
  assert(Array.isArray(parsed), stdout);
  return parsed;
}

/** The transport of each exchange of a recording. */
function transportsOf(out: string): Json[] {
  const folders = [...Deno.readDirSync(`${out}/exchanges`)].map(({ name }) => name).sort();
  return folders.map((name) =>
    JSON.parse(Deno.readTextFileSync(`${out}/exchanges/${name}/request.json`)).transport ?? "http"
  );
}

/** The items and the usage of each answer. Whether `output_text` is there depends on the use of the package. */
function answersIn(report: readonly Json[]): Json {
  return report.map(({ items, usage }) => ({ items: items ?? null, usage: usage ?? null }));
}

Deno.test("openai over WebSocket: a warm-up and continued responses replay byte for byte, and changes are misses", async () => {
  await using place = new Place();
  const recorded = await record(place, "openai, warm");
  assert.deepEqual(transportsOf(recorded.out), ["ws", "ws", "ws", "ws"]);
  const { requests } = recorded.upstream;
  assert.deepEqual(requests.map(({ connection }) => connection), [1, 1, 1, 1]);
  assert.deepEqual(
    requests.map(({ message }) => message.input).map((input) => Array.isArray(input) && input.length),
    [
      0,
      1,
      2,
      1,
    ],
  );

  const replayed = await replay(place, recorded, "openai, warm");
  assert.deepEqual(reportIn(replayed.stdout), recorded.report);

  const changed = await replay(place, recorded, "openai, warm", 7, { prompt: "Subtract" });
  assert.match(changed.stdout, /fixture_miss/, changed.shown);
  assert.match(changed.stdout, /at input\[0\]\.content/, changed.shown);
  assert.equal(changed.events.filter(({ type }) => type === "miss").length, 1);

  const result = await replay(place, recorded, "openai, warm", 7, { result: "4" });
  assert.match(result.stdout, /at input\[5\]\.output/, result.shown);
});

Deno.test("openai over WebSocket: whole histories replay, and a mistake gets the API's own error", async () => {
  await using place = new Place();
  const recorded = await record(place, "openai, whole");
  assert.deepEqual(reportIn((await replay(place, recorded, "openai, whole")).stdout), recorded.report);

  const mistaken = await replay(place, recorded, "openai, whole", 7, { mistake: "blob_altered" });
  assert.match(mistaken.stdout, /"status":400.*invalid_encrypted_content/, mistaken.shown);
  assert.equal(mistaken.events.filter(({ type }) => type === "refused").length, 1);
});

Deno.test("openai over WebSocket: two lanes at once replay, each with its own answers", async () => {
  await using place = new Place();
  const recorded = await record(place, "openai, lanes");
  assert.equal(recorded.upstream.requests.length, 6);
  const { stdout } = await replay(place, recorded, "openai, lanes");
  assert.deepEqual(reportIn(stdout), recorded.report);
});

Deno.test("openai over WebSocket: a recording of continued responses replays to other uses", async (t) => {
  await using place = new Place();
  const recorded = await record(place, "openai, continuing");
  assert.deepEqual(recorded.report.map(({ items }) => Array.isArray(items) && items.length), [4, 2, 2]);
  for (const name of ["openai, whole", "openai, warm", "openai"]) {
    await t.step(name, async () => {
      const { stdout, events } = await replay(place, recorded, name);
      assert.deepEqual(answersIn(reportIn(stdout)), answersIn(recorded.report));
      const ended = events.at(-1);
      assert.deepEqual([ended?.served, ended?.missed, ended?.refused], [3, 0, 0]);
    });
  }
});

Deno.test("openai over WebSocket: recordings replay across transports", async (t) => {
  await using place = new Place();
  const overHttp = await record(place, "openai");
  assert.deepEqual(transportsOf(overHttp.out), ["http", "http", "http"]);
  for (const name of ["openai, whole", "openai, continuing", "openai, warm"]) {
    await t.step(`from HTTP to ${name}`, async () => {
      const { stdout } = await replay(place, overHttp, name);
      assert.deepEqual(answersIn(reportIn(stdout)), answersIn(overHttp.report));
      const heard = (report: readonly Json[]) => report.map((step) => step.heard);
      assert.deepEqual(heard(reportIn(stdout)), heard(overHttp.report));
    });
  }
  const warm = await record(place, "openai, warm");
  await t.step("from WebSocket with a warm-up to HTTP", async () => {
    const { stdout } = await replay(place, warm, "openai");
    assert.deepEqual(answersIn(reportIn(stdout)), answersIn(warm.report));
  });
});
