/** Use of the recordings of a suite: repeated, unused and unopened ones, and what `fixture prune` makes of it. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { bodyOf, exchange, sealOf, Serving, writeSuite } from "../serving.ts";

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
