/** Clients that use the WebSocket of the Responses API, through `record` and `serve`. */
import assert from "node:assert/strict";
import { exchangesOf } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
import { startResponsesSocket } from "../../support/scripted_api/socket.ts";
import { Serving } from "../serving.ts";
import { running } from "./wrapping.ts";

/** A message that asks for a response. */
const create = (extra: Json = {}): Json => ({
  type: "response.create",
  model: "gpt-test",
  store: false,
  input: [{ role: "user", content: "hello" }],
  ...extra,
});

/** Starts `record` in front of a server, without a command. */
function startRecorder(sandbox: Sandbox, upstream: string, ...more: string[]): Promise<Serving> {
  const where = ["--upstream", upstream.replace(/\/v1$/, ""), "--out", `${sandbox.directory}/out`];
  return Serving.start(sandbox, ["record", "--json", ...where, ...more]);
}
const TOKEN = "token-of-the-recorder-1";

Deno.test("tests of a command that use WebSockets at a time, and HTTP, are recorded whole, and play again", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const out = `${sandbox.directory}/out`;
  const script = `
    const { origin, pathname } = new URL(Deno.env.get("OPENAI_BASE_URL"));
    const base = (test) => origin + "/t/" + test + pathname;
    const one = (test) => new Promise((resolve, reject) => {
      const socket = new WebSocket(base(test).replace(/^http/, "ws") + "/responses", {
        headers: { authorization: "Bearer key-1" },
      });
      socket.onopen = () => socket.send(JSON.stringify(${JSON.stringify(create())}));
      socket.onerror = (event) => reject(event.message);
      socket.onmessage = ({ data }) => {
        if (JSON.parse(data).type !== "response.completed") return;
        socket.close();
        resolve(JSON.parse(data).response.id);
      };
    });
    console.log(await Promise.all(["one", "one", "two"].map(one)).then((ids) => ids.sort().join()));
    const body = JSON.stringify({ model: "gpt-test", stream: true, store: false, input: "hello" });
    const headers = { "content-type": "application/json" };
    await (await fetch(base("one") + "/responses", { method: "POST", headers, body })).text();`;
  const upstream = ["--upstream", server.baseUrl.replace(/\/v1$/, "")];
  const called = await sandbox.call(["record", ...upstream, "--out", out, "--", ...running(script)]);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stderr, /recorded 4 exchanges \(3 over WebSocket\) of 2 tests into/);
  const transports = ["one", "two"].map((test) =>
    exchangesOf(`${out}/${test}`).map(({ request }) => [request.transport, request.connection].join(" "))
  );
  assert.deepEqual(transports, [["ws 1", "ws 2", " "], ["ws 1"]]);
  await server[Symbol.asyncDispose]();
  const served = await sandbox.call(["serve", "--strict-usage", out, "--", ...running(script)]);
  assert.deepEqual([served.code, served.stdout], [0, called.stdout], served.stderr);
});

Deno.test("a message with the token of the recorder goes nowhere, and costs record its exit code", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const recorder = await startRecorder(sandbox, server.baseUrl, "--token", TOKEN);
  const socket = new WebSocket(`${recorder.origin.replace(/^http/, "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const closed = Promise.withResolvers<number>();
  socket.onopen = () => socket.send(JSON.stringify(create({ input: `my key is ${TOKEN}` })));
  socket.onclose = ({ code }) => closed.resolve(code);
  assert.equal(await closed.promise, 1008);
  assert.ok(!JSON.stringify(server.upgrades[0]?.headers).includes(TOKEN));
  assert.equal((await recorder.end()).code, 7);
  assert.ok(recorder.events.some(({ code }) => code === "token_refused"));
  assert.equal(server.requests.length, 0);
});
