/** Answers with the recorder's paths: named by `lint` and `serve`, and replaced by `serve --rewrite-context`. */
import assert from "node:assert/strict";
import { Sandbox } from "../support/reprise.ts";
import { answer } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { HELLO, Place } from "./harness.ts";

/** An agent that reads the file that the model names, as its tool, and prints the model's last answer. */
const AGENT = [
  Deno.execPath(),
  "eval",
  "--quiet",
  `const history = [{ role: "user", content: "<cwd>" + Deno.cwd() + "</cwd> Look at a.txt" }];
  const ask = async () => {
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
      body: JSON.stringify({ model: "gpt-5.6", input: history, stream: true, store: false }),
    });
    if (!response.ok) throw new Error(await response.text());
    const events = (await response.text()).split("\\n").filter((line) => line.startsWith("data: {"));
    return JSON.parse(events.at(-1).slice(6)).response.output;
  };
  const [{ id, ...call }] = await ask();
  const output = Deno.readTextFileSync(JSON.parse(call.arguments).path);
  history.push(call, { type: "function_call_output", call_id: call.call_id, output });
  console.log(JSON.stringify((await ask()).at(-1).content[0].text));`,
];

/** Records the agent in `DIR/here`, then removes that directory; returns the fixture. */
async function recorded(place: Place): Promise<string> {
  const here = place.sandbox.workspace;
  const fixture = `${place.sandbox.directory}/fixture`;
  const called = await place.call(["record", "--out", fixture, "--", ...AGENT], { cwd: here });
  assert.deepEqual([called.code, called.stdout], [0, '"Hello."\n'], called.stderr);
  Deno.removeSync(here, { recursive: true });
  return fixture;
}

Deno.test("an agent that reads by absolute path replays in another directory with --rewrite-context, and each rewritten answer is reported", async () => {
  await using place: Place = new Place(({ input }) =>
    input.length === 1 ? answer([functionCall("read", { path: `${place.sandbox.workspace}/a.txt` })]) : HELLO
  );
  const fixture = await recorded(place);
  await using other = new Sandbox();
  Deno.writeTextFileSync(`${other.workspace}/a.txt`, "alpha\nbeta\n");
  const log = `${other.directory}/events`;
  const serve = async (...flags: string[]) => {
    const args = ["serve", fixture, "--events", log, ...flags, "--", ...AGENT];
    const called = await other.call(args, { cwd: other.workspace });
    // deno-lint-ignore no-explicit-any
    const events: any[] = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line));
    const played = events.filter(({ type }) => type === "played");
    return { ...called, played, ended: events.at(-1) };
  };

  const plain = await serve("--verbose");
  assert.notEqual(plain.code, 0, "the recorder's file is not here");
  assert.match(plain.stderr, /^calls hold the recorder's paths \(cwd\): exchange 1 of .*--rewrite-context/m);
  assert.deepEqual([plain.ended.rewritten, plain.played[0].rewritten], [0, undefined]);

  const own = await serve("--rewrite-context", "--strict-usage");
  assert.deepEqual([own.code, own.stdout], [0, '"Hello."\n'], own.stderr);
  assert.deepEqual(own.played.map(({ rewritten = false }) => rewritten), [true, false]);
  assert.equal(own.ended.rewritten, 1);
  assert.match(own.stderr, /^2 served, .*, 1 with the client's own values in calls$/m);
  assert.doesNotMatch(own.stderr, /hold the recorder's paths/);

  const linted = await other.call(["fixture", "lint", fixture, "--json"]);
  assert.match(linted.stdout, /"recorded_path"/, "lint names the answer");
  assert.equal(linted.code, 0);
});
