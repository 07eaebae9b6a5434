/** Any number of APIs at once: each at its own port, with its own key, in one fixture. */
import assert from "node:assert/strict";
import { exchangesOf, headerOf, writeFixture } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { FiveUpstreams, KEY_VARIABLES, type Upstream } from "../upstreams.ts";

/** Fails if an API got a key but its own. */
function requireOwnKeys(upstreams: readonly Upstream[]): void {
  for (const { variable, key, arrived } of upstreams) {
    assert.ok(arrived.some(({ headers }) => headers.includes(key)), `${variable} got its own key`);
    for (const other of upstreams) {
      if (other.key === key) continue;
      for (const { target, headers } of arrived) {
        assert.ok(!`${target}${headers}`.includes(other.key), `${variable} got the key of ${other.variable}`);
      }
    }
  }
}

/** Fails if one of the values is in a file of the fixture, in an event or in the output for people. */
function requireUnwritten(place: FiveUpstreams, values: readonly string[], output: string): void {
  const texts = [...place.files, ["events", Deno.readTextFileSync(place.log)], ["stderr", output]];
  for (const [name, text = ""] of texts) {
    for (const value of values) assert.ok(!text.includes(value), `${name} holds ${value}`);
  }
}

Deno.test("five APIs at once: each gets its own requests with its own key, no key is in the fixture, and serve plays each API by itself", async () => {
  await using place = new FiveUpstreams();
  const everyone = `for (const api of apis) await send(api, "/v1/same");`;
  const recorded = await place.around(["record", "--out", place.out, ...place.envFlag], everyone);
  assert.equal(recorded.code, 0, recorded.stderr);
  for (const { arrived, variable } of place.upstreams) assert.equal(arrived.length, 1, variable);
  requireOwnKeys(place.upstreams);
  requireUnwritten(place, place.upstreams.map(({ key }) => key), recorded.stderr);

  assert.deepEqual(
    Object.entries<Json>(headerOf(place.out).upstreams).map(([name, { base_url }]) => [name, base_url]),
    place.upstreams.map(({ variable, url }) => [variable, url]),
  );
  assert.deepEqual(
    exchangesOf(place.out).map(({ request: { path, upstream } }) => `${upstream} ${path}`),
    place.upstreams.map(({ variable, url }) =>
      `${variable} ${new URL(url).pathname.replace(/\/$/, "")}/v1/same`
    ),
  );
  // In another order, and without the flag: the fixture names the variables.
  const played = await place.around(
    ["serve", place.out, "--strict-usage"],
    `for (const api of apis.toReversed()) await send(api, "/v1/same");`,
  );
  assert.equal(played.code, 0, played.stdout + played.stderr);
  assert.equal([...played.stdout.matchAll(/^200 \{"api":(\d)/gm)].map(([, api]) => api).join(""), "43210");
  for (const { arrived } of place.upstreams) assert.equal(arrived.length, 1, "nothing went out");

  const astray = await place.around(
    ["serve", place.out],
    `for (let n = 0; n < 2; n++) await send(apis[2], "/v1/same");`,
  );
  assert.equal(astray.code, 7, "a request to one API never plays the exchange of another");
  const miss = place.events.find(({ type }) => type === "miss");
  assert.match(
    miss.message,
    / reprise record --missing --out \S+ --env GROQ_BASE_URL=http:\/\/127\.0\.0\.1:\d+ -- \S+/,
  );
});

Deno.test("five APIs at once: no key reaches another API by a wrong port, a redirect, a request target, a Host header or a test path", async () => {
  await using place = new FiveUpstreams();
  const script = `
for (const api of apis) await send(api, "/v1/own");
const authority = (url) => new URL(url).host;
for (const [index, api] of apis.entries()) {
  const next = apis[(index + 1) % apis.length];
  await send({ ...api, url: next.url }, "/v1/astray");
  await send({ ...api, url: next.url }, "/t/one/v1/astray");
  await send({ url: next.url, headers: {} }, "/v1/astray?key=" + api.key);
  await send({ url: next.url, headers: { "x-gateway-key": "prefix " + api.key } }, "/v1/astray");
  await fetch(next.url + "/", { method: "HEAD", headers: api.headers });
  const key = Object.entries(api.headers).map(([name, value]) => name + ": " + value);
  const host = authority(api.url);
  await raw(api, ["GET http://" + authority(next.url) + "/v1/absolute HTTP/1.1", "host: " + host, ...key]);
  await raw(api, ["GET /v1/host HTTP/1.1", "host: api.example.com", ...key]);
  await raw(next, ["GET http://" + host + "/v1/absolute HTTP/1.1", "host: " + host, ...key]);
  await send(api, "/redirect/v1/target");
}
`;
  const recorded = await place.around(["record", "--out", place.out, ...place.envFlag], script);
  assert.equal(recorded.code, 7, recorded.stderr);
  requireOwnKeys(place.upstreams);
  requireUnwritten(place, place.upstreams.map(({ key }) => key), recorded.stderr);
  for (const { arrived, variable } of place.upstreams) {
    const targets = arrived.map(({ target }) => target);
    assert.ok(
      !targets.some((target) => /astray|host|target$/.test(target) && !/redirect/.test(target)),
      variable,
    );
    assert.equal(targets.filter((target) => target.endsWith("/redirect/v1/target")).length, 1, variable);
  }
  const refused = place.events.filter(({ code }) => code === "key_refused");
  assert.equal(refused.length, 5 * 5, "each wrong port, and each kind of request");
  assert.ok(refused.every(({ status }) => status === 403));
  assert.match(refused[0].message, /^The key in OPENAI_API_KEY belongs to http:\/\/127\.0\.0\.1:\d+, and /);
});

Deno.test("with --token clients never hold a key: record adds each to its own upstream, in the header of its API, and the token goes nowhere", async () => {
  await using place = new FiveUpstreams();
  const token = "token-of-this-recording-0123";
  const script = `
console.log(JSON.stringify(${JSON.stringify(KEY_VARIABLES)}.map((name) => Deno.env.get(name))));
for (const api of apis) await send(api, "/v1/own");
for (const name of ["x-api-key", "api-key", "x-goog-api-key"]) await send({ ...apis[0], headers: { [name]: apis[0].key } }, "/v1/" + name);
await send({ ...apis[0], headers: {} }, "/v1/none");
await send({ ...apis[0], headers: { authorization: "Bearer " + apis[0].key + "x" } }, "/v1/wrong");
await send(apis[0], "/v1/query?key=" + apis[0].key);
await send(apis[0], "/v1/body", { body: JSON.stringify({ key: apis[0].key }) });
`;
  const called = await place.around(
    ["record", "--out", place.out, "--token", token, ...place.envFlag],
    script,
  );
  assert.equal(called.code, 7, called.stderr);
  const [held = "", ...answers] = called.stdout.trimEnd().split("\n");
  assert.deepEqual(JSON.parse(held), KEY_VARIABLES.map(() => token));
  assert.deepEqual(answers.map((line) => line.slice(0, 3)), [
    ...Array(8).fill("200"),
    "401",
    "401",
    "400",
    "400",
  ]);
  requireOwnKeys(place.upstreams);
  const values = place.upstreams.map(({ key }) => key);
  requireUnwritten(place, [...values, token], called.stderr);
  for (const { variable, arrived, keyHeader, key } of place.upstreams) {
    for (const { target, headers } of arrived) {
      assert.ok(!`${target}${headers}`.includes(token), `${variable} got the token`);
      const value = keyHeader === "authorization" ? `Bearer ${key}` : key;
      assert.ok(headers.includes(JSON.stringify([keyHeader, value])), `${variable}: ${headers}`);
    }
  }

  // Replayed as usual: the token is no part of the recording.
  const played = await place.around(
    ["serve", place.out],
    `for (const api of apis) await send(api, "/v1/own");`,
  );
  assert.equal(played.code, 0, played.stderr);
});

Deno.test("record --host and --token serve clients of another machine without a command: one upstream or several ports of --env", async () => {
  await using place = new FiveUpstreams();
  const [openai, , groq] = place.upstreams;
  if (openai === undefined || groq === undefined) throw new Error("The place has five upstreams");
  const token = "token-of-this-recording-0123";
  const env = place.variables;
  const record = (...args: string[]) =>
    place.start(["record", "--out", place.out, "--host", "0.0.0.0", ...args], { env });
  const urls = [`OPENAI_BASE_URL=${openai.url}`, `GROQ_BASE_URL=${groq.url}`];
  const both = record("--json", "--token", token, ...urls.flatMap((url) => ["--env", url]));
  await both.printed("\n");
  const { environment } = JSON.parse(both.stdout);
  const ask = async (url: string, key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(url, { method: "POST", headers, body: "{}" });
    await answer.text();
    return answer.status;
  };
  assert.equal(await ask(`${environment.OPENAI_BASE_URL}/responses`, token), 200);
  assert.equal(await ask(`${environment.GROQ_BASE_URL}/openai/v1/chat/completions`, token), 200);
  assert.equal(await ask(`${environment.OPENAI_BASE_URL}/responses`, groq.key), 401);
  both.process.kill("SIGTERM");
  assert.equal((await both.ended()).code, 7, "a request was turned away");
  assert.deepEqual(openai.arrived.map(({ target }) => target), ["/v1/responses"]);
  assert.ok(openai.arrived[0]?.headers.includes(openai.key));
  assert.deepEqual(groq.arrived.map(({ target }) => target), ["/openai/v1/chat/completions"]);
  assert.ok(groq.arrived[0]?.headers.includes(groq.key));
  for (const [file, text] of place.files) {
    assert.ok(![token, openai.key, groq.key].some((value) => text.includes(value)), file);
  }
  assert.deepEqual(Object.keys(headerOf(place.out).upstreams), ["OPENAI_BASE_URL", "GROQ_BASE_URL"]);
});

Deno.test("record --upstream with a command sends one API's key there, and says which API it does not record", async () => {
  await using place = new FiveUpstreams();
  const [openai, anthropic, gateway] = place.upstreams;
  if (gateway === undefined) throw new Error("The place has five upstreams");
  const record = (...flags: string[]) => ["record", "--upstream", gateway.url, ...flags];
  const both = `for (const api of apis.slice(0, 2)) await send(api, "/v1/both");`;
  const called = await place.around(record("--out", place.out), both);
  assert.equal(called.code, 0, called.stderr);
  assert.deepEqual([openai, anthropic, gateway].map((api) => api?.arrived.length), [0, 1, 1]);
  assert.ok(gateway.arrived[0]?.headers.includes(openai?.key ?? "none"));
  assert.match(called.stderr, /only OPENAI_BASE_URL leads to the recorder[^\n]*-p anthropic/);
  assert.equal(place.events[0].environment.ANTHROPIC_BASE_URL, undefined);
  const second = await place.around(
    record("-p", "anthropic", "--out", `${place.out}-2`),
    `await send(apis[1], "/v1/messages");`,
  );
  assert.equal(second.code, 0, second.stderr);
  assert.ok(gateway.arrived[1]?.headers.includes(anthropic?.key ?? "none"));
  assert.doesNotMatch(second.stderr, /leads to the recorder/);
});

Deno.test("no variable of reprise or Azure leads a command around serve or record", async () => {
  await using place = new FiveUpstreams();
  const url = place.upstreams[0]?.url ?? "";
  const env = {
    REPRISE_BASE_URL: url,
    AZURE_OPENAI_BASE_URL: url,
    AZURE_OPENAI_ENDPOINT: new URL(url).origin,
  };
  const around = (...args: string[]) => {
    const print = Object.keys(env).map((name) => `$\{${name}-unset}`).join(" ");
    return place.call([...args, "--", "sh", "-c", `echo ${print}`], { env });
  };
  const served = await around(
    "serve",
    writeFixture(`${place.directory}/old`, [{ body: "{}" }]),
    "--allow-unused",
  );
  assert.deepEqual([served.code, served.stdout], [0, "unset unset unset\n"], served.stderr);
  assert.match((await around("record", "--out", place.out, "--upstream", url)).stdout, /^unset http/);
});
