/** One recording for each test: paths that name tests, names that none may have, and what happens side by side. */
import { bytesBelow, type Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { answering, rawRequest, RawUpstream } from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import type { Recorder } from "./recorder.ts";
import { edit, exchangesOf, headerOf } from "./recording_files.ts";

/** An upstream that answers with the requested path. */
const echoing = () =>
  new RawUpstream(async (connection, request) => {
    await answering("200 OK\r\ncontent-type: text/plain", request.head.split(" ")[1])(connection, request);
  });

const LONGEST = "a".repeat(80);
/** Paths of requests, the test that each names, and the path that is recorded. */
const PATHS: readonly (readonly [path: string, test: string, recorded: string])[] = [
  ["/t/a/v1/responses", "a", "/v1/responses"],
  ["/t/a/v1/messages?beta=true", "a", "/v1/messages?beta=true"],
  ["/t/tests.unit.test-a/", "tests.unit.test-a", "/"],
  [`/t/${LONGEST}`, LONGEST, "/"],
  ["/t/a.//v1", "a.", "//v1"],
  // Another name in the path, or a query, changes nothing.
  ["/t/v1/t/other/v1", "v1", "/t/other/v1"],
  ["/t/t/v1?next=/t/other/../../x", "t", "/v1?next=/t/other/../../x"],
];

withHome("each test records into a fixture of its own, with paths without /t/NAME", async (home) => {
  await using upstream = echoing();
  await using recorder = await home.record(upstream.origin);
  for (const [path, , recorded] of PATHS) {
    const { head } = await heads(recorder, "POST", path);
    assert.match(head, /^HTTP\/1\.1 200 /, path);
    assert.ok(head.includes(`\r\n${recorded}\r\n`), head);
  }
  const { published, tests } = await recorder.end(0);
  assert.equal(published, PATHS.length);
  const names = [...new Set(PATHS.map(([, test]) => test))];
  assert.deepEqual(tests.map(({ test }: Json) => test), names);
  for (const name of names) {
    const paths = exchangesOf(`${recorder.out}/${name}`).map(({ request }) => request.path);
    assert.deepEqual(paths, PATHS.filter(([, test]) => test === name).map(([, , path]) => path));
    assert.deepEqual(namesIn(`${recorder.out}/${name}`), [".gitattributes", "exchanges", "fixture.json"]);
    assert.equal(headerOf(`${recorder.out}/${name}`).base_url.startsWith(upstream.origin), true);
  }
});

/** Sends the head of a request as it is. */
async function heads(recorder: Recorder, method: string, path: string): Promise<{ head: string }> {
  const { host } = new URL(recorder.origin);
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-length: 2`;
  return { head: await rawRequest(recorder.origin, `${head}\r\n\r\n{}`) };
}

const namesIn = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();

/** Names that no test may have. */
const HOSTILE = [
  ...".. . ... %2e%2e ..%2f..%2fx a..b a.. a\\..\\..\\b .git -a _a ~ a%00b a% %61".split(" "),
  ...`a+b a:b a* a@b a;b a%20b A aB test_One %C3%A4 ${LONGEST}a`.split(" "),
  ...["", "attachments", "exchanges", "tools", "start", "expect", ".recording"],
  ...["fixture.json", "session.json", "tools.json"],
];
/** Paths that lead to a test, or out of it, once they are resolved or decoded. */
const DETOURS = [
  ..."/t/a/../../x /t/a/../b/v1 /t/a/%2e%2e/b/v1 /t/a/.%2E/v1 /t/a/v1/../../b /t/a\\..\\b /t/a/..\\b".split(
    " ",
  ),
  ..."/%74/a/v1 /%74%2fa/v1 /t%2fa/v1 /t%5ca/v1 /%2ft/a/v1 //t/a/v1 ///t/a/v1 /\\t/a/v1 /t\\a\\v1".split(" "),
  ..."/x/../t/a /x/%2e./t/a /./t/a/v1 /../t/a/v1 /x/..\\t/a /.//t/a".split(" "),
];

withHome(
  "a hostile name is refused before any file is touched, and nothing is sent upstream",
  async (home) => {
    await using upstream = echoing();
    const touched: string[] = [];
    await using recorder = await home.record(upstream.origin, {
      disk: (files) =>
        Object.fromEntries(
          Object.entries(files).map(([name, act]) => [name, (...args: unknown[]) => {
            touched.push(`${name} ${args[0]}`);
            return (act as (...args: unknown[]) => unknown)(...args);
          }]),
        ) as never,
    });
    touched.length = 0;
    const refused = [...HOSTILE.map((name) => `/t/${name}/v1/responses`), ...DETOURS];
    for (const path of refused) {
      const { head } = await heads(recorder, "POST", path);
      // SDKs send refused requests again unless the answer says not to.
      const parts = [/^HTTP\/1\.1 400 /, /"code":"test_refused"/, /x-should-retry: false/i];
      for (const part of parts) assert.match(head, part, path);
    }
    assert.match((await heads(recorder, "POST", "/t/\u{e4}/v1")).head, /^HTTP\/1\.1 400 /);
    assert.deepEqual([touched, upstream.requests.length], [[], 0]);
    assert.deepEqual(recorder.events.filter(({ code }) => code === "test_refused").length, refused.length);
    // No name decided that the folder holds tests.
    assert.equal((await heads(recorder, "POST", "/v1/responses")).head.slice(9, 12), "200");
    const { published, tests } = await recorder.end(7);
    assert.deepEqual([published, tests], [1, undefined]);
  },
);

withHome("a name that is a link or a file in the folder is refused and never followed", async (home) => {
  await using upstream = echoing();
  await using recorder = await home.record(upstream.origin);
  await recorder.ask("/t/first/v1", {});
  Deno.mkdirSync(`${home.directory}/elsewhere`);
  Deno.symlinkSync(`${home.directory}/elsewhere`, `${recorder.out}/linked`);
  Deno.symlinkSync(`${home.directory}/missing`, `${recorder.out}/dangling`);
  Deno.writeTextFileSync(`${recorder.out}/file`, "mine");
  for (const [name, kind] of [["linked", "a link"], ["dangling", "a link"], ["file", "a file"]] as const) {
    for (let time = 0; time < 2; time++) {
      const { status, text } = await recorder.ask(`/t/${name}/v1/responses`, {});
      assert.equal(status, 400);
      assert.ok(text.includes(`Cannot record the test \\"${name}\\"`) && text.includes(`is ${kind}`), text);
    }
  }
  assert.equal((await recorder.ask("/t/plain/v1/responses", {})).status, 200, "other tests continue");
  const { tests } = await recorder.end(7);
  assert.deepEqual(tests.map(({ test }: { test: string }) => test), ["first", "plain"]);
  assert.deepEqual(namesIn(`${home.directory}/elsewhere`), []);
  assert.equal(Deno.readTextFileSync(`${recorder.out}/file`), "mine");
});

withHome(
  "a test that cannot be written fails alone: its clients get their answers, and the others are whole",
  async (home) => {
    await using upstream = echoing();
    await using recorder = await home.record(upstream.origin, {
      disk: (files) => ({
        ...files,
        rename(from, to) {
          if (to.includes("/b/exchanges/")) throw new Deno.errors.FilesystemLoop("no space");
          files.rename(from, to);
        },
      }),
    });
    for (const name of ["a", "b", "c", "b", "a"]) {
      assert.equal((await recorder.ask(`/t/${name}/v1`, {})).status, 200);
    }
    const { tests, notes } = await recorder.end(14);
    const counts = tests.map(({ test, published, dropped }: Json) => [test, published, dropped]);
    assert.deepEqual(counts, [["a", 2, 0], ["b", 0, 2], ["c", 1, 0]]);
    assert.match(notes, /request 1 of b, POST \/v1: it could not be written/);
    assert.deepEqual(["a", "c"].map((name) => exchangesOf(`${recorder.out}/${name}`).length), [2, 1]);
  },
);

withHome("at_ms of a test counts from its own first request", async (home) => {
  await using upstream = echoing();
  await using recorder = await home.record(upstream.origin);
  await recorder.ask("/t/early/v1", {});
  await new Promise((resolve) => setTimeout(resolve, 700));
  await recorder.ask("/t/late/v1", {});
  await recorder.end(0);
  assert.ok(exchangesOf(`${recorder.out}/late`)[0]?.request.at_ms < 500);
}, test.long);

withHome("HEAD of a base URL with a test is a connection check, and opens no recording", async (home) => {
  await using upstream = echoing();
  await using recorder = await home.record(upstream.origin);
  for (const path of ["/t/a", "/t/a/", "/t/a/v1", "/t/a/v1/"]) {
    await (await recorder.fetch(path, { method: "HEAD" })).text();
  }
  const skipped = recorder.events.filter(({ type }) => type === "skipped");
  assert.deepEqual(skipped.map(({ test, path }) => `${test} ${path}`), ["a /", "a /", "a /v1", "a /v1/"]);
  await recorder.end(0);
  assert.throws(() => Deno.statSync(recorder.out), Deno.errors.NotFound);
});

/** Most recordings that stay open after their requests. */
const MOST_IDLE = 32;
/** Changes of another program to the recording of a test between two requests, and whether it can continue. */
const CHANGES: Readonly<Record<string, readonly [change: (path: string) => void, status: number]>> = {
  "nothing": [() => {}, 200],
  "another fixture.json": [(path) => edit(`${path}/fixture.json`, (text) => `${text}\n`), 400],
  "no fixture.json": [(path) => Deno.removeSync(`${path}/fixture.json`), 400],
};

withHome(
  "a recording that another program changed since its last request is not continued; other tests are",
  async (home) => {
    await using upstream = echoing();
    await using recorder = await home.record(upstream.origin);
    const names = Object.keys(CHANGES).map((_, index) => `changed-${index}`);
    for (const name of names) assert.equal((await recorder.ask(`/t/${name}/v1`, {})).status, 200);
    // Closes the recordings that were used first.
    for (let count = 0; count < MOST_IDLE + 1; count++) await recorder.ask(`/t/other-${count}/v1`, {});
    for (const [index, [what, [change, status]]] of Object.entries(CHANGES).entries()) {
      const path = `${recorder.out}/changed-${index}`;
      change(path);
      const before = bytesBelow(path);
      const { status: found, text } = await recorder.ask(`/t/changed-${index}/v1`, {});
      assert.equal(found, status, `${what}: ${text}`);
      if (status === 200) continue;
      assert.match(text, /another program changed it since its last request/);
      assert.deepEqual(bytesBelow(path), before);
    }
    assert.equal((await recorder.ask("/t/other-0/v1", {})).status, 200);
    await recorder.end();
  },
  test.long,
);
