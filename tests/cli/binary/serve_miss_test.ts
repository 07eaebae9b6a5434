/** A request without a recording: the error for its client, and the reports of `serve`. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";

/** The events of `serve --events`. */
// deno-lint-ignore no-explicit-any
function eventsIn(log: string): any[] {
  return Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("the report of a miss on stderr and in the events lists all differences, and the rules with which it would match", async () => {
  await using sandbox = new Sandbox();
  const body = (cwd: string, more = {}) => ({ model: "m", input: [{ role: "user", content: cwd }], ...more });
  const recorded = body("<cwd>/srv/a</cwd> in /srv/a/tests");
  const fixture = writeFixture(`${sandbox.directory}/fixture`, [{
    request: { body: recorded },
    body: "data: 1\n\n",
  }]);
  const served = async (sent: object, ...flags: string[]) => {
    const log = `${sandbox.directory}/events`;
    const script = `
      const url = Deno.env.get("OPENAI_BASE_URL") + "/responses";
      const answer = await fetch(url, { method: "POST", body: ${JSON.stringify(JSON.stringify(sent))} });
      console.log(answer.status, await answer.text());`;
    const client = [Deno.execPath(), "eval", "--quiet", script];
    const args = ["serve", "--rules", "none", "--events", log, ...flags, fixture, "--", ...client];
    const called = await sandbox.call(args);
    assert.equal(called.code, 7, called.stderr);
    const miss = eventsIn(log).find(({ type }) => type === "miss");
    return { ...called, miss };
  };

  const moved = body("<cwd>/srv/b</cwd> in /srv/b/tests");
  const elsewhere = await served(moved);
  assert.match(elsewhere.stdout, /^400 .*"code":"fixture_miss"/);
  assert.doesNotMatch(elsewhere.stdout, /srv/);
  assert.match(elsewhere.stderr, /^1 POST .*: 400, miss: .*\. To match it: --normalize cwd$/m);
  assert.equal(elsewhere.miss.cure, "--normalize cwd");
  assert.match(elsewhere.stdout, /To match it: --normalize cwd"/);
  const strictly = await served(moved, "--strict-match");
  assert.doesNotMatch(strictly.stderr, /To match it/);

  const { stderr, miss } = await served(body("<cwd>/srv/a</cwd>", { temperature: 1, model: "n" }));
  assert.deepEqual(miss.differences.map(({ path }: { path: string }) => path), [
    "input[0].content",
    "model",
    "temperature",
  ]);
  assert.match(
    stderr,
    /differs at input\[0\]\.content: .*\n {2}also differs at model: recorded "m", received "n"\n {2}also differs at temperature: recorded nothing, received 1\n/,
  );
  assert.match(
    miss.cure,
    /^(?:OPENAI_BASE_URL=\S+ )?reprise record --missing --out \S+\/fixture -- CMD$/,
  );
  assert(stderr.includes(`. To record it: ${miss.cure}\n`), stderr);
});

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
