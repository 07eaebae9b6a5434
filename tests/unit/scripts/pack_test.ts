import assert from "node:assert/strict";
import { type Target, TARGETS } from "../../../scripts/compile/targets.ts";
import {
  identityOf,
  LAUNCHER_FILES,
  launcherManifest,
  type PackageFacts,
  platformManifest,
} from "../../../scripts/pack/manifests.ts";
import { packLauncher, removeTarballs } from "../../../scripts/pack/tarballs.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import { VERSION } from "../../../src/domain/version.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const ALL = Object.keys(TARGETS) as Target[];
const FACTS: PackageFacts = { name: "@s/r", version: "1.2.3", repository: null, isPrivate: false };

function scratch(): string {
  return Deno.makeTempDirSync({ prefix: "reprise-pack-test-" });
}

Deno.test("the name of the npm packages is scoped and is in deno.json, beside the program's version", () => {
  const { name, version } = identityOf(Deno.readTextFileSync(`${ROOT}deno.json`));
  assert.match(name, /^@[a-z-]+\/[a-z-]+$/);
  assert.equal(version, VERSION);
  const texts = ["npm/resolve.cjs", "npm/bin/reprise.cjs", "scripts/pack.ts", "scripts/pack/manifests.ts"];
  for (const path of texts) assert.ok(!Deno.readTextFileSync(`${ROOT}${path}`).includes(name), path);
});

Deno.test("a name without a scope is refused", () => {
  for (const name of ["reprise", "@s", "@s/", "@s/r/x", undefined]) {
    assert.throws(
      () => identityOf(JSON.stringify({ name, version: "1.0.0" })),
      (error) => error instanceof RepriseError && error.code === "usage" && /scoped name/.test(error.message),
    );
  }
});

Deno.test("only the launcher has dependencies: exact versions of the packed platforms, all of them optional", () => {
  const launcher = launcherManifest(FACTS, ALL);
  assert.deepEqual(launcher["optionalDependencies"], {
    "@s/r-linux-x64": "1.2.3",
    "@s/r-linux-arm64": "1.2.3",
    "@s/r-darwin-x64": "1.2.3",
    "@s/r-darwin-arm64": "1.2.3",
    "@s/r-win32-x64": "1.2.3",
  });
  assert.deepEqual(launcherManifest(FACTS, ["linux-x64"])["optionalDependencies"], {
    "@s/r-linux-x64": "1.2.3",
  });
  for (const manifest of [launcher, ...ALL.map((target) => platformManifest(FACTS, target))]) {
    const dependencies = Object.keys(manifest).filter((key) => /dependencies/i.test(key));
    assert.deepEqual(dependencies, manifest === launcher ? ["optionalDependencies"] : []);
  }
});

Deno.test("no package has a script, and Yarn unpacks each of them", () => {
  for (
    const manifest of [
      launcherManifest(FACTS, ALL),
      ...ALL.map((target) => platformManifest(FACTS, target)),
    ]
  ) {
    assert.equal(manifest["scripts"], undefined);
    assert.equal(manifest["preferUnplugged"], true);
  }
});

Deno.test("a platform package names its system, its processor, its executable, and glibc on Linux", () => {
  const rows = ALL.map((target) => {
    const { os, cpu, libc, files } = platformManifest(FACTS, target);
    return { os, cpu, libc, files };
  });
  assert.deepEqual(rows, [
    { os: ["linux"], cpu: ["x64"], libc: ["glibc"], files: ["reprise", "THIRD_PARTY_LICENSES.txt"] },
    { os: ["linux"], cpu: ["arm64"], libc: ["glibc"], files: ["reprise", "THIRD_PARTY_LICENSES.txt"] },
    { os: ["darwin"], cpu: ["x64"], libc: undefined, files: ["reprise", "THIRD_PARTY_LICENSES.txt"] },
    { os: ["darwin"], cpu: ["arm64"], libc: undefined, files: ["reprise", "THIRD_PARTY_LICENSES.txt"] },
    { os: ["win32"], cpu: ["x64"], libc: undefined, files: ["reprise.exe", "THIRD_PARTY_LICENSES.txt"] },
  ]);
});

Deno.test("private packages say so, and published ones name the repository for provenance", () => {
  const url = "git+https://git.example/o/reprise.git";
  for (
    const manifestOf of [launcherManifest, (facts: PackageFacts) => platformManifest(facts, "linux-x64")]
  ) {
    const published = manifestOf({ ...FACTS, repository: url }, ALL);
    assert.equal("private" in published, false);
    assert.deepEqual(published["repository"], { type: "git", url });
    assert.equal(manifestOf({ ...FACTS, isPrivate: true }, ALL)["private"], true);
  }
});

Deno.test("every file that the launcher exports is in the checkout", () => {
  for (const path of LAUNCHER_FILES) assert.ok(Deno.statSync(`${ROOT}npm/${path}`).isFile, path);
});

Deno.test("a launcher without a file that it exports is not packed, and the message names the file", async () => {
  const root = scratch();
  try {
    for (const path of LAUNCHER_FILES.filter((file) => file !== "helpers/vitest.d.ts")) {
      Deno.mkdirSync(`${root}/npm/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${root}/npm/${path}`, "");
    }
    await assert.rejects(
      packLauncher(root, FACTS, ALL, `${root}/out`),
      (error) => error instanceof RepriseError && /lacks helpers\/vitest\.d\.ts$/.test(error.message),
    );
    assert.deepEqual([...Deno.readDirSync(`${root}/out`)], []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("tarballs of earlier versions are removed, other files stay", () => {
  const out = scratch();
  try {
    for (const name of ["s-r-1.0.0.tgz", "s-r-linux-x64-1.0.0.tgz", "s-r-1.0.0.txt", "other-1.0.0.tgz"]) {
      Deno.writeTextFileSync(`${out}/${name}`, "");
    }
    removeTarballs("@s/r", out);
    assert.deepEqual(Array.from(Deno.readDirSync(out), ({ name }) => name).sort(), [
      "other-1.0.0.tgz",
      "s-r-1.0.0.txt",
    ]);
  } finally {
    Deno.removeSync(out, { recursive: true });
  }
});
