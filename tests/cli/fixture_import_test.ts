/** `reprise fixture import` of folders; tests/doors/recordings has the formats. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { cassette, STREAM } from "../doors/recordings/importing.ts";
import { foldersIn, write } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import { Sandbox } from "../support/reprise.ts";
import { assertError } from "./harness.ts";

const KEY = "canary-of-another-form";

/** A cassette whose requests have a key, with one exchange at each URL. */
function recorded(body = STREAM, ...uris: readonly string[]): string {
  const headers = { "content-type": ["text/event-stream"], authorization: [`Bearer ${KEY}`] };
  return cassette(...(uris.length === 0 ? ["https://api.openai.com/v1/responses"] : uris).map((uri) => ({
    request: { uri, headers, body: `{"model":"gpt-5.6","input":"${KEY}"}` },
    response: { headers, body: { string: body } },
  })));
}

/** Files of a folder, with the fixtures that they become or the reason why they are refused. */
const FILES: Readonly<Record<string, readonly [content: string, ...becomes: readonly (string | RegExp)[]]>> =
  {
    "chat.yaml": [recorded(), "chat-3"],
    "chat.sse": [STREAM, "chat-2"],
    "sub/test_it[1].yml": [recorded(), "sub/test_it-1"],
    "sub/-dots-.sse": [STREAM, "sub/dots"],
    "chat/two hosts.yaml": [
      recorded(STREAM, ...["openai", "example"].map((host) => `https://api.${host}.com/v1/responses`)),
      ...["chat/two-hosts/api.example.com", "chat/two-hosts/api.openai.com"],
    ],
    "broken.har": ['{"log":', /line 1 is not JSON$/],
    "cut.yaml": [recorded(STREAM.slice(0, -20)), /the stream of exchange 1 has no terminal event$/],
    "host.yaml": [
      recorded(STREAM, "<BASE>/responses"),
      /has a placeholder for the server: "<BASE>\/responses"$/,
    ],
    "huge.sse": [STREAM, /it has more than 268435456 bytes$/],
    "link.yaml": ["", /it is a link$/],
    "stubs.json": ['{"mappings":[]}', /it is of WireMock: /],
    // No recordings.
    "README.md": ["Recordings."],
    "handlers.ts": [""],
    ".hidden/a.yaml": [recorded()],
  };

/** Folders of fixtures below a directory. */
function fixturesIn(root: string, prefix = ""): string[] {
  return [...Deno.readDirSync(`${root}/${prefix}`)].flatMap(({ name, isDirectory }) => {
    if (name === "fixture.json") return [prefix.slice(0, -1)];
    return isDirectory ? fixturesIn(root, `${prefix}${name}/`) : [];
  }).sort();
}

test("a folder of recordings becomes one fixture each, and those that are refused are named: exit 2", async () => {
  await using sandbox = new Sandbox();
  const { workspace } = sandbox;
  for (const [name, [content]] of Object.entries(FILES)) write(`${workspace}/from/${name}`, content);
  Deno.truncateSync(`${workspace}/from/huge.sse`, 256 * 1024 * 1024 + 1);
  Deno.renameSync(`${workspace}/from/link.yaml`, `${workspace}/outside.yaml`);
  Deno.symlinkSync(`${workspace}/outside.yaml`, `${workspace}/from/link.yaml`);
  Deno.symlinkSync(`${workspace}/from`, `${workspace}/from/loop`);
  const call = (...args: string[]) => sandbox.call(["fixture", "import", "from/", ...args]);

  const tried = await call("to", "--dry-run", "--json");
  assert.deepEqual([tried.code, JSON.parse(tried.stdout).changes.length], [2, 6]);
  assert.throws(() => Deno.statSync(`${workspace}/to`), Deno.errors.NotFound);
  const told = await call("to");
  assert.equal(told.code, 2);
  assert.match(told.stderr, /imported 5 recordings \(6 exchanges\), refused 6, ignored 3 other files$/m);
  assert.match(told.stdout, /^to\/sub\/test_it-1: openai at https:\/\/api\.openai\.com\/v1, 1 exchange of /m);
  assert.match(told.stdout, /^refused: Cannot import "cut\.yaml": the stream /m);
  assert.match(told.stderr, /--keep-cut/);
  const folders = Object.values(FILES).flatMap(([, ...becomes]) =>
    becomes.filter((each) => typeof each === "string")
  );
  assert.deepEqual(fixturesIn(`${workspace}/to`), folders.sort());
  for (const folder of folders) {
    const [exchange] = foldersIn(`${workspace}/to/${folder}`);
    for (const file of ["fixture.json", `${exchange}/request.json`, `${exchange}/body`]) {
      assert.ok(!Deno.readTextFileSync(`${workspace}/to/${folder}/${file}`).includes(KEY), folder);
    }
  }

  const more = ["--keep-cut", "--upstream", "https://api.example.com/v1"];
  const { imported, refused, ignored } = JSON.parse((await call("again", "--json", ...more)).stdout);
  assert.deepEqual([imported.length, ignored], [7, 3]);
  const left = ["broken.har", "huge.sse", "link.yaml", "stubs.json"];
  assert.deepEqual(refused.map(({ file }: Json) => file), left.map((file) => `from/${file}`));
  for (const [index, { code, message }] of refused.entries()) {
    assert.equal(code, "bad_import");
    assert.match(message, FILES[left[index] ?? ""]?.[1] as RegExp);
  }
});

test("a folder in which every recording is imported ends with 0, and one without recordings with 2", async () => {
  await using sandbox = new Sandbox();
  Deno.mkdirSync(`${sandbox.workspace}/from/sub`, { recursive: true });
  const call = () => sandbox.call(["fixture", "import", "from", "to", "--json"]);
  assertError(await call(), { code: "usage", exit: 2, says: /it holds no recording/ });
  write(`${sandbox.workspace}/from/sub/a.sse`, STREAM);
  assert.equal((await call()).code, 0);
  assertError(await call(), { code: "usage", exit: 2, says: /it is not empty/ });
});
