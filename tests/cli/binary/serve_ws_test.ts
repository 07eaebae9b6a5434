/** `reprise serve` with clients that use the WebSocket of the Responses API. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { SocketClient } from "../../support/socket_client.ts";
import {
  AGENT_FIELDS,
  agentLoop,
  PROMPT,
  responseEvents,
  SHELL_OUTPUT,
  socketExchange,
} from "../../support/socket_fixture.ts";
import { Listening } from "../listening.ts";

const CREATE: JsonObject = { type: "response.create", ...AGENT_FIELDS };
const WARM_UP: JsonObject = { ...CREATE, generate: false, input: [] };

Deno.test("serve plays a recording to two WebSockets one after the other, and names the exchange without a request", async () => {
  await using sandbox = new Sandbox();
  const fixture = writeFixture(`${sandbox.directory}/fixture`, agentLoop());
  const server = await Listening.start(sandbox, "serve", fixture, "--strict-usage");
  {
    await using client = await SocketClient.open(server.baseUrl);
    await client.ask(WARM_UP);
    await client.ask({ ...CREATE, previous_response_id: "resp_0", input: [PROMPT] });
  }
  {
    // Another connection knows no response of the first: the API's own error, and a miss that is counted.
    await using client = await SocketClient.open(server.baseUrl);
    const [event] = await client.ask({ ...CREATE, previous_response_id: "resp_1", input: [SHELL_OUTPUT] });
    assert.equal((event?.error as JsonObject).code, "previous_response_not_found");
  }
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.served, ended.unused.length], [7, 2, 1]);
});

Deno.test("a changed prompt is an error event, and serve ends with 7", async () => {
  await using sandbox = new Sandbox();
  const server = await Listening.start(
    sandbox,
    "serve",
    writeFixture(`${sandbox.directory}/fixture`, agentLoop()),
  );
  {
    await using client = await SocketClient.open(server.baseUrl);
    await client.ask(WARM_UP);
    const changed = { ...PROMPT, content: "Something else" };
    const [event] = await client.ask({ ...CREATE, previous_response_id: "resp_0", input: [changed] });
    assert.deepEqual([event?.type, event?.status, (event?.error as JsonObject).code], [
      "error",
      400,
      "fixture_miss",
    ]);
  }
  const miss = server.events.find(({ type }) => type === "miss");
  assert.match(miss?.message, /differs at .*To record it: .*reprise record --append --out \S+ -- \S+/);
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.missed], [7, 1]);
});

Deno.test("recordings of tests play over WebSocket under /t/NAME, each its own", async () => {
  await using sandbox = new Sandbox();
  for (const name of ["one", "two"]) {
    writeFixture(`${sandbox.directory}/suite/${name}`, [
      socketExchange({ message: { ...CREATE, input: [PROMPT] }, events: responseEvents(`resp_${name}`, []) }),
    ]);
  }
  const server = await Listening.start(sandbox, "serve", `${sandbox.directory}/suite`, "--strict-usage");
  for (const name of ["two", "one"]) {
    await using client = await SocketClient.open(`${server.origin}/t/${name}/v1`);
    const events = await client.ask({ ...CREATE, input: [PROMPT] });
    assert.equal((events.at(-1)?.response as JsonObject).id, `resp_${name}`);
  }
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.served], [0, 2]);
});
