/** The npm packages install with each package manager, without a script, and start the executable. */
import assert from "node:assert/strict";
import { NpmRegistry } from "../support/npm_registry.ts";
import { MANAGERS, NAME, NPM, NpmProject, PACKAGE, SCOPE, stubTarballs, toolModules } from "./npm_project.ts";
import { NOT_HERE, RUNS_AGENTS } from "./npm_packages.ts";

const HERE = `${PACKAGE.name}-linux-x64`;

/** Defines a test that runs where stub executables start. */
function installs(name: string, test: () => Promise<void>): void {
  Deno.test({ name: `${name}${NOT_HERE}`, ignore: !RUNS_AGENTS, fn: test });
}

for (const manager of MANAGERS) {
  installs(
    `${manager.name} installs the launcher and the package of this platform only, and starts it`,
    async () => {
      await using registry = await NpmRegistry.start(await stubTarballs());
      using project = await NpmProject.create(manager, registry.url);
      await project.add();
      const version = await project.exec(["--version"]);
      assert.equal(version.stdout, `${PACKAGE.version}\n`, version.stderr);
      assert.equal((await project.exec(["exit", "7"])).code, 7);
      assert.equal((await project.exec(["cat"], { stdin: "a\nb" })).stdout, "a\nb");
      const args = ["a b", "", "$HOME", "--flag=x", '"'];
      assert.equal((await project.exec(["args", ...args])).stdout, args.map((arg) => `[${arg}]`).join(""));

      project.write("path.cjs", `console.log(require("${PACKAGE.name}/resolve").binaryPath());\n`);
      // Yarn 4 needs to be in the way of `require`.
      const prefix = manager.name === "yarn 4" ? ["node", "-r", "./.pnp.cjs"] : ["node"];
      const { stdout, stderr } = await project.run([...prefix, "path.cjs"]);
      const path = stdout.trimEnd();
      assert.match(path, /\/reprise$/, stderr);
      assert.equal((await project.run([path, "--version"])).stdout, `${PACKAGE.version}\n`);

      // Yarn 1 downloads all packages.
      if (manager.name === "yarn 1") return;
      const downloads = new Set(registry.requests.filter((path) => path.endsWith(".tgz")));
      const file = (name: string) => `${SCOPE}/${name}/-/${SCOPE.slice(1)}-${name}-${PACKAGE.version}.tgz`;
      assert.deepEqual([...downloads].sort(), [file(NAME), file(`${NAME}-linux-x64`)].sort());
    },
  );
}

installs("the modules of the package load, and have types", async () => {
  await using registry = await NpmRegistry.start(await stubTarballs());
  using project = await NpmProject.create(NPM, registry.url);
  await project.add();
  const directory = `${project.root}/node_modules/${PACKAGE.name}`;
  const { exports } = JSON.parse(Deno.readTextFileSync(`${directory}/package.json`));
  const subpaths = Object.keys(exports).filter((path) => path !== "./package.json");
  assert.deepEqual(subpaths, [".", "./vitest", "./node", "./deno", "./resolve"]);
  const oldest = `${await toolModules()}/node18/bin/node`;
  for (const subpath of subpaths) {
    const specifier = `${PACKAGE.name}${subpath.slice(1)}`;
    const script = `import * as all from "${specifier}"; console.log(Object.keys(all).join(" "));`;
    const { stdout, stderr } = await project.run(["node", "--input-type=module", "--eval", script]);
    assert.notEqual(stdout.trim(), "", stderr);
    const old = await project.run([oldest, "--input-type=module", "--eval", script]);
    assert.notEqual(old.stdout.trim(), "", old.stderr);
    const types = Deno.readTextFileSync(`${directory}/${exports[subpath].types}`);
    const names = stdout.trim().split(" ").filter((name) => name !== "default" && name !== "module.exports");
    for (const name of names) assert.match(types, new RegExp(`\\b${name}\\b`), specifier);
  }
});

installs("without optional dependencies, the error names platform, package, cause and remedy", async () => {
  await using registry = await NpmRegistry.start(await stubTarballs());
  using project = await NpmProject.create(NPM, registry.url);
  await project.add("--omit=optional");
  const { code, stderr, stdout } = await project.run([project.bin, "--version"]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.equal(
    stderr,
    `error: Cannot start reprise on linux-x64: package "${HERE}" is not installed\n` +
      "Likely cause: optional dependencies were left out (--omit=optional, --no-optional), or the lockfile lists only " +
      "those of another system\n" +
      "hint: install again with optional dependencies. If that does not help, remove reprise and add it again\n",
  );
});

installs("a node_modules from another system is recognised by the package in it", async () => {
  await using registry = await NpmRegistry.start(await stubTarballs());
  using project = await NpmProject.create(NPM, registry.url);
  await project.add();
  const modules = `${project.root}/node_modules/`;
  Deno.renameSync(`${modules}${HERE}`, `${modules}${PACKAGE.name}-darwin-arm64`);
  const { code, stderr } = await project.run([project.bin, "--version"]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`"${HERE}" is not installed\n.*another system.*"${PACKAGE.name}-darwin-arm64"\n`),
  );
  assert.match(stderr, /\nhint: delete node_modules, and install again on this machine\n$/);
});

/** Platforms that Node reports, as a module that is loaded first, and the message for them. */
const OTHERS: readonly (readonly [name: string, module: string, message: RegExp])[] = [
  [
    "FreeBSD",
    'Object.defineProperty(process, "platform", { value: "freebsd" });',
    /^error: Cannot start reprise on freebsd-x64: no package .*\nSupported platforms: linux-x64, linux-arm64, darwin-x64, darwin-arm64, win32-x64\nhint: build reprise from its source, and set REPRISE_BINARY_PATH/,
  ],
  [
    "Linux with musl",
    'process.report.getReport = () => ({ header: {} });\nrequire("fs").rmSync(process.env.REMOVED, { recursive: true });',
    /^error: Cannot start reprise on linux-x64 \(musl\): package .* is not installed\nLikely cause: this Linux has musl .*\nhint: use an image with glibc/,
  ],
];
for (const [name, module, message] of OTHERS) {
  installs(`on ${name}, the error says so`, async () => {
    await using registry = await NpmRegistry.start(await stubTarballs());
    using project = await NpmProject.create(NPM, registry.url);
    await project.add();
    project.write("platform.cjs", module);
    const env = { REMOVED: `${project.root}/node_modules/${HERE}` };
    const { code, stderr } = await project.run(["node", "-r", "./platform.cjs", project.bin, "--version"], {
      env,
    });
    assert.equal(code, 1);
    assert.match(stderr, message);
  });
}

installs("REPRISE_BINARY_PATH replaces the executable of the package, also if that is missing", async () => {
  await using registry = await NpmRegistry.start(await stubTarballs());
  using project = await NpmProject.create(NPM, registry.url);
  await project.add("--omit=optional");
  project.write("other", "#!/bin/sh\necho other $1\n");
  Deno.chmodSync(`${project.root}/other`, 0o755);
  for (const path of ["./other", `${project.root}/other`]) {
    const { stdout, stderr } = await project.run([project.bin, "--version"], {
      env: { REPRISE_BINARY_PATH: path },
    });
    assert.equal(stdout, "other --version\n", stderr);
  }
});

const WRONG_PATHS: readonly (readonly [path: string, message: RegExp])[] = [
  [
    "./missing",
    /from REPRISE_BINARY_PATH="\.\/missing": there is no such file\nhint: set REPRISE_BINARY_PATH to/,
  ],
  [".", /from REPRISE_BINARY_PATH="\.": it is not a file\nhint: set REPRISE_BINARY_PATH to/],
  [
    "package.json",
    /Cannot start .*\/package\.json: it is not executable\nhint: make it executable: chmod \+x/,
  ],
];
for (const [path, message] of WRONG_PATHS) {
  installs(`REPRISE_BINARY_PATH=${path} is an error, and nothing else starts`, async () => {
    await using registry = await NpmRegistry.start(await stubTarballs());
    using project = await NpmProject.create(NPM, registry.url);
    await project.add();
    const { code, stdout, stderr } = await project.run([project.bin, "--version"], {
      env: { REPRISE_BINARY_PATH: path },
    });
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  });
}
