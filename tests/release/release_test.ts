/** `deno task release` with scripts as executables. Needs npm and its registry. */
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { bundleEntries } from "../../scripts/compile/build.ts";
import { binaryName, type Target, TARGETS } from "../../scripts/compile/targets.ts";
import { LICENSES } from "../../scripts/pack/manifests.ts";
import { type Finished, outputOf, run } from "../../scripts/process.ts";
import { bytesBelow } from "../support/files.ts";
import { Mirror, programOf } from "./mirror.ts";

const { version: VERSION, name: PACKAGE } = JSON.parse(Deno.readTextFileSync("deno.json"));
const DIRECTORY = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-release-" }));
const BINARIES = join(DIRECTORY, "binaries");
const OUT = join(DIRECTORY, "out");

function release(out: string, ...args: readonly string[]): Promise<Finished> {
  const script = resolve("scripts/release.ts");
  return run(Deno.execPath(), [
    ...["run", "-A", "--no-check", script, "--binaries", BINARIES, "--out", out],
    ...args,
  ]);
}

async function stdoutOf(program: string, args: readonly string[], cwd = DIRECTORY): Promise<string> {
  const finished = await run(program, args, { cwd });
  assert.equal(finished.code, 0, outputOf(finished));
  return finished.stdout;
}

Deno.mkdirSync(BINARIES);
for (const target of Object.keys(TARGETS) as Target[]) {
  const script = `${programOf(VERSION)}# ${target}\n`;
  Deno.writeTextFileSync(join(BINARIES, binaryName(target)), script, { mode: 0o755 });
}
/** A release that the tests read. */
const released = await release(OUT, "--repository", "alice/reprise");

Deno.test.afterAll(() => Deno.removeSync(DIRECTORY, { recursive: true }));

Deno.test("a release has an archive and an npm package for each target, a launcher, and checksums of all files", async () => {
  assert.equal(released.code, 0, outputOf(released));
  const files = [...bytesBelow(OUT).keys()];
  const tarball = (suffix: string) => `${PACKAGE.slice(1).replace("/", "-")}${suffix}-${VERSION}.tgz`;
  const platforms = ["", "-darwin-arm64", "-darwin-x64", "-linux-arm64", "-linux-x64", "-win32-x64"];
  const expected = [
    ...Object.keys(TARGETS).map((target) => `reprise-${target}.tar.gz`),
    ...platforms.map(tarball),
    ...["SHA256SUMS", "install.sh", "reprise.cdx.json"],
  ];
  assert.deepEqual(files.sort(), expected.sort());
  await stdoutOf("sha256sum", ["--check", "--strict", "SHA256SUMS"], OUT);
  const sums = Deno.readTextFileSync(join(OUT, "SHA256SUMS")).trimEnd().split("\n");
  assert.deepEqual(sums.map((line) => line.slice(66)).sort(), files.filter((name) => name !== "SHA256SUMS"));

  for (const target of Object.keys(TARGETS)) {
    const folder = join(DIRECTORY, `reprise-${target}`);
    await stdoutOf("tar", ["-xzf", join(OUT, `reprise-${target}.tar.gz`)]);
    const program = target === "windows-x64" ? "reprise.exe" : "reprise";
    const members = ["CHANGELOG.md", "LICENSE", "README.md", LICENSES, program];
    assert.deepEqual(Array.from(Deno.readDirSync(folder), ({ name }) => name).sort(), members.sort());
    assert.match(Deno.readTextFileSync(join(folder, program)), new RegExp(`^# ${target}$`, "m"));
  }
});

Deno.test("install.sh of a release names its repository, and installs the release", async () => {
  await using mirror = new Mirror();
  for (const [name, bytes] of bytesBelow(OUT)) mirror.add(VERSION, name, new Uint8Array(bytes));
  const script = join(OUT, "install.sh");
  const text = Deno.readTextFileSync(script);
  assert.ok(text.includes("=${REPRISE_DOWNLOAD_URL:-https://github.com/alice/reprise/releases}\n"), text);
  assert.ok(!text.includes("OWNER/reprise"));
  const bin = join(DIRECTORY, "bin");
  const env = { REPRISE_DOWNLOAD_URL: mirror.url, REPRISE_INSTALL_DIR: bin, NO_PROXY: "127.0.0.1" };
  const installed = await run("sh", [script], { env });
  assert.equal(installed.code, 0, outputOf(installed));
  assert.equal(await stdoutOf(join(bin, "reprise"), ["--version"]), `${VERSION}\n`);
});

Deno.test("the SBOM lists the packages of the executable with their hashes, and no others", async () => {
  const { components } = JSON.parse(Deno.readTextFileSync(join(OUT, "reprise.cdx.json")));
  const purls: string[] = components.map(({ purl }: { purl: string }) => purl);
  for (const other of ["fast-check", "openai", "micromark"]) {
    assert.ok(!purls.some((purl) => purl.includes(other)), `${other} is not in the executable`);
  }
  const { npm } = JSON.parse(Deno.readTextFileSync("deno.lock"));
  for (const { type, "bom-ref": ref, hashes, name } of components) {
    if (type === "platform") assert.equal(name, "deno");
    else {
      const hash = Uint8Array.fromHex(hashes[0].content).toBase64();
      assert.equal(`sha512-${hash}`, npm[ref]?.integrity, ref);
    }
  }
  // The bundler's own list of sources, of the scripts that hold all code between them.
  const entries = bundleEntries().filter((entry) => /\/(?:all|prices)\.ts$/.test(entry));
  assert.equal(entries.length, 2);
  const packages = new Set<string>();
  for (const entry of entries) {
    const map = join(DIRECTORY, "bundle.js");
    await stdoutOf(
      Deno.execPath(),
      ["bundle", "--quiet", "--sourcemap=external", "-o", map, entry],
      resolve("."),
    );
    for (const source of JSON.parse(Deno.readTextFileSync(`${map}.map`)).sources) {
      const [, name, version] = /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+)\/(\d[^/]*)\//.exec(source) ?? [];
      if (name !== undefined) packages.add(`${name}@${version}`);
    }
  }
  assert.ok(packages.size > 5, "The pattern finds packages");
  for (const key of packages) assert.ok(purls.includes(`pkg:npm/${key.replace(/^@/, "%40")}`), key);
});

Deno.test("each archive and each npm package of a platform has the license of each package in the executable", async () => {
  const text = await stdoutOf("tar", [
    "-xzOf",
    join(OUT, "reprise-linux-x64.tar.gz"),
    `reprise-linux-x64/${LICENSES}`,
  ]);
  for (const name of bytesBelow(OUT).keys()) {
    if (!/-(?:linux|darwin|win32)-.*\.tgz$/.test(name)) continue;
    assert.equal(await stdoutOf("tar", ["-xzOf", join(OUT, name), `package/${LICENSES}`]), text, name);
  }
  const { components } = JSON.parse(Deno.readTextFileSync(join(OUT, "reprise.cdx.json")));
  const names = components.flatMap(({ type, "bom-ref": ref }: Record<string, string>) =>
    type === "library" ? [ref] : []
  );
  const sections = text.split(`${"-".repeat(80)}\n`).slice(1);
  const listed = sections.map((section) => section.split("\n")[0]?.replace(/ (?=[^ ]+$)/, "@"));
  assert.deepEqual(listed.sort(), names.sort());
  for (const section of sections) assert.match(section, /copyright|License: /i);
});

Deno.test("a release without a repository, an executable or an empty place is refused", async () => {
  const refused = async (message: RegExp, out: string, ...args: readonly string[]) => {
    const finished = await release(out, ...args);
    assert.equal(finished.code, 2, outputOf(finished));
    assert.match(finished.stderr, message);
    assert.match(finished.stderr, /^hint: ./m);
  };
  const repository = ["--repository", "alice/reprise"];
  await refused(/^error: Cannot release without a repository$/m, join(DIRECTORY, "new"));
  await refused(/^error: Cannot write the release to .+: it exists$/m, OUT, ...repository);
  Deno.removeSync(join(BINARIES, "reprise-windows-x64.exe"));
  await refused(/ has no reprise-windows-x64\.exe$/m, join(DIRECTORY, "new"), ...repository);
  assert.throws(() => Deno.statSync(join(DIRECTORY, "new")), Deno.errors.NotFound);
});
