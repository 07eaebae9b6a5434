/** Files that `--port-file` replaces and removes: port files of servers, and nothing else. */
import assert from "node:assert/strict";
import { livePorts } from "../../src/cli/live_ports.ts";
import { PortFile } from "../../src/cli/serve/server_process.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";
import { assertError } from "./harness.ts";

const PORTS = livePorts();

function within(test: (directory: string) => void): void {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-test-" });
  try {
    test(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

function namesIn(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

for (const [what, content] of [["left by a killed server", "40123\n"], ["that is empty", ""]] as const) {
  Deno.test(`a port file ${what} is replaced, and removed at the end`, () =>
    within((directory) => {
      const path = `${directory}/port`;
      Deno.writeTextFileSync(path, content);
      const written = new PortFile(PORTS, path).write(8080);
      assert.equal(Deno.readTextFileSync(path), "8080\n");
      assert.deepEqual(namesIn(directory), ["port"]);
      written[Symbol.dispose]();
      assert.deepEqual(namesIn(directory), []);
    }));
}

Deno.test("a file of the user's beside the port file is not touched, whatever its name", () =>
  within((directory) => {
    Deno.writeTextFileSync(`${directory}/port.new`, "mine");
    new PortFile(PORTS, `${directory}/port`).write(8080)[Symbol.dispose]();
    assert.equal(Deno.readTextFileSync(`${directory}/port.new`), "mine");
  }));

Deno.test("a file that has taken the port file's name is not removed at the end", () =>
  within((directory) => {
    const path = `${directory}/port`;
    const first = new PortFile(PORTS, path).write(8080);
    const second = new PortFile(PORTS, path).write(9090);
    first[Symbol.dispose]();
    assert.equal(Deno.readTextFileSync(path), "9090\n");
    Deno.writeTextFileSync(`${directory}/other`, "mine");
    Deno.renameSync(`${directory}/other`, path);
    second[Symbol.dispose]();
    assert.equal(Deno.readTextFileSync(path), "mine");
  }));

Deno.test("a file that is written after the check is not replaced", () =>
  within((directory) => {
    const path = `${directory}/port`;
    const file = new PortFile(PORTS, path);
    Deno.writeTextFileSync(path, "mine");
    assert.throws(() => file.write(8080), { code: "usage" });
    assert.deepEqual([Deno.readTextFileSync(path), namesIn(directory)], ["mine", ["port"]]);
  }));

/** Things that `--port-file` may name by mistake, each with the reason why it is refused. */
const FOREIGN: Readonly<Record<string, readonly [make: (path: string) => void, why: RegExp]>> = {
  "a FIFO": [(path) => new Deno.Command("mkfifo", { args: [path] }).outputSync(), /it is no regular file/],
  "a link": [(path) => Deno.symlinkSync("/dev/null", path), /it is no regular file/],
  "a folder": [(path) => Deno.mkdirSync(path), /it is no regular file/],
  "a user's file": [(path) => Deno.writeTextFileSync(path, "notes\n"), /holds something other than a port/],
  "digits and more": [
    (path) => Deno.writeTextFileSync(path, "80\n81\n"),
    /holds something other than a port/,
  ],
};

for (
  const [name, fn] of Object.entries(Object.fromEntries(
    Object.entries(FOREIGN).flatMap(([what, [make, why]]) =>
      (["record", "serve"] as const).map((verb) => [`${verb}: ${what}`, async () => {
        await using sandbox = new Sandbox();
        const { directory } = sandbox;
        const path = `${directory}/port`;
        make(path);
        const before = Deno.lstatSync(path);
        const own = verb === "serve"
          ? ["serve", writeFixture(`${directory}/chat`, [{ body: "{}" }])]
          : ["record", "--upstream", "http://127.0.0.1:9", "--out", `${directory}/out`];
        const called = await sandbox.call([
          ...own,
          "--json",
          "--port-file",
          path,
          "--",
          Deno.execPath(),
          "--version",
        ]);
        assertError(called, { code: "usage", exit: 2, says: why });
        const { ino, size } = Deno.lstatSync(path);
        assert.deepEqual([ino, size], [before.ino, before.size]);
        assert.throws(() => Deno.statSync(`${directory}/out`), Deno.errors.NotFound);
      }])
    ),
  ))
) {
  Deno.test(
    `record and serve refuse a --port-file that is no port file, before they do anything: ${name}`,
    fn,
  );
}
