/** Findings of `fixture lint` in session tests, and in files that are not part of a recording. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { answerEvents, ASKED, exchange } from "./answers.ts";
import { withHome } from "./home.ts";
import { edit, printed, seal, write } from "./recording_files.ts";

const WHOLE = exchange(ASKED, answerEvents("one"));

/** A line of a turn file with its own sum. */
const turn = (open: string) => `${open}"sum":"${sha256(open)}"}\n`;

/** Edits of a fixture that is a session test too, and the finding. */
const SESSIONS: Readonly<Record<string, readonly [(path: string) => void, ...string[]]>> = {
  "nothing": [() => {}],
  "steps that are no list": [
    (path) => edit(`${path}/session.json`, (text) => text.replace(/"steps": \[[^]*\]/, '"steps": "x"')),
    "error bad_session session.json",
  ],
  "a step with another fixture": [
    (path) => edit(`${path}/session.json`, (text) => text.replace('"fixture": "."', '"fixture": "2"')),
    "error bad_session session.json",
  ],
  "an output that is not there": [
    (path) => Deno.removeSync(`${path}/tools/0001`),
    "error bad_tools tools.json",
  ],
  "a call without output": [
    (path) => edit(`${path}/tools.json`, (text) => text.replace('"output": "4",', "")),
    "error bad_tools tools.json",
  ],
  "an output outside of tools/": [
    (path) => edit(`${path}/tools.json`, (text) => text.replace("tools/0001", "../fixture.json")),
    "error bad_tools tools.json",
  ],
  "another format of tools": [
    (path) => edit(`${path}/tools.json`, (text) => text.replace("reprise.tools/1", "tools/1")),
    "error bad_tools tools.json",
  ],
  "a turn with another sum": [
    (path) => edit(`${path}/expect/s/turns/000001.json`, (text) => text.replace('"turn":1', '"turn":2')),
    "error bad_turn expect/s/turns/000001.json",
  ],
  ...Object.fromEntries(["é".repeat(65_536), "caf\0 nul"].map((argument) => [
    `an argument that no process takes: ${argument.slice(-5)}`,
    [
      (path: string) =>
        write(
          `${path}/session.json`,
          printed({ format: "reprise.session_test/1", steps: [{ args: ["run", argument], exit: 0 }] }),
        ),
      "error bad_session session.json",
    ] as const,
  ])),
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
    const files = {
      "session.json": printed({
        format: "reprise.session_test/1",
        steps: [{ args: ["run", "Hi"], fixture: ".", exit: 0 }],
      }),
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
    const steps = ["1", "1/x"].map((fixture) => ({
      args: ["run", "correct horse battery"],
      fixture,
      exit: 0,
    }));
    home.file("test/session.json", printed({ format: "reprise.session_test/1", steps }));
    const { fixtures } = await home.json(["lint", "."], {
      codes: [7],
      env: { PASSPHRASE: "correct horse battery" },
    });
    assert.deepEqual(fixtures.map(({ path, exchanges, steps }: Json) => [path, exchanges, steps]), [
      ["./test", 0, 2],
      ["./test/1", 1, null],
    ]);
    assert.deepEqual(fixtures[0].findings.map(({ path, message }: Json) => [path, message]), [
      [
        "session.json",
        `Cannot read the fixture file "./test/1/x/fixture.json": nothing is there, and steps[1] names it`,
      ],
      ["session.json", "it holds the value of PASSPHRASE, 2 times"],
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
