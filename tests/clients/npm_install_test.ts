/** The npm packages install with each package manager, without a script, and start the executable. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import { PROGRAM } from "../support/reprise.ts";
import { NpmRegistry } from "../support/npm_registry.ts";
import {
  MANAGERS,
  NPM,
  NpmProject,
  type Outcome,
  PACKAGE,
  stubTarballs,
  toolModules,
} from "./npm_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

const HERE = `${PACKAGE.name}-linux-x64`;

/** Defines a test in a project with the launcher, where stub executables start. */
function installs(
  name: string,
  test: (project: NpmProject, registry: NpmRegistry) => Promise<void>,
  { manager = NPM, flags = [] as readonly string[] } = {},
): void {
  Deno.test({
    ...needing(name, LACKS_AGENTS),
    fn: async () => {
      await using registry = await NpmRegistry.start(await stubTarballs());
      using project = await NpmProject.create(manager, registry.url);
      await project.add(...flags);
      await test(project, registry);
    },
  });
}

function assertFails({ code, stdout, stderr }: Outcome, message: string | RegExp): void {
  assert.deepEqual([code, stdout], [1, ""], stderr);
  if (typeof message === "string") assert.equal(stderr, message);
  else assert.match(stderr, message);
}

for (const manager of MANAGERS) {
  installs(
    `${manager.name} installs the launcher and the package of this platform only, and starts it`,
    async (project, registry) => {
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
      assert.match(stdout, /\/reprise\n$/, stderr);
      assert.equal((await project.run([stdout.trimEnd(), "--version"])).stdout, `${PACKAGE.version}\n`);

      // Yarn 1 downloads all packages.
      if (manager.name === "yarn 1") return;
      const downloads = new Set(registry.requests.filter((path) => path.endsWith(".tgz")));
      const names = [...downloads].map((path) => path.split("/-/")[0]);
      assert.deepEqual(names.sort(), [PACKAGE.name, HERE]);
    },
    { manager },
  );
}

installs("the modules of the package load, and have types", async (project) => {
  const directory = `${project.root}/node_modules/${PACKAGE.name}`;
  const { exports } = JSON.parse(Deno.readTextFileSync(`${directory}/package.json`));
  const subpaths = Object.keys(exports).filter((path) => path !== "./package.json");
  assert.deepEqual(subpaths, [".", "./vitest", "./node", "./deno", "./resolve"]);
  for (const subpath of subpaths) {
    const specifier = `${PACKAGE.name}${subpath.slice(1)}`;
    const script = `import * as all from "${specifier}"; console.log(Object.keys(all).join(" "));`;
    for (const node of ["node", `${await toolModules()}/node18/bin/node`]) {
      // The helpers start the program when they load.
      const env = { REPRISE_BINARY_PATH: PROGRAM[0] ?? "" };
      const { stdout, stderr } = await project.run([node, "--input-type=module", "--eval", script], { env });
      assert.notEqual(stdout.trim(), "", stderr);
      const types = Deno.readTextFileSync(`${directory}/${exports[subpath].types}`);
      const names = stdout.trim().split(" ").filter((name) => !/^(?:default|module\.exports)$/.test(name));
      for (const name of names) assert.match(types, new RegExp(`\\b${name}\\b`), specifier);
    }
  }
});

installs(
  "without optional dependencies, the error names platform, package, cause and remedy",
  async (project) => {
    assertFails(
      await project.run([project.bin, "--version"]),
      `error: Cannot start reprise on linux-x64: package "${HERE}" is not installed\n` +
        "Likely cause: optional dependencies were left out (--omit=optional, --no-optional), or the lockfile lists only " +
        "those of another system\n" +
        "hint: install again with optional dependencies. If that does not help, remove reprise and add it again\n",
    );
    project.write("other", "#!/bin/sh\necho other $1\n");
    Deno.chmodSync(`${project.root}/other`, 0o755);
    for (const path of ["./other", `${project.root}/other`]) {
      const started = await project.run([project.bin, "--version"], { env: { REPRISE_BINARY_PATH: path } });
      assert.equal(started.stdout, "other --version\n", started.stderr);
    }
  },
  { flags: ["--omit=optional"] },
);

installs(
  "another or a missing platform, and a wrong REPRISE_BINARY_PATH, are errors that say so",
  async (project) => {
    for (
      const [path, message] of [
        [
          "./missing",
          /from REPRISE_BINARY_PATH="\.\/missing": there is no such file\nhint: set REPRISE_BINARY_PATH to/,
        ],
        [".", /from REPRISE_BINARY_PATH="\.": it is not a file\nhint: set REPRISE_BINARY_PATH to/],
        [
          "package.json",
          /Cannot start .*\/package\.json: it is not executable\nhint: make it executable: chmod \+x/,
        ],
      ] as const
    ) assertFails(await project.run([project.bin], { env: { REPRISE_BINARY_PATH: path } }), message);

    const preloaded = async (module: string) => {
      project.write("platform.cjs", module);
      return await project.run(["node", "-r", "./platform.cjs", project.bin, "--version"]);
    };
    assertFails(
      await preloaded('Object.defineProperty(process, "platform", { value: "freebsd" });'),
      /^error: Cannot start reprise on freebsd-x64: no package .*\nSupported platforms: linux-x64, linux-arm64, darwin-x64, darwin-arm64, win32-x64\nhint: build reprise from its source, and set REPRISE_BINARY_PATH/,
    );
    const modules = `${project.root}/node_modules/`;
    Deno.renameSync(`${modules}${HERE}`, `${modules}${PACKAGE.name}-darwin-arm64`);
    assertFails(
      await project.run([project.bin, "--version"]),
      new RegExp(
        `"${HERE}" is not installed\n.*another system.*"${PACKAGE.name}-darwin-arm64"\nhint: delete node_modules, and install again`,
      ),
    );
    assertFails(
      await preloaded("process.report.getReport = () => ({ header: {} });"),
      /^error: Cannot start reprise on linux-x64 \(musl\): package .* is not installed\nLikely cause: this Linux has musl .*\nhint: use an image with glibc/,
    );
  },
);
