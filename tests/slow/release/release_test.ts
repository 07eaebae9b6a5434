/** `deno task release` in a copy of the checkout, with scripts as executables. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { bundleEntries } from "../../../scripts/compile/build.ts";
import { TARGETS } from "../../../scripts/compile/targets.ts";
import { LICENSES, PLATFORMS } from "../../../scripts/pack/manifests.ts";
import { type Finished, outputOf, run } from "../../../scripts/process.ts";
import { bytesBelow } from "../../support/files.ts";
import { changelog, Checkout, COMMITTED_AT, VERSION } from "./checkout.ts";
import { Mirror } from "./mirror.ts";

const ASSETS = [
  "SHA256SUMS",
  "install.sh",
  `reprise-${VERSION}-linux-arm64.tar.gz`,
  `reprise-${VERSION}-linux-x64.tar.gz`,
  `reprise-${VERSION}-macos-arm64.tar.gz`,
  `reprise-${VERSION}-macos-x64.tar.gz`,
  `reprise-${VERSION}-windows-x64.zip`,
  `reprise-${VERSION}.cdx.json`,
];
const MEMBERS = ["CHANGELOG.md", "LICENSE", "README.md", LICENSES, "reprise", "reprise.1"];

function assertRefused(finished: Finished, message: RegExp): void {
  assert.equal(finished.code, 2, outputOf(finished));
  assert.match(finished.stderr, message);
  assert.match(finished.stderr, /^hint: ./m);
}

async function stdoutOf(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const finished = await run(program, args, cwd === undefined ? {} : { cwd });
  assert.equal(finished.code, 0, outputOf(finished));
  return finished.stdout;
}

/** A release that the tests which only read it share. */
const checkout = await Checkout.create();
checkout.addStubs();
const released = await checkout.releaseStubs();

Deno.test.afterAll(() => checkout[Symbol.dispose]());

Deno.test("a release has an archive for each target, checksums, SBOM, install script and notes", async () => {
  assert.equal(released.code, 0, outputOf(released));
  const assets = join(checkout.out, "assets");
  assert.deepEqual(Array.from(Deno.readDirSync(assets), ({ name }) => name).sort(), ASSETS);

  await stdoutOf("sha256sum", ["--check", "--strict", "SHA256SUMS"], assets);
  const sums = Deno.readTextFileSync(join(assets, "SHA256SUMS"));
  assert.deepEqual(sums.trimEnd().split("\n").map((line) => line.slice(66)), ASSETS.slice(1));

  for (const target of Object.keys(TARGETS)) {
    const folder = `reprise-${VERSION}-${target}`;
    const unpacked = join(checkout.directory, target);
    Deno.mkdirSync(unpacked);
    const isWindows = target === "windows-x64";
    const unpack = isWindows
      ? run("python3", ["-m", "zipfile", "-e", join(assets, `${folder}.zip`), unpacked])
      : run("tar", ["-xzf", join(assets, `${folder}.tar.gz`), "-C", unpacked]);
    assert.equal((await unpack).code, 0);
    const names = Array.from(Deno.readDirSync(join(unpacked, folder)), ({ name }) => name).sort();
    assert.deepEqual(names, isWindows ? MEMBERS.with(4, "reprise.1").with(5, "reprise.exe") : MEMBERS);
    const program = join(unpacked, folder, isWindows ? "reprise.exe" : "reprise");
    assert.match(Deno.readTextFileSync(program), new RegExp(`^# ${target}$`, "m"));
    if (isWindows) continue;
    assert.equal((Deno.statSync(program).mode ?? 0) & 0o777, 0o755);
    assert.equal(Deno.statSync(program).mtime?.getTime(), COMMITTED_AT * 1000);
  }

  const tarballs = Array.from(Deno.readDirSync(join(checkout.out, "npm")), ({ name }) => name);
  assert.equal(tarballs.length, 1 + Object.keys(TARGETS).length, tarballs.join(" "));

  const notes = Deno.readTextFileSync(join(checkout.out, "notes.md"));
  assert.ok(notes.startsWith("### Added\n\n- A first thing.\n\n## Verify"), notes);
  assert.ok(!notes.includes("older thing"), notes);
});

Deno.test("install.sh of a release installs the release", async () => {
  await using mirror = new Mirror();
  for (const [name, bytes] of bytesBelow(join(checkout.out, "assets"))) mirror.add(VERSION, name, bytes);
  const sums = Deno.readTextFileSync(join(checkout.out, "assets/SHA256SUMS"));
  mirror.addSumsText(VERSION, sums);
  const script = join(checkout.out, "assets/install.sh");
  const text = Deno.readTextFileSync(script);
  assert.ok(text.includes("DEFAULT_REPOSITORY=alice/reprise\n") && !text.includes("OWNER/reprise"));
  const bin = join(checkout.directory, "bin");
  const env = { REPRISE_DOWNLOAD_URL: mirror.url, REPRISE_INSTALL_DIR: bin };
  const installed = await run("sh", [script], { env });
  assert.equal(installed.code, 0, outputOf(installed));
  assert.equal(await stdoutOf(join(bin, "reprise"), ["--version"]), `${VERSION}\n`);
});

Deno.test("the same commit gives the same files in another time zone", async () => {
  const again = join(checkout.directory, "again");
  const zone = { TZ: "Pacific/Auckland" };
  assert.equal((await checkout.releaseStubs(again, zone)).code, 0);
  assert.deepEqual(bytesBelow(again), bytesBelow(checkout.out));
});

Deno.test("the SBOM lists the packages of the executable with their hashes, and no others", async () => {
  const bom = JSON.parse(Deno.readTextFileSync(join(checkout.out, "assets", `reprise-${VERSION}.cdx.json`)));
  const purls: string[] = bom.components.map(({ purl }: { purl: string }) => purl);
  assert.ok(purls.includes(`pkg:github/denoland/deno@v${Deno.version.deno}`));
  for (const other of ["fast-check", "openai", "micromark", "fflate"]) {
    assert.ok(!purls.some((purl) => purl.includes(other)), `${other} is not in the executable`);
  }
  const lock = JSON.parse(Deno.readTextFileSync("deno.lock")) as {
    npm: Record<string, { integrity: string }>;
  };
  for (
    const { "bom-ref": ref, hashes } of bom.components.filter((
      { group, name }: { group?: string; name: string },
    ) => name !== "deno" || group)
  ) {
    const [{ alg, content }] = hashes;
    assert.equal(alg, "SHA-512");
    assert.equal(`sha512-${btoa(String.fromCharCode(...fromHex(content)))}`, lock.npm[ref]?.integrity);
  }
  // The bundler's own list of sources, of the scripts that hold all code between them.
  const entries = bundleEntries().filter((entry) => /\/(?:all|prices)\.ts$/.test(entry));
  assert.equal(entries.length, 2);
  for (const entry of entries) {
    const map = join(checkout.directory, "bundle.js");
    await stdoutOf(Deno.execPath(), ["bundle", "--quiet", "--sourcemap=external", "-o", map, entry]);
    const { sources } = JSON.parse(Deno.readTextFileSync(`${map}.map`)) as {
      readonly sources: readonly string[];
    };
    const packages = sources.flatMap((source) =>
      /\/npm\/[^/]+\/((?:@[^/]+\/)?[^/]+)\/(\d[^/]*)\//.exec(source)?.slice(1, 3).join("@") ?? []
    );
    for (const name of new Set(packages)) {
      assert.ok(purls.includes(`pkg:npm/${name.replace(/^@/, "%40")}`), `${name} of ${entry} is missing`);
    }
    if (entry.endsWith("/all.ts")) assert.ok(packages.length > 0, "The pattern finds packages");
  }
});

Deno.test("each archive and each npm package of a platform has the license of each package in the executable", async () => {
  const folder = `reprise-${VERSION}-linux-x64`;
  const archive = join(checkout.out, "assets", `${folder}.tar.gz`);
  const text = await stdoutOf("tar", ["-xzOf", archive, `${folder}/${LICENSES}`]);
  const npm = join(checkout.out, "npm");
  const packed = Array.from(Deno.readDirSync(npm), ({ name }) => name)
    .filter((name) => Object.values(PLATFORMS).some(({ os, cpu }) => name.includes(`-${os}-${cpu}-`)));
  assert.equal(packed.length, Object.keys(TARGETS).length);
  for (const name of packed) {
    assert.equal(await stdoutOf("tar", ["-xzOf", join(npm, name), `package/${LICENSES}`]), text, name);
  }
  const bom = JSON.parse(Deno.readTextFileSync(join(checkout.out, "assets", `reprise-${VERSION}.cdx.json`)));
  const names: string[] = bom.components.filter(({ name }: { name: string }) => name !== "deno")
    .map(({ group, name, version }: Record<string, string>) =>
      `${group ? `${group}/` : ""}${name} ${version}`
    );
  const sections = text.split(`${"-".repeat(80)}\n`).slice(1);
  assert.deepEqual(sections.map((section) => section.split("\n")[0]).sort(), names.sort());
  for (const section of sections) assert.match(section, /copyright|License: /i);
});

function fromHex(text: string): number[] {
  return (text.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
}

Deno.test("a checkout that cannot be released is refused", async () => {
  using checkout = await Checkout.create();
  assert.equal((await checkout.release(["--check"])).code, 0);

  checkout.write("new.txt", "not committed\n");
  assertRefused(await checkout.release(["--check"]), /1 file not committed/);
  await checkout.commit();
  assertRefused(await checkout.release(["--check"]), new RegExp(`the tag v${VERSION} is not on HEAD`));
  await checkout.tag();

  for (
    const [section, problem] of [
      ["", /no section/],
      [`## [${VERSION}]\n\n- A thing.\n`, /no date/],
      [`## [${VERSION}] - 2026-02-30\n\n- A thing.\n`, /no date/],
      [`## [${VERSION}] - 2026-02-03\n`, /an empty section/],
      [`## [${VERSION}] - 2026-02-03\n\n- A thing.\n`.repeat(2), /more than one section/],
    ] as const
  ) {
    checkout.write("CHANGELOG.md", changelog(section));
    assertRefused(await checkout.release(["--check"]), problem);
  }
});

Deno.test("a release without an executable, a repository or an empty place is refused", async () => {
  using checkout = await Checkout.create();
  checkout.addStubs();
  const without = await checkout.release(["--binaries", checkout.binaries, "--out", checkout.out]);
  assertRefused(without, /^error: Cannot release for the repository null/);
  checkout.addStubs("9.9.9");
  assertRefused(await checkout.releaseStubs(), /--version prints "9\.9\.9"/);
  checkout.addStubs();
  Deno.removeSync(join(checkout.binaries, "reprise-windows-x64.exe"));
  assertRefused(await checkout.releaseStubs(), /has no reprise-windows-x64\.exe$/m);
  const remains = Array.from(Deno.readDirSync(checkout.directory), ({ name }) => name).sort();
  assert.deepEqual(remains, ["binaries", "checkout"]);
  Deno.mkdirSync(checkout.out);
  assertRefused(await checkout.releaseStubs(), /it exists$/m);
});
