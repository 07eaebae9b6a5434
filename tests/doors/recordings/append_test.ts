/** `record --append` changes nothing in a folder that it refuses, and nothing in a fixture when it records nothing. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { lacksProgram, needing } from "../../support/needs.ts";
import { RecordingHome, withHome } from "./home.ts";
import { edit, write } from "./recording_files.ts";
import { exchangeOf, Served } from "./served.ts";
import { ask } from "./shapes.ts";

/** Kind, mode and content of everything below a folder. */
function snapshot(path: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (name: string) => {
    const at = `${path}${name}`;
    const { mode, isSymlink, isFile, isDirectory } = Deno.lstatSync(at);
    const content = isSymlink ? Deno.readLinkSync(at) : isFile ? Deno.readTextFileSync(at) : "";
    found.set(name, `${mode} ${content}`);
    if (isDirectory) { for (const inner of Deno.readDirSync(at)) visit(`${name}/${inner.name}`); }
  };
  visit("");
  return found;
}

const emptied = (path: string, name = "", content = "") => {
  Deno.removeSync(path, { recursive: true });
  if (name === "") Deno.mkdirSync(path);
  else write(`${path}/${name}`, content);
};
const linked = (name: string) => (path: string) => {
  Deno.renameSync(`${path}/${name}`, `${path}/../elsewhere`);
  Deno.symlinkSync(`../elsewhere`, `${path}/${name}`);
};
const edited = (name: string, from: string | RegExp, to: string) => (path: string) =>
  edit(`${path}/${name}`, (text) => text.replaceAll(new RegExp(from, "g"), to));
const written = (name: string) => (path: string) => write(`${path}/${name}`, "mine");

/** Damage of a fixture of two exchanges, or another folder, with the refusal. */
const CASES: Readonly<
  Record<string, readonly [damage: (path: string) => void, message: RegExp, code?: string]>
> = {
  "a changed answer": [
    edited("exchanges/0002/body", "{", "{ "),
    /0002\/body": its checksum differs from fixture\.json/,
  ],
  "line ends that Git converted": [
    edited("exchanges/0001/response.json", "\n", "\r\n"),
    /only its line ends have changed: they are CRLF now/,
  ],
  "a fixture.json that is a link": [linked("fixture.json"), /fixture\.json": it is a link/],
  "a later format": [
    edited("fixture.json", "fixture/1", "fixture/2"),
    /format reprise\.fixture\/2, and this version/,
    "format_too_new",
  ],
  "a session test": [written("session.json"), /it holds session\.json, so it is a session test/, "usage"],
  "exchanges of another program beside a staging folder": [
    (path) => {
      emptied(path, "exchanges/0001/thesis.txt");
      Deno.mkdirSync(`${path}/.recording`);
    },
    /it is not empty/,
    "usage",
  ],
  "a link to a fixture": [
    (path) => {
      Deno.renameSync(path, `${path}-elsewhere`);
      Deno.symlinkSync(`${path}-elsewhere`, path);
    },
    /it is a link/,
    "usage",
  ],
  "a staging folder that is a link": [(path) => {
    Deno.mkdirSync(`${path}/.recording`);
    linked(".recording")(path);
  }, /\.recording": it is a link, not a folder/],
  "a lock that is a link": [(path) => {
    written(".recording/lock")(path);
    Deno.renameSync(`${path}/.recording/lock`, `${path}/../elsewhere`);
    Deno.symlinkSync("../../elsewhere", `${path}/.recording/lock`);
  }, /\.recording\/lock": it is a symbolic link/],
};
const TWO = ["a", "b"].map((text) => exchangeOf(ask(text)));

async function refusal(home: RecordingHome, flags: readonly string[], out = "recorded") {
  const reason: string = await home.record("http://127.0.0.1:9/v1", { flags, out }).then(() => "", String);
  const { code, stdout } = JSON.parse(reason.slice(reason.indexOf("{")));
  return { exit: code, ...JSON.parse(stdout) };
}

for (const [what, [damage, message, code = "bad_fixture"]] of Object.entries(CASES)) {
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

withHome("a fixture with base URLs names its upstreams with their providers once it grows", async (home) => {
  const base_urls = { ACME_URL: "https://acme.example/api", ANTHROPIC_BASE_URL: "https://api.anthropic.com" };
  home.fixture("recorded", TWO, { base_urls });
  home.fixture("upstream", [exchangeOf(ask("Hi"))]);
  await using upstream = await Served.start(home, ["upstream"], { cwd: home.directory });
  const recorder = await home.record(upstream.origin, { flags: ["--append"] });
  await recorder.ask("/v1/responses", ask("Hi"));
  const { header } = await recorder.fixture();
  assert.deepEqual([header.base_urls, header.upstreams], [undefined, {
    ACME_URL: { base_url: "https://acme.example/api", provider: "compatible" },
    ANTHROPIC_BASE_URL: { base_url: "https://api.anthropic.com", provider: "anthropic" },
  }]);
});

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
      const flags = ["--match", "sequence"];
      await using upstream = await Served.start(home, ["upstream"], { cwd: home.directory, flags });
      const recorder = await home.record(upstream.origin);
      const instructions = "Current branch: shop\n\nStatus:\n?? a.txt\n";
      await recorder.ask("/v1/responses", { ...ask("Hi"), instructions });
      const { header: { context } } = await recorder.fixture();
      assert.throws(() => Deno.statSync(`${cwd}/started`), Deno.errors.NotFound);
      assert.equal(context?.git?.startsWith("## shop\n?? a.txt") ?? false, tells, JSON.stringify(context));
    },
  });
}
