/** `record --append` changes nothing in a folder that it refuses, and nothing in a fixture when it records nothing. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { lacksProgram, needing } from "../../support/needs.ts";
import { RecordingHome, withHome } from "./home.ts";
import { edit, write } from "./recording_files.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { ask } from "./shapes.ts";

/** Kind, mode and content of everything below a folder. */
function snapshot(path: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (name: string) => {
    const info = Deno.lstatSync(`${path}${name}`);
    const mode = `${(info.mode ?? 0).toString(8)} `;
    if (info.isSymlink) found.set(name, mode + Deno.readLinkSync(`${path}${name}`));
    else if (info.isFile) found.set(name, mode + Deno.readTextFileSync(`${path}${name}`));
    else {
      found.set(name, mode);
      if (info.isDirectory) {
        for (const inner of Deno.readDirSync(`${path}${name}`)) visit(`${name}/${inner.name}`);
      }
    }
  };
  visit("");
  return found;
}

const emptied = (path: string) => {
  Deno.removeSync(path, { recursive: true });
  Deno.mkdirSync(path);
};
const linked = (path: string, name: string) => {
  Deno.renameSync(`${path}/${name}`, `${path}/../elsewhere`);
  Deno.symlinkSync(`../elsewhere`, `${path}/${name}`);
};

/** Damage of a fixture of two exchanges, or another folder, with the refusal. */
const CASES: Readonly<
  Record<string, readonly [damage: (path: string) => void, code: string, message: RegExp]>
> = {
  "a changed answer": [
    (path) => edit(`${path}/exchanges/0002/body`, (text) => `${text}\n`),
    "bad_fixture",
    /0002\/body": its checksum differs from fixture\.json/,
  ],
  "a changed request": [
    (path) => edit(`${path}/exchanges/0001/request.json`, (text) => text.replace("gpt-5.6", "z")),
    "bad_fixture",
    /0001\/request\.json": its checksum differs/,
  ],
  "a removed answer": [
    (path) => Deno.removeSync(`${path}/exchanges/0002/body`),
    "bad_fixture",
    /0002\/body": nothing is there/,
  ],
  "a removed exchange": [
    (path) => Deno.removeSync(`${path}/exchanges/0001`, { recursive: true }),
    "bad_fixture",
    /0001\/request\.json": nothing is there/,
  ],
  "an added file": [
    (path) => write(`${path}/notes.txt`, "mine"),
    "bad_fixture",
    /notes\.txt": fixture\.json does not list it/,
  ],
  "an added exchange": [
    (path) => {
      for (const name of ["request.json", "response.json", "body"]) {
        write(`${path}/exchanges/0003/${name}`, Deno.readTextFileSync(`${path}/exchanges/0001/${name}`));
      }
    },
    "bad_fixture",
    /0003\/body": fixture\.json does not list it/,
  ],
  "line ends that Git converted": [
    (path) => edit(`${path}/exchanges/0001/response.json`, (text) => text.replaceAll("\n", "\r\n")),
    "bad_fixture",
    /only its line ends have changed: they are CRLF now/,
  ],
  "a broken fixture.json": [
    (path) => edit(`${path}/fixture.json`, (text) => text.slice(0, 40)),
    "bad_fixture",
    /fixture\.json": it is not JSON/,
  ],
  "a fixture.json that is a link": [
    (path) => linked(path, "fixture.json"),
    "bad_fixture",
    /fixture\.json": it is a link/,
  ],
  "a later format": [
    (path) => edit(`${path}/fixture.json`, (text) => text.replace("fixture/1", "fixture/2")),
    "format_too_new",
    /format reprise\.fixture\/2, and this version/,
  ],
  "exchanges that are a link": [
    (path) => linked(path, "exchanges"),
    "bad_fixture",
    /exchanges": it is a link/,
  ],
  "a session test": [
    (path) => write(`${path}/session.json`, "{}"),
    "usage",
    /it holds session\.json, so it is a session test/,
  ],
  "a session test that was not recorded yet": [
    (path) => {
      emptied(path);
      write(`${path}/session.json`, "{}");
    },
    "usage",
    /it holds session\.json, so it is a session test/,
  ],
  "other content": [
    (path) => {
      emptied(path);
      write(`${path}/notes.txt`, "mine");
    },
    "usage",
    /it is not empty/,
  ],
  "exchanges of another program beside a staging folder": [
    (path) => {
      emptied(path);
      Deno.mkdirSync(`${path}/.recording`);
      write(`${path}/exchanges/0001/thesis.txt`, "mine");
    },
    "usage",
    /it is not empty/,
  ],
  "a file": [
    (path) => {
      Deno.removeSync(path, { recursive: true });
      write(path, "mine");
    },
    "usage",
    /it is a file/,
  ],
  "a link to a fixture": [
    (path) => {
      Deno.renameSync(path, `${path}-elsewhere`);
      Deno.symlinkSync(`${path}-elsewhere`, path);
    },
    "usage",
    /it is a link/,
  ],
  "a staging folder that is a link": [
    (path) => {
      Deno.mkdirSync(`${path}/../elsewhere`);
      Deno.symlinkSync("../elsewhere", `${path}/.recording`);
    },
    "bad_fixture",
    /\.recording": it is a link, not a folder/,
  ],
  "a staging folder that is a file": [
    (path) => write(`${path}/.recording`, "mine"),
    "bad_fixture",
    /\.recording": it is a file, not a folder/,
  ],
  "a lock that is a link": [
    (path) => {
      write(`${path}/../elsewhere`, "mine");
      Deno.mkdirSync(`${path}/.recording`);
      Deno.symlinkSync("../../elsewhere", `${path}/.recording/lock`);
    },
    "bad_fixture",
    /\.recording\/lock": it is a symbolic link/,
  ],
  "a lock that is a folder": [
    (path) => Deno.mkdirSync(`${path}/.recording/lock`, { recursive: true }),
    "bad_fixture",
    /\.recording\/lock": it is a directory/,
  ],
};
const TWO = ["a", "b"].map((text) => exchangeOf(ask(text)));

/** The error of a recording that does not start. */
async function refusal(home: RecordingHome, flags: readonly string[], out = "recorded") {
  const reason: string = await home.record("http://127.0.0.1:9/v1", { flags, out }).then(() => "", String);
  const { code, stdout } = JSON.parse(reason.slice(reason.indexOf("{")));
  return { exit: code, ...JSON.parse(stdout) };
}

for (const [what, [damage, code, message]] of Object.entries(CASES)) {
  withHome(`record --append refuses ${what} and changes nothing`, async (home) => {
    damage(home.fixture("fixtures/recorded", TWO));
    const before = snapshot(`${home.directory}/fixtures`);
    const error = await refusal(home, ["--append"], "fixtures/recorded");
    assert.deepEqual([error.exit, error.code], [2, code]);
    assert.match(error.message, message);
    assert.ok(error.hint.length > 0);
    assert.deepEqual(snapshot(`${home.directory}/fixtures`), before);
  });
}

withHome(
  "record without --append takes no folder with something in it, not even what a killed recorder left",
  async (home) => {
    const path = home.fixture("recorded", TWO);
    const before = snapshot(path);
    assert.equal((await refusal(home, [])).code, "usage");
    assert.deepEqual(snapshot(path), before);
    emptied(path);
    Deno.mkdirSync(`${path}/.recording`);
    const error = await refusal(home, []);
    assert.match(`${error.message}\n${error.hint}`, /it is not empty[^]*--append/);
    assert.deepEqual([...snapshot(path).keys()], ["", "/.recording"]);
  },
);

withHome(
  "a recording without an exchange, or whose exchanges are all dropped, leaves every byte as another program wrote it",
  async (home) => {
    const path = home.fixture("recorded", TWO);
    edit(`${path}/fixture.json`, (text) => JSON.stringify({ note: "edited", ...JSON.parse(text) }));
    const before = snapshot(path);
    home.fixture("upstream", [
      exchangeOf(sent(ask("cut"), { answer: "event: x\ndata: {}\n\n", response: { ended: "cut" } })),
    ]);
    await using upstream = await Served.start(home, ["upstream"], { cwd: home.directory });
    for (const flags of [[], ["--not-secret", "SOME_KEY"], ["--normalize", "date"]]) {
      const recorder = await home.record(upstream.origin, { flags: ["--append", ...flags] });
      if (flags[0] === "--normalize") await recorder.ask("/v1/responses", ask("cut")).catch(() => {});
      await recorder.end(0, 7);
      assert.deepEqual(snapshot(path), before, flags.join(" "));
    }
  },
);

/** A signed commit, whose signature only a program can judge. */
const SIGNED = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
author Ada <ada@example.com> 1795000000 +0000
committer Ada <ada@example.com> 1795000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 
 AAAA
 -----END PGP SIGNATURE-----

Begin
`;
/** Settings of a repository that name a program, with what Git tells of the repository: its state, or nothing. */
const SETTINGS: readonly (readonly [settings: Readonly<Record<string, string>>, tells: boolean])[] = [
  [{}, true],
  [{ "log.showSignature": "true", "gpg.program": "touch started", "core.pager": "touch started" }, true],
  [{ "core.fsmonitor": "touch started" }, false],
  [{ "filter.x.clean": "touch started" }, false],
  [
    { "remote.x.url": "ext::touch started", "remote.x.promisor": "true", "protocol.ext.allow": "always" },
    false,
  ],
];
for (const [index, [settings, tells]] of SETTINGS.entries()) {
  test.long({
    ...needing(
      `record keeps the state of a repository, and starts no program that it names: ${index + 1}`,
      lacksProgram("git"),
    ),
    async fn() {
      await using home = new RecordingHome();
      const cwd = home.workspace;
      const git = async (...args: string[]) => {
        const { success, stdout } = await new Deno.Command("git", { args, cwd }).output();
        assert.ok(success, args.join(" "));
        return new TextDecoder().decode(stdout).trim();
      };
      await git("init", "-q", "-b", "shop");
      write(`${cwd}/.git/signed`, SIGNED);
      await git("hash-object", "-w", "-t", "tree", "/dev/null");
      await git("update-ref", "HEAD", await git("hash-object", "-w", "-t", "commit", ".git/signed"));
      for (const [key, value] of Object.entries(settings)) await git("config", key, value);
      write(`${cwd}/a.txt`, "a\n");
      home.fixture("upstream", [exchangeOf(ask("Hi"))]);
      await using upstream = await Served.start(home, ["upstream"], {
        cwd: home.directory,
        flags: ["--match", "sequence"],
      });
      const recorder = await home.record(upstream.origin);
      await recorder.ask("/v1/responses", {
        ...ask("Hi"),
        instructions: "Current branch: shop\n\nStatus:\n?? a.txt\n",
      });
      const { header } = await recorder.fixture();
      assert.throws(() => Deno.statSync(`${cwd}/started`), Deno.errors.NotFound);
      assert.equal(
        header.context?.git?.startsWith("## shop\n?? a.txt") ?? false,
        tells,
        JSON.stringify(header.context),
      );
    },
  });
}
