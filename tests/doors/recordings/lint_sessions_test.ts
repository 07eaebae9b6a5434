/** Findings of `fixture lint` in session tests, and in files that are not part of a recording. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { answerEvents, ASKED, exchange } from "./answers.ts";
import { withHome } from "./home.ts";
import { edit, printed, seal, write } from "./recording_files.ts";

const WHOLE = exchange(ASKED, answerEvents("one"));

const turn = (open: string) => `${open}"sum":"${sha256(open)}"}\n`;

const edited = (name: string, from: string | RegExp, to: string) => (path: string) =>
  edit(`${path}/${name}`, (text) => text.replace(from, to));
const BAD_STEP = "error bad_session session.json";
const BAD_TOOLS = "error bad_tools tools.json";
const argument = (argument: string) =>
  printed({ format: "reprise.session_test/1", steps: [{ args: ["run", argument], exit: 0 }] });

/** Edits of a fixture that is a session test too, and the finding. */
const SESSIONS: Readonly<Record<string, readonly [(path: string) => void, ...string[]]>> = {
  "nothing": [() => {}],
  "steps that are no list": [edited("session.json", /"steps": \[[^]*\]/, '"steps": "x"'), BAD_STEP],
  "a step with another fixture": [edited("session.json", '"fixture": "."', '"fixture": "2"'), BAD_STEP],
  "an output that is not there": [(path) => Deno.removeSync(`${path}/tools/0001`), BAD_TOOLS],
  "an output outside of tools/": [edited("tools.json", "tools/0001", "../fixture.json"), BAD_TOOLS],
  "a turn with another sum": [
    edited("expect/s/turns/000001.json", '"turn":1', '"turn":2'),
    "error bad_turn expect/s/turns/000001.json",
  ],
  "an argument that is too long": [
    (path) => write(`${path}/session.json`, argument("é".repeat(65_536))),
    BAD_STEP,
  ],
};

for (const [name, [harm, ...found]] of Object.entries(SESSIONS)) {
  withHome(`lint finds in a session test whose sums fit: ${name}`, async (home) => {
    const path = home.fixture("f", [WHOLE]);
    const call = {
      call_id: "call_1",
      name: "read_file",
      status: "ok",
      output: "4",
      full: { file: "tools/0001" },
    };
    const steps = [{ args: ["run", "Hi"], fixture: ".", exit: 0 }];
    const files = {
      "session.json": printed({ format: "reprise.session_test/1", steps }),
      "tools.json": printed({ format: "reprise.tools/1", calls: [call] }),
      "tools/0001": "4 and more",
      "expect/s/turns/000001.json": turn('{"turn":1,'),
      "expect/s/blobs": "",
      "expect/NOTES.md": "Mine.",
    };
    for (const [file, content] of Object.entries(files)) write(`${path}/${file}`, content);
    harm(path);
    seal(path);
    assert.deepEqual((await home.findings("f")).map((line) => line.split(": ", 1)[0]), found);
  });
}

withHome(
  "lint looks over a session test whose fixtures lie below it, and finds it by its session.json",
  async (home) => {
    home.fixture("test/1", [WHOLE]);
    const PASSPHRASE = "correct horse battery";
    const steps = ["1", "1/x"].map((fixture) => ({ args: ["run", PASSPHRASE], fixture, exit: 0 }));
    home.file("test/session.json", printed({ format: "reprise.session_test/1", steps }));
    const { fixtures } = await home.json(["lint", "."], { codes: [7], env: { PASSPHRASE } });
    const counts = fixtures.map(({ path, exchanges, steps }: Json) => [path, exchanges, steps]);
    assert.deepEqual(counts, [["./test", 0, 2], ["./test/1", 1, null]]);
    assert.deepEqual(fixtures[0].findings.map(({ path, message }: Json) => `${path}: ${message}`), [
      `session.json: Cannot read the fixture file "./test/1/x/fixture.json": nothing is there, and steps[1] names it`,
      "session.json: it holds the value of PASSPHRASE, 2 times",
    ]);
  },
);

withHome("lint finds nothing in the project's own session tests", async (home) => {
  const own = new URL("../../sessions", import.meta.url).pathname;
  const { fixtures } = await home.json(["lint", own]);
  assert.ok(fixtures.length > 85, `${fixtures.length} folders`);
  const findings = fixtures.flatMap(({ findings }: Json) => findings);
  assert.deepEqual(findings.filter(({ severity }: Json) => severity !== "info"), []);
}, test.long);

withHome(
  "a fixture is whole with .gitattributes and without, and where fixture.json lists it",
  async (home) => {
    const path = home.fixture("f", [WHOLE]);
    for (const content of ["* -text\n", "edited\n"]) {
      write(`${path}/.gitattributes`, content);
      assert.deepEqual(await home.findings("f"), []);
    }
    edit(
      `${path}/fixture.json`,
      (text) => text.replace('"files": {', `"files": { ".gitattributes": "${sha256("x")}",`),
    );
    assert.deepEqual(await home.findings("f"), []);
    assert.deepEqual((await home.json(["seal", "f"])).changed, []);
  },
);

Deno.test("docs/fixtures.md names each member of the files of a fixture", () => {
  const docs = new URL("../../../docs/", import.meta.url);
  const page = Deno.readTextFileSync(new URL("fixtures.md", docs));
  const named = new Set([...page.matchAll(/[`"](\w+)[`"]/g)].map(([, name]) => name));
  const unnamed: string[] = [];
  JSON.parse(Deno.readTextFileSync(new URL("fixture.schema.json", docs)), (key, value) => {
    if (key === "properties") unnamed.push(...Object.keys(value).filter((name) => !named.has(name)));
    return value;
  });
  assert.deepEqual(unnamed, []);
});
