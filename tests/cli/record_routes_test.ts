/** Where `record` passes requests on to, whatever the clients of a wrapped command and the user's URL say. */
import assert from "node:assert/strict";
import { recordRoutes } from "../../src/cli/record_routes.ts";

const WITHOUT_ENV = { env: () => undefined };
const HOST = "http://127.0.0.1:8080";
/** As the clients of both APIs ask, under the base URLs that a wrapped command is given. */
const PATHS = ["/v1/responses", "/v1/messages?beta=true", "/v1/responses/compact"];

Deno.test("a wrapped command's clients come out right, whether --upstream has the version or not", async () => {
  const rows = [
    ["", ""],
    ["/v1", ""],
    ["/v1/", ""],
    ["/gateway/v1", "/gateway"],
    ["/openai/v1", "/openai"],
    // Only the version itself.
    ["/v1beta", "/v1beta"],
    ["/v1/own", "/v1/own"],
    ["/my-v1", "/my-v1"],
  ] as const;
  for (const [given, kept] of rows) {
    const { route, upstreams } = await recordRoutes(WITHOUT_ENV, `${HOST}${given}`, { wraps: true });
    assert.deepEqual(upstreams, [`${HOST}${kept}`]);
    for (const path of PATHS) assert.equal(route(path, {})?.href, `${HOST}${kept}${path}`, given);
  }
});

Deno.test("without a command the path of a request is appended to --upstream as it was given", async () => {
  const { route } = await recordRoutes(WITHOUT_ENV, `${HOST}/v1`, { wraps: false });
  assert.equal(route("/responses", {})?.href, `${HOST}/v1/responses`);
});
