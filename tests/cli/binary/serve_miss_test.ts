/** A request without a recording: the error for its client, and the reports of `serve`. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";

Deno.test("--quiet never hides a miss, and without it the counts are the last line before the error", async () => {
  await using sandbox = new Sandbox();
  const recorded = { request: { body: { model: "m", input: "a" } }, body: "data: 1\n\n" };
  const fixture = writeFixture(`${sandbox.directory}/fixture`, [recorded]);
  const script = `
    const url = Deno.env.get("OPENAI_BASE_URL") + "/responses";
    await (await fetch(url, { method: "POST", body: '{"model":"m","input":"b"}' })).text();`;
  const client = [Deno.execPath(), "eval", "--quiet", script];
  const serve = (...flags: string[]) =>
    sandbox.call(["serve", "--rules", "none", ...flags, fixture, "--", ...client]);
  const quiet = await serve("--quiet");
  assert.equal(quiet.code, 7);
  assert.match(quiet.stderr, /^\n1 POST \/v1\/responses: 400, miss: /);
  assert.doesNotMatch(quiet.stderr, /serving|0 served/);
  const { stderr } = await serve();
  assert.match(stderr, /^0 served, 1 missed, 0 rejected, 0 warnings\nerror: .*\nhint: .*\n$/m);
});
