import assert from "node:assert/strict";
import { denoCache, Sandbox } from "../../support/reprise.ts";
import {
  answer,
  message,
  reasoning,
  type Script,
  startResponsesServer,
} from "../../support/responses_server.ts";
import { functionCall } from "../../support/responses_server/script.ts";
import { reasoningIds, refuse } from "../../support/responses_server/refusing.ts";

const root = new URL("../../../", import.meta.url).pathname;
const KEY = "sk-live-check-never-printed";

const READS: Script = ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([reasoning(), functionCall("read_file", { path: "figures.txt", offset: null, limit: null })])
    : answer([reasoning(), message("Line 7.")], {
      usage: {
        input_tokens: 2000,
        input_tokens_details: { cached_tokens: 1500 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 16 },
      },
    });

interface Checked {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the script against a server with that script. */
async function check(script: Script, env: Record<string, string> = {}, rules?: "none"): Promise<Checked> {
  await using sandbox = new Sandbox();
  await using server = startResponsesServer({ script, key: KEY, ...(rules === undefined ? {} : { rules }) });
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${root}scripts/live_check.ts`, "gpt-5.6"],
    clearEnv: true,
    // Settings of the shell must not decide.
    env: {
      ...sandbox.environment(),
      ...denoCache(),
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: server.baseUrl,
      REPRISE_REASONING_REPLAY: "0",
      ...env,
    },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const checked = { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  assert.ok(!`${checked.stdout}${checked.stderr}`.includes(KEY), "the key is never printed");
  if (rules === undefined) assert.deepEqual(server.refusals, []);
  return checked;
}

Deno.test("four runs with a tool, in a table, and a verdict for replay", async () => {
  const { code, stdout, stderr } = await check(READS);
  assert.equal(code, 0, `${stdout}${stderr}`);
  const rows = stdout.split("\n").filter((line) => /^ +(on|off) /.test(line)).map((line) =>
    line.trim().split(/\s+/)
  );
  assert.deepEqual(
    rows.map(([replay, process, request, , sent]) => [replay, process, request, sent].join(" ")),
    [
      "on 1 1 0",
      "on 1 2 1",
      "on 2 1 2",
      "on 2 2 3",
      "off 1 1 0",
      "off 1 2 0",
      "off 2 1 0",
      "off 2 2 0",
    ],
  );
  assert.deepEqual(rows[1]?.slice(6, 8), ["2000", "1500"], "input and cached tokens");
  assert.match(
    stdout,
    /^replay on: 6 reasoning items sent, 4240 input tokens, 3000 of them cached \(71 %\)$/m,
  );
  assert.match(stdout, /^gpt-5\.6: replay works here: /m);
});

Deno.test("an API that takes no reasoning back fails the check, and says why", async () => {
  const refusing: Script = (request) =>
    reasoningIds(request).length > 0
      ? refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, "http")
      : (READS as Exclude<Script, readonly unknown[]>)(request);
  const { code, stdout } = await check(refusing, {}, "none");
  assert.equal(code, 7, stdout);
  assert.match(stdout, /^- the run with replay on in process 1 was refused \(reasoning_refused\): /m);
  assert.match(stdout, /^gpt-5\.6: replay could not be shown here$/m);
});

Deno.test("a model without reasoning or tools shows nothing, and that is said", async () => {
  const { code, stdout } = await check(() => answer([message("Hello.")]));
  assert.equal(code, 7, stdout);
  assert.match(stdout, /^- the model returned no reasoning item/m);
  assert.match(stdout, /^- a run called no tool/m);
});

Deno.test("a refused key ends the check with the run's own exit code", async () => {
  const { code, stdout } = await check(READS, { OPENAI_API_KEY: "sk-other" });
  assert.equal(code, 8, stdout);
  assert.match(
    stdout,
    /^- the run with replay on in process 1 ended with exit code 8: The API refused the key/m,
  );
  const missing = await check(READS, { OPENAI_API_KEY: "" });
  assert.equal(missing.code, 2, missing.stdout);
  assert.match(missing.stdout, /no key is set/);
});
