/**
 * Requests that no test owns, base URLs in code, and `blockNetwork`, with the helpers in real runners: no request reaches an
 * API in a replay, and none is lost in silence.
 */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { HelperProject, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

/** Clients with a base URL in code, by name: an expression of the text of the answer. */
const IN_CODE = `import http from "node:http";
import https from "node:https";
import { parse } from "node:url";
import OpenAI from "openai";

const body = (input) => JSON.stringify({ model: "gpt-5.6", input });
const headers = { "content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY };
const url = "https://api.openai.com/v1/responses?x=1";
const read = (send, input) => new Promise((resolve, reject) => {
  send((answer) => {
    let text = "";
    answer.setEncoding("utf8").on("data", (part) => text += part).on("end", () => resolve(text));
  }).on("error", reject).end(body(input));
});

export const clients = {
  openai: async () => (await new OpenAI({ baseURL: "https://api.openai.com/v1", maxRetries: 0 })
    .responses.create({ model: "gpt-5.6", input: "openai" })).output_text,
  fetch: async () => (await fetch(new URL(url), { method: "POST", headers, body: body("fetch") })).text(),
  request: async () => (await fetch(new Request(url, { method: "POST", headers, body: body("request") }))).text(),
  proxied: async () => (await fetch(url, { method: "POST", headers, body: body("proxied"),
    dispatcher: { dispatch() { throw new Error("a proxy is for the other host"); } } })).text(),
  https: () => read((done) => https.request(url, { method: "POST", headers, agent: new https.Agent() }, done), "https"),
  options: () => read((done) => https.request({ host: "api.openai.com", path: "/v1/responses", method: "POST",
    headers: { ...headers, Host: "api.openai.com" } }, done), "options"),
  parsed: () => read((done) => https.request({ ...parse(url), method: "POST", headers }, done), "parsed"),
  // The base URL that the variable had before the helpers were loaded.
  http: () => read((done) => http.request(process.env.LIVE + "/responses", { method: "POST", headers }, done), "http"),
};
`;

/** Names of the clients that the runner leads. */
const LED = ["openai", "fetch", "request", "proxied", "https", "options", "parsed", "http"];

const CONFIG = `const reprise = ["@reprise-cli/reprise/vitest"];
export default { test: { setupFiles: reprise, globalSetup: reprise } };
`;
const API = `import { withReplay } from "@reprise-cli/reprise/vitest";
import { test as base } from "vitest";
export const test = base.extend({ api: withReplay("fixtures/led") });
export { withReplay };
`;

/** A runner: how its tests are written. */
interface Runner {
  readonly command: string;
  readonly path: string;
  readonly head: string;
  readonly files?: Readonly<Record<string, string>>;
  /** A test with a recording. */
  readonly recorded: (name: string, code: string, options?: string) => string;
  readonly plain: (name: string, code: string) => string;
}

const RUNNERS: readonly Runner[] = [
  {
    command: "vitest run",
    path: "tests/a.test.ts",
    head: 'import { test, withReplay } from "./api.ts";\nimport { test as plain } from "vitest";\n',
    files: {
      "vitest.config.js": CONFIG,
      "tests/api.ts": API,
    },
    recorded: (name, code, options) =>
      options === undefined
        ? `test("${name}", async ({ api }) => { ${code} });\n`
        : `plain.extend({ api: withReplay("fixtures/led", ${options}) })("${name}", async ({ api }) => { ${code} });\n`,
    plain: (name, code) => `plain("${name}", async () => { ${code} });\n`,
  },
  {
    command: "node --test tests/a.test.mjs",
    path: "tests/a.test.mjs",
    head: 'import { withReplay } from "@reprise-cli/reprise/node";\nimport test from "node:test";\n',
    recorded: (name, code, options = "{}") =>
      `test("${name}", withReplay("fixtures/led", ${options}, async (t, api) => { ${code} }));\n`,
    plain: (name, code) => `test("${name}", async () => { ${code} });\n`,
  },
  {
    command: "deno test -A --no-check --no-lock tests/a_test.ts",
    path: "tests/a_test.ts",
    head: 'import process from "node:process";\nimport { withReplay } from "@reprise-cli/reprise/deno";\n',
    recorded: (name, code, options = "{}") =>
      `Deno.test({ name: "${name}", ...withReplay("fixtures/led", ${options}, async (t, api) => { ${code} }) });\n`,
    plain: (name, code) => `Deno.test("${name}", async () => { ${code} });\n`,
  },
];

/** Defines a test for each runner, in a project with a file of tests. */
function test(
  promise: string,
  testsOf: (runner: Runner) => string,
  run: (project: HelperProject, runner: Runner) => Promise<void>,
): void {
  for (const runner of RUNNERS) {
    Deno.test({
      ...needing(`${runner.command}: ${promise}`, LACKS_AGENTS),
      async fn() {
        await using project = new HelperProject();
        const files = { "package.json": '{ "type": "module", "dependencies": { "openai": "*" } }' };
        const tests = runner.head + testsOf(runner);
        await project.prepare(PACKAGES, [], {
          ...files,
          ...runner.files,
          "in_code.js": IN_CODE,
          [runner.path]: tests,
        });
        await run(project, runner);
      },
    });
  }
}

test(
  "a base URL in code is led to the recording of its test, and never to the API in a replay",
  ({ recorded }) =>
    'import { clients } from "../in_code.js";\n' + LED.map((name) =>
      recorded(name, `if (!(await clients.${name}()).includes("${name}")) throw new Error("another answer");`)
    ).join("") +
    // Its path is not below that of the API.
    recorded(
      "path",
      `await clients.fetch(); if (process.env.ELSEWHERE) await fetch("https://api.openai.com/v2/files").catch(() => {});`,
    ),
  async (project, { command }) => {
    const env = { LIVE: project.apis.env["OPENAI_BASE_URL"] ?? "" };
    await project.passes(command, { ...env, REPRISE_RECORD: "new" });
    assert.equal(project.apis.requests.length, LED.length + 1);
    assert.deepEqual(Object.values(project.recordings("fixtures/led")), Array(LED.length + 1).fill(1));
    await project.passes(command, env);
    const missed = await project.runs(command, { ...env, ELSEWHERE: "1" });
    assert.notEqual(missed.code, 0, missed.output);
    assert.match(missed.output, /"path" does not match its recording[^]*GET \/v2\/files/);
    assert.equal(project.apis.requests.length, LED.length + 1, "a replay sent a request to an API");
  },
);

test(
  "requests of tests without a recording, and outside of tests, fail the run with their names",
  ({ recorded, plain }) =>
    'import { clients } from "../in_code.js";\nconst silent = (name) => clients[name]().catch(() => {});\n' +
    'if (process.env.STRAY === "outside") await silent("fetch");\n' +
    recorded("has a recording", `await clients.fetch();`) +
    plain(
      "has none",
      `if (process.env.STRAY === "inside") { await silent("fetch"); await silent("fetch"); }`,
    ) +
    plain("sends nothing", ""),
  async (project, { command }) => {
    const env = { LIVE: "http://127.0.0.1:9" };
    await project.passes(command, { ...env, REPRISE_RECORD: "new" });
    await project.passes(command, env);
    const { code, output } = await project.runs(command, { ...env, STRAY: "inside" });
    assert.notEqual(code, 0, output);
    const name = command.startsWith("deno") ? "this test" : "has none";
    assert(output.includes(`Requests without a recording, while "${name}" ran:\n`.trimEnd()), output);
    assert.match(output, /- POST \/v1\/responses, 2 times\n\s*Give the test /);
    const failed = /Tests +(\d+) failed|# fail (\d+)|(\d+) failed/m.exec(output);
    assert.equal(failed?.slice(1).find((count) => count !== undefined), "1", output);
    const outside = await project.runs(command, { ...env, STRAY: "outside" });
    assert.notEqual(outside.code, 0, outside.output);
    assert.match(outside.output, /Requests without a recording, /);
    assert.equal(project.apis.requests.length, 1);
    await project.ends();
  },
);

test(
  "a connection that leads past the helpers to a known API is refused and fails its test; blockNetwork refuses all",
  ({ recorded }) =>
    `import net from "node:net";
import tls from "node:tls";
import { clients } from "../in_code.js";
const connect = (module, ...args) => new Promise((resolve) => {
  const socket = module.connect(...args);
  socket.on("error", ({ message }) => resolve(message)).on("connect", () => { socket.destroy(); resolve("connected"); });
});
const assert = (isTrue, text) => { if (!isTrue) throw new Error(text); };
const blocks = "blockNetwork refuses other machines";
` +
    recorded(
      "goes past",
      `await clients.fetch();
  await connect(tls, { host: "api.openai.com", port: 443 });
  const tunnel = net.connect(new URL(api.openai).port);
  console.log("tunnel: " + await connect(tls, { socket: tunnel, servername: "api.openai.com" }));`,
    ) +
    recorded(
      "is blocked",
      `await clients.fetch();
  const { port } = new URL(api.openai);
  const hosts = [[{ host: "db.invalid", port: 5432 }], [5432, "10.255.255.1"], [{ host: "::ffff:10.0.0.1", port: 1 }]];
  for (const args of hosts) for (const module of [net, tls]) {
    const message = await connect(module, ...args);
    assert(message.includes(blocks), message);
  }
  const error = await fetch("http://web.invalid/").catch((error) => error);
  assert(String(error.cause ?? error).includes('Cannot connect to "web.invalid": ' + blocks), error);
  for (const args of [[{ host: "mail.invalid", port: 25 }], [{ host: "DB.invalid", port: 1 }]]) {
    const message = await connect(net, ...args);
    assert(!message.includes(blocks), message);
  }
  assert((await connect(net, { host: "mail.invalid", port: 26 })).includes(blocks));
  assert(await connect(net, Number(port)) === "connected", "this machine is refused");
  assert(await connect(net, { port, host: "127.0.0.1" }) === "connected", "this machine is refused");`,
      `{ blockNetwork: true, allowNetwork: ["mail.invalid:25", "db.invalid:1"] }`,
    ) +
    recorded(
      "is not blocked",
      `await clients.fetch(); assert(!(await connect(net, 1, "db.invalid")).includes(blocks));`,
    ) +
    // The variable names this host, so it is that of a known API.
    recorded(
      "is allowed",
      "await clients.fetch(); await clients.http();",
      "{ allowNetwork: [new URL(process.env.LIVE).host] }",
    ),
  async (project, { command }) => {
    const env = { LIVE: project.apis.env["OPENAI_BASE_URL"] ?? "" };
    for (const REPRISE_RECORD of ["new", ""]) {
      const { code, output } = await project.runs(command, { ...env, REPRISE_RECORD });
      assert.notEqual(code, 0, output);
      assert.match(output, /tunnel: Cannot connect to "api\.openai\.com": /);
      assert.match(
        output,
        /"goes past" does not match its recording[^]*- Cannot connect to "api\.openai\.com": /,
      );
      const failed = /Tests +(\d+) failed|# fail (\d+)|(\d+) failed/m.exec(output);
      assert.equal(failed?.slice(1).find((count) => count !== undefined), "1", output);
    }
    assert.equal(project.apis.requests.length, 4 + 2, "one of each recording, and one of each run past it");
  },
);

Deno.test({
  ...needing(
    "node:test: requests with a base URL in code belong to their test, also of tests at a time",
    LACKS_AGENTS,
  ),
  async fn() {
    await using project = new HelperProject();
    const names = ["one", "two", "three"];
    const tests = names.map((name) =>
      `it("${name}", withReplay("fixtures/led", async () => {
  const body = JSON.stringify({ model: "gpt-5.6", input: "${name}" });
  const headers = { "content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY };
  const answer = await fetch("https://api.openai.com/v1/responses", { method: "POST", headers, body });
  if (!(await answer.text()).includes("${name}")) throw new Error("another answer");
}));
`
    );
    const path = "tests/a.test.mjs";
    await project.prepare(PACKAGES, [], {
      [path]: `import { withReplay } from "@reprise-cli/reprise/node";
import { describe, it } from "node:test";
describe("at a time", { concurrency: true }, () => {
${tests.join("")}});
`,
    });
    await project.passes(`node --test ${path}`, { REPRISE_RECORD: "new" });
    assert.deepEqual(Object.values(project.recordings("fixtures/led")), names.map(() => 1));
    await project.passes(`node --test ${path}`);
    assert.equal(project.apis.requests.length, names.length);
  },
});
