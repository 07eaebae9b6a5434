/** `reprise fixture import` of files and folders, as a user calls it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../support/reprise.ts";
import { assertError } from "./harness.ts";

const STREAM = 'event: response.created\ndata: {"type":"response.created"}\n\n' +
  'event: response.completed\ndata: {"type":"response.completed"}\n\n';
const KEY = "canary-of-another-form";

/** A cassette whose request has a key. */
function cassette(uri = "https://api.openai.com/v1/responses", body = STREAM): string {
  const headers = { "content-type": ["text/event-stream"], authorization: [`Bearer ${KEY}`] };
  const request = { method: "POST", uri, headers, body: `{"model":"gpt-5.6","input":"${KEY}"}` };
  return JSON.stringify({
    interactions: [{ request, response: { status: { code: 200 }, headers, body: { string: body } } }],
    version: 1,
  });
}

/** Files of a folder: most are recordings. */
const FILES: Readonly<Record<string, string>> = {
  "chat.yaml": cassette(),
  "chat.json": cassette(),
  "sub/test_it[1].yml": cassette(),
  "sub/-dots-.sse": STREAM,
  "chat/two hosts.json": cassette().replace(
    /"interactions":\[(.*)\],"version"/,
    (_, one: string) =>
      `"interactions":[${one},${one.replaceAll("api.openai.com", "api.example.com")}],"version"`,
  ),
  "cut.yaml": cassette(undefined, STREAM.slice(0, -20)),
  "host.yaml": cassette("<BASE>/responses"),
  "broken.har": '{"log":',
  "stubs.json": '{"mappings":[]}',
  "README.md": "Recordings.",
  "handlers.ts": "",
  ".hidden/a.yaml": cassette(),
};

function written(sandbox: Sandbox): void {
  for (const [name, content] of Object.entries(FILES)) {
    const path = `${sandbox.directory}/from/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, content);
  }
  Deno.writeTextFileSync(`${sandbox.directory}/outside.yaml`, cassette());
  Deno.symlinkSync(`${sandbox.directory}/outside.yaml`, `${sandbox.directory}/from/link.yaml`);
  Deno.symlinkSync(`${sandbox.directory}/from`, `${sandbox.directory}/from/loop`);
  Deno.writeTextFileSync(`${sandbox.directory}/from/huge.sse`, STREAM);
  Deno.truncateSync(`${sandbox.directory}/from/huge.sse`, 256 * 1024 * 1024 + 1);
}

/** Folders of fixtures below a directory. */
function fixturesIn(root: string, prefix = ""): string[] {
  return [...Deno.readDirSync(`${root}/${prefix}`)].flatMap(({ name, isDirectory }) => {
    if (name === "fixture.json") return [prefix.slice(0, -1)];
    return isDirectory ? fixturesIn(root, `${prefix}${name}/`) : [];
  }).sort();
}

/** The place of each recording of the folder, and the reasons for the others. */
const IMPORTED = ["chat-2", "chat-3", "chat/two-hosts/api.example.com", "chat/two-hosts/api.openai.com"]
  .concat(["sub/dots", "sub/test_it-1"]);
const REFUSED: Readonly<Record<string, RegExp>> = {
  "broken.har": /line 1 is not JSON$/,
  "cut.yaml": /the stream of exchange 1 has no terminal event$/,
  "host.yaml": /has a placeholder for the server: "<BASE>\/responses"$/,
  "huge.sse": /it has more than 268435456 bytes$/,
  "link.yaml": /it is a link$/,
  "stubs.json": /it is of WireMock: /,
};

test("a folder of recordings becomes one fixture each, and those that are refused are named: exit 2", async () => {
  await using sandbox = new Sandbox();
  written(sandbox);
  const call = (...args: string[]) =>
    sandbox.call(["fixture", "import", "from/", ...args], { cwd: sandbox.directory });
  const tried = await call("to", "--dry-run", "--json");
  assert.deepEqual([tried.code, JSON.parse(tried.stdout).changes.length], [2, 6]);
  assert.throws(() => Deno.statSync(`${sandbox.directory}/to`), Deno.errors.NotFound);

  const told = await call("to");
  assert.equal(told.code, 2);
  assert.match(told.stderr, /imported 5 recordings \(6 exchanges\), refused 6, ignored 3 other files$/m);
  assert.match(
    told.stdout,
    /^to\/sub\/test_it-1: openai at https:\/\/api\.openai\.com\/v1, 1 exchange of from\/sub\//m,
  );
  assert.match(told.stdout, /^refused: Cannot import "cut\.yaml": the stream /m);
  assert.match(told.stderr, /--keep-cut/);
  assert.deepEqual(fixturesIn(`${sandbox.directory}/to`), IMPORTED);
  for (const folder of IMPORTED) {
    for (const file of ["fixture.json", "exchanges/0001/request.json", "exchanges/0001/body"]) {
      assert(!Deno.readTextFileSync(`${sandbox.directory}/to/${folder}/${file}`).includes(KEY), folder);
    }
  }

  const { code, stdout } = await call(
    "again",
    "--json",
    "--keep-cut",
    "--upstream",
    "https://api.example.com/v1",
  );
  const { imported, refused, exit_code, ignored } = JSON.parse(stdout);
  assert.deepEqual([code, exit_code, ignored], [2, 2, 3]);
  assert.equal(imported.length, 7);
  const { "cut.yaml": _cut, "host.yaml": _host, ...left } = REFUSED;
  assert.deepEqual(
    refused.map(({ file }: { file: string }) => file),
    Object.keys(left).map((file) => `from/${file}`),
  );
  for (const { file, code, message } of refused) {
    assert.equal(code, "bad_import");
    assert.match(message, REFUSED[file.slice("from/".length)] ?? assert.fail(file));
  }
});

test("a folder in which every recording is imported ends with 0, and one without recordings with 2", async () => {
  await using sandbox = new Sandbox();
  Deno.mkdirSync(`${sandbox.directory}/from/sub`, { recursive: true });
  const call = (to: string) =>
    sandbox.call(["fixture", "import", "from", to, "--json"], { cwd: sandbox.directory });
  assertError(await call("to"), { code: "usage", exit: 2, says: /it holds no recording/ });
  Deno.writeTextFileSync(`${sandbox.directory}/from/sub/a.sse`, STREAM);
  assert.equal((await call("to")).code, 0);
  assertError(await call("to"), { code: "usage", exit: 2, says: /it is not empty/ });
});
