/** Use of the recordings of a suite: repeated, unused and unopened ones, and what `fixture prune` makes of it. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { bodyOf, exchange, sealOf, Serving, writeSuite } from "../serving.ts";

Deno.test("50 tests at once, with 4 requests each, get each the answers of its own recording in recorded order", async () => {
  await using sandbox = new Sandbox();
  const suite = `${sandbox.directory}/suite`;
  const tests = Array.from({ length: 50 }, (_, index) => `test-${index}`);
  for (const test of tests) {
    writeFixture(`${suite}/${test}`, [1, 2, 3].map((turn) => exchange("Done?", `${test} ${turn}`)));
  }
  await using serving = await Serving.start(sandbox, "--strict-usage", "--repeat", suite);
  const run = async (test: string) => {
    const got: string[] = [];
    for (let turn = 0; turn < 4; turn++) got.push((await serving.asksTest(test, "Done?")).body.answer);
    return got;
  };
  const answers = await Promise.all(tests.map(run));
  for (const [index, test] of tests.entries()) {
    assert.deepEqual(answers[index], [1, 2, 3, 3].map((turn) => `${test} ${turn}`));
  }
  const { code, ended } = await serving.end();
  assert.deepEqual([code, ended.served, ended.repeated, ended.unused, ended.unopened], [0, 200, 50, [], []]);
});

Deno.test("a client that ends its side of the connection after its request gets its answer", async () => {
  await using sandbox = new Sandbox();
  for (const flags of [[], ["--no-websocket"], ["--pace", "real"]]) {
    const suite = writeSuite(sandbox, ["a"], `suite${flags.join("")}`);
    await using serving = await Serving.start(sandbox, "--strict-usage", ...flags, suite);
    const { port } = serving;
    const ask = async (input: string, framed: (body: string) => string) => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      const head = `POST /t/a/v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
      await connection.write(new TextEncoder().encode(head + framed(JSON.stringify(bodyOf(input)))));
      await connection.closeWrite();
      return await new Response(connection.readable).text();
    };
    const whole = await ask("Hi", (body) => `Content-Length: ${body.length}\r\n\r\n${body}`);
    assert.match(whole, /^HTTP\/1\.1 200 [^]*"a 1"/, String(flags));
    const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const chunked = await ask(
      "And?",
      (body) => `Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(body)}`,
    );
    assert.match(chunked, /^HTTP\/1\.1 200 [^]*"a 2"/, String(flags));
    const { code, ended } = await serving.end();
    assert.deepEqual([code, ended.served], [0, 2]);
  }
});

Deno.test("with --repeat a suite runs twice in one server, and a test that was interrupted too", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b"]);
  await using serving = await Serving.start(sandbox, "--repeat", "--strict-usage", suite);
  const run = async () => {
    const got: string[] = [];
    for (const test of ["a", "b"]) {
      for (const input of ["Hi", "And?"]) got.push((await serving.asksTest(test, input)).body.answer);
    }
    return got;
  };
  await serving.asksTest("b", "Hi");
  const [first, second] = [await run(), await run()];
  assert.deepEqual(first, ["a 1", "a 2", "b 1", "b 2"]);
  assert.deepEqual(second, first);
  const { code, ended, events } = await serving.end();
  assert.deepEqual([code, ended.served, ended.repeated], [0, 9, 5]);
  assert.deepEqual(events.filter(({ type }) => type === "played").map(({ repeat }) => repeat ?? 0), [
    ...[0],
    ...[0, 0, 1, 0],
    ...[1, 1, 2, 1],
  ]);
});

Deno.test("--strict-usage judges the tests that were named and lists the others", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b", "deep/er"]);
  const given = writeFixture(`${sandbox.directory}/given`, [exchange("Shared", "shared")]);
  {
    await using serving = await Serving.start(sandbox, "--strict-usage", suite);
    await serving.asksTest("a", "Hi");
    await serving.asksTest("a", "And?");
    const { code, ended, stderr } = await serving.end();
    assert.deepEqual([code, ended.unused, ended.unopened], [0, [], ["b", "deep/er"]]);
    assert.deepEqual(ended.fixtures, [{ path: `${suite}/a`, seal: sealOf(`${suite}/a`), used: [1, 2] }]);
    assert.match(stderr, /^not opened: 2 recordings, b, deep\/er$/m);
  }
  {
    await using serving = await Serving.start(sandbox, "--strict-usage", suite, given);
    await serving.asksTest("a", "And?");
    const { code, ended } = await serving.end();
    assert.deepEqual([code, ended.unused], [7, [
      { fixture: given, number: 1 },
      { fixture: `${suite}/a`, number: 1 },
    ]]);
    assert.deepEqual(ended.unopened, ["b", "deep/er"]);
  }
  {
    await using serving = await Serving.start(sandbox, "--strict-usage", suite);
    await serving.asksTest("a", "Hi");
    await serving.asksTest("a", "And?");
    // Without a test, "a" answers first: the exchange counts once.
    await serving.ask("/v1/responses", "Hi");
    const { code, ended } = await serving.end();
    assert.deepEqual([code, ended.unused, ended.unopened], [0, [], ["b", "deep/er"]]);
    assert.deepEqual(
      ended.fixtures.map((
        { path, used }: { path: string; used: number[] },
      ) => [path.slice(suite.length), used]),
      [["/a", [1, 2]], ["/b", []], ["/deep/er", []]],
    );
  }
});

Deno.test("without a test, --strict-usage judges all fixtures below a folder, also if no request came", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b"]);
  for (const asks of [true, false]) {
    await using serving = await Serving.start(sandbox, "--strict-usage", suite);
    if (asks) await serving.ask("/v1/responses", "Hi");
    const { code, ended } = await serving.end();
    const names = ended.unused.map(({ fixture, number }: { fixture: string; number: number }) =>
      `${fixture.slice(suite.length + 1)} ${number}`
    );
    assert.deepEqual([code, names, ended.unopened], [7, [...asks ? [] : ["a 1"], "a 2", "b 1", "b 2"], []]);
  }
});

Deno.test("fixture prune removes what the events of a suite show to be unused, repeated plays included in the uses", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b", "c"]);
  await using serving = await Serving.start(sandbox, "--repeat", suite);
  for (const input of ["And?", "And?"]) await serving.asksTest("a", input);
  for (const input of ["Hi", "And?"]) await serving.asksTest("b", input);
  const { code } = await serving.end();
  assert.equal(code, 0);
  const pruned = await sandbox.call(["fixture", "prune", suite, "--events", `${sandbox.directory}/events`]);
  assert.equal(pruned.code, 0, pruned.stderr);
  const left = (test: string) =>
    [...Deno.readDirSync(`${suite}/${test}/exchanges`)].map(({ name }) => name).sort();
  assert.deepEqual([left("a"), left("b"), left("c")], [["0002"], ["0001", "0002"], ["0001", "0002"]]);
  await using again = await Serving.start(sandbox, "--strict-usage", suite);
  assert.equal((await again.asksTest("a", "And?")).body.answer, "a 2");
  assert.equal((await again.end()).code, 0);
});

Deno.test("the schema of serve names each event of a server and each member of serve.ended", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  await using serving = await Serving.start(sandbox, "--fault", "4: fail", "--match", "sequence", suite);
  for (const test of ["a", "a", "a", "A", "a"]) await serving.asksTest(test, "Hi");
  const { events, ended } = await serving.end();
  const schema = Deno.readTextFileSync(new URL("../../../docs/schemas/serve-event.json", import.meta.url));
  const named = new Set(
    [...schema.matchAll(/"const": "([a-z_.]+)"|"([a-z_]+)": \{/g)].map(([, type, member]) => type ?? member),
  );
  const types = new Set(events.map(({ type }) => type as string));
  assert.deepEqual([...types], [
    "ready",
    "played",
    "warning",
    "miss",
    "turned_away",
    "faulted",
    "serve.ended",
  ]);
  const members = Object.keys(ended).filter((name) => name !== "type" && name !== "exit_code");
  assert.deepEqual([...types, ...members].filter((name) => !named.has(name)), []);
});
