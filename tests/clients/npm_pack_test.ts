/** `deno task pack` leaves tarballs that docs/recording.md installs, with the executable under test. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { outputOf, run } from "../../scripts/process.ts";
import { identityOf } from "../../scripts/pack/manifests.ts";
import { manifestOf, NpmRegistry } from "../support/npm_registry.ts";
import { blocksOf, sectionOf } from "../support/page.ts";
import { PROGRAM } from "../support/reprise.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";
import { MANAGERS, NpmProject, pack, PACKAGE, stubTarballs, writeStubs } from "./npm_project.ts";

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
function packs(name: string, test: (scratch: string) => Promise<void>): void {
  Deno.test({
    ...needing(name, LACKS_AGENTS),
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
      assert.deepEqual(dependencies, ["peerDependencies", "peerDependenciesMeta", "optionalDependencies"]);
      assert.deepEqual(manifest.peerDependenciesMeta, { vitest: { optional: true } });
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

packs("docs/recording.md installs the tarballs with each package manager", async (scratch) => {
  await packHost(`${scratch}/npm`);
  Deno.removeSync(`${scratch}/npm/binaries`, { recursive: true });
  Deno.mkdirSync(`${scratch}/empty`);
  await using registry = await NpmRegistry.start(`${scratch}/empty`);
  const blocks = blocksOf(sectionOf(PAGE, "Install from npm"));
  for (const manager of MANAGERS) {
    const { name } = manager;
    using project = await NpmProject.create(manager, registry.url);
    Deno.mkdirSync(`${project.root}/vendor`);
    await run("cp", ["-R", `${scratch}/npm`, `${project.root}/vendor/reprise`]);
    for (const { path, text } of blocks) if (path !== null && name === "pnpm") project.write(path, text);
    if (name.startsWith("yarn")) {
      const resolutions = blocks.find(({ language }) => language === "json")?.text
        .replace('"@', name === "yarn 1" ? '"**/@' : '"@');
      project.write("package.json", `{ "name": "project", ${resolutions} }`);
    }
    const commands = name === "npm"
      ? [/^npm install --save/, /^npm install --global/, /binaryPath/]
      : [new RegExp(`^${name.split(" ")[0]} add`)];
    for (const command of commands) {
      const { text = "exit 9" } = blocks.find(({ text }) => command.test(text)) ?? {};
      // A global installation reads no settings of the project.
      const env = { npm_config_registry: registry.url };
      const { code, stdout, stderr } = await project.run(["sh", "-e", "-c", text], { env });
      assert.equal(code, 0, `${name}: ${text}${stdout}${stderr}`);
      assert.match(stdout, new RegExp(`^${PACKAGE.version}$`, "m"), text);
    }
  }
});

Deno.test("the packages have the scoped name and the version of deno.json, and so has docs/recording.md", () => {
  for (const name of ["reprise", "@s", "@s/", "@s/r/x", undefined]) {
    assert.throws(() => identityOf(JSON.stringify({ name, version: "1.0.0" })), /no scoped name/);
  }
  assert.deepEqual([...new Set(PAGE.match(/@[a-z-]+\/reprise\b/g))], [PACKAGE.name]);
  assert.deepEqual([...new Set(PAGE.match(/\d+\.\d+\.\d+(?=\.tgz)/g))], [PACKAGE.version]);
});
