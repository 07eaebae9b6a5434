/** `install.sh` against a mirror on 127.0.0.1. */
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { type Finished, run } from "../../../scripts/process.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { archiveOf, Mirror } from "./mirror.ts";

const SCRIPT = resolve("install.sh");
const TARGET = Deno.build.arch === "aarch64" ? "linux-arm64" : "linux-x64";
/** Programs that the script needs beside a downloader and a program for checksums. */
const BASE = ["sh", "uname", "getconf", "grep", "cut", "mktemp", "mkdir", "rm", "tar", "gzip", "chmod", "mv"];
const OLD = "#!/bin/sh\necho old\n";

/** A home, a mirror with the releases 0.9.0 and 1.0.0, and a PATH with a few programs only. */
class Machine implements AsyncDisposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-install-" }));
  readonly home = join(this.directory, "home");
  readonly bin = join(this.home, ".local/bin");
  readonly programs = join(this.directory, "programs");
  readonly mirror = new Mirror();

  static async create(programs: readonly string[] = ["curl", "sha256sum"]): Promise<Machine> {
    const machine = new Machine();
    Deno.mkdirSync(machine.home);
    Deno.mkdirSync(machine.programs);
    for (const name of [...BASE, ...programs]) await machine.link(name);
    for (const version of ["0.9.0", "1.0.0"]) await machine.publish(version, `#!/bin/sh\necho ${version}\n`);
    return machine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mirror[Symbol.asyncDispose]();
    Deno.removeSync(this.directory, { recursive: true });
  }

  async link(name: string): Promise<void> {
    const found = await run("sh", ["-c", `command -v ${name}`]);
    assert.equal(found.code, 0, `${name} is installed`);
    Deno.symlinkSync(found.stdout.trim(), join(this.programs, name));
  }

  /** Puts a script into PATH, in place of the program of that name. */
  stub(name: string, script: string): void {
    Deno.removeSync(join(this.programs, name));
    Deno.writeTextFileSync(join(this.programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  async publish(version: string, program: string, target = TARGET): Promise<void> {
    const name = `reprise-${version}-${target}.tar.gz`;
    const archive = await archiveOf(version, target, program);
    this.mirror.add(version, name, archive);
    this.mirror.addSums(version, { [name]: archive, [`reprise-${version}-other.tar.gz`]: new Uint8Array() });
  }

  /** An installed binary, which a failure must leave alone. */
  installOld(): void {
    Deno.mkdirSync(this.bin, { recursive: true });
    Deno.writeTextFileSync(join(this.bin, "reprise"), OLD, { mode: 0o755 });
  }

  env(more: Readonly<Record<string, string | undefined>> = {}): Record<string, string | undefined> {
    return {
      HOME: this.home,
      PATH: this.programs,
      REPRISE_DOWNLOAD_URL: this.mirror.url,
      REPRISE_INSTALL_DIR: undefined,
      REPRISE_REPOSITORY: undefined,
      REPRISE_VERSION: undefined,
      ...more,
    };
  }

  install(
    more: Readonly<Record<string, string | undefined>> = {},
    args: readonly string[] = [],
  ): Promise<Finished> {
    return run(join(this.programs, "sh"), [SCRIPT, ...args], { env: this.env(more), cwd: this.directory });
  }

  /** Runs the script, which must fail and leave the old binary and nothing else. */
  async refuses(message: RegExp, more: Readonly<Record<string, string | undefined>> = {}): Promise<Finished> {
    this.installOld();
    const finished = await this.install(more);
    assert.equal(finished.code, 1, finished.stdout + finished.stderr);
    assert.match(finished.stderr, message);
    assert.match(finished.stderr, /^hint: ./m);
    this.assertUntouched();
    return finished;
  }

  assertUntouched(): void {
    assert.deepEqual(Array.from(Deno.readDirSync(this.bin), ({ name }) => name), ["reprise"]);
    assert.equal(Deno.readTextFileSync(join(this.bin, "reprise")), OLD);
  }

  archive(version = "1.0.0"): string {
    return `/releases/download/v${version}/reprise-${version}-${TARGET}.tar.gz`;
  }
}

async function assertInstalls(
  machine: Machine,
  version: string,
  env: Record<string, string> = {},
): Promise<Finished> {
  const finished = await machine.install(env);
  assert.equal(finished.code, 0, finished.stderr);
  const directory = env["REPRISE_INSTALL_DIR"] ?? machine.bin;
  assert.equal((await run(join(directory, "reprise"), ["--version"])).stdout, `${version}\n`);
  assert.equal((Deno.statSync(join(directory, "reprise")).mode ?? 0) & 0o777, 0o755);
  assert.deepEqual(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["reprise"]);
  return finished;
}

for (const downloader of ["curl", "wget"]) {
  for (const sums of ["sha256sum", "shasum", "openssl"]) {
    Deno.test(`install.sh installs the latest release with ${downloader} and ${sums}`, async () => {
      await using machine = await Machine.create([downloader, sums, ...(sums === "shasum" ? ["perl"] : [])]);
      await assertInstalls(machine, "1.0.0");
    });
  }

  Deno.test(`install.sh with ${downloader} refuses a download that ends early`, async () => {
    await using machine = await Machine.create([downloader, "sha256sum"]);
    machine.mirror.delivery.set(machine.archive(), "cut");
    await machine.refuses(/^error: (?:Cannot download|The checksum)/m);
  });

  Deno.test(`install.sh with ${downloader} refuses a missing archive and missing checksums`, async () => {
    await using machine = await Machine.create([downloader, "sha256sum"]);
    machine.mirror.files.delete(machine.archive());
    await machine.refuses(/^error: Cannot download .+tar\.gz$/m);
    machine.mirror.files.delete("/releases/latest/download/SHA256SUMS");
    await machine.refuses(/^error: Cannot download .+SHA256SUMS$/m);
  });
}

Deno.test("install.sh installs the version that REPRISE_VERSION names, also over a newer one", async () => {
  await using machine = await Machine.create();
  await assertInstalls(machine, "1.0.0");
  await assertInstalls(machine, "0.9.0", { REPRISE_VERSION: "0.9.0" });
  await assertInstalls(machine, "1.0.0", { REPRISE_VERSION: "v1.0.0" });
});

Deno.test("install.sh fetches the archive of the version that SHA256SUMS names", async () => {
  await using machine = await Machine.create();
  await assertInstalls(machine, "1.0.0");
  assert.deepEqual(machine.mirror.requests, ["/releases/latest/download/SHA256SUMS", machine.archive()]);
});

Deno.test("install.sh refuses an archive with another checksum", async () => {
  await using machine = await Machine.create();
  const changed = await archiveOf("1.0.0", TARGET, "#!/bin/sh\necho changed\n");
  machine.mirror.files.set(machine.archive(), changed);
  const finished = await machine.refuses(/^error: The checksum of reprise-1\.0\.0-/m);
  assert.ok(finished.stderr.includes(sha256Hex(changed)), finished.stderr);
});

Deno.test("install.sh refuses SHA256SUMS without this platform, twice with it, or of another version", async () => {
  await using machine = await Machine.create();
  const line = `${"0".repeat(64)}  reprise-1.0.0-${TARGET}.tar.gz\n`;
  for (const text of ["", "<html></html>\n", line.replace(TARGET, "linux-other"), line + line, `x${line}`]) {
    machine.mirror.addSumsText("1.0.0", text);
    await machine.refuses(/^error: SHA256SUMS of .+ has no checksum for linux-/m);
  }
  machine.mirror.addSumsText("0.9.0", line);
  await machine.refuses(/^error: SHA256SUMS of .+ is about version 1\.0\.0, not 0\.9\.0$/m, {
    REPRISE_VERSION: "0.9.0",
  });
});

Deno.test("install.sh refuses to install without a program for checksums or a downloader", async () => {
  await using without = await Machine.create(["curl"]);
  await without.refuses(/^error: No program for SHA-256 was found/m);
  await using offline = await Machine.create(["sha256sum"]);
  await offline.refuses(/^error: Neither curl nor wget was found$/m);
});

Deno.test("install.sh refuses a binary that does not start", async () => {
  await using machine = await Machine.create();
  await machine.publish("1.0.0", "#!/bin/sh\necho 'needs another libc' >&2\nexit 127\n");
  await machine.refuses(
    /^error: The downloaded reprise does not start on this machine: needs another libc$/m,
  );
});

Deno.test("install.sh refuses musl and systems without a binary", async () => {
  await using machine = await Machine.create();
  await machine.link("ldd");
  machine.stub("getconf", "exit 1");
  machine.stub("ldd", "echo 'musl libc (x86_64)' >&2; exit 1");
  await machine.refuses(/^error: This system uses musl libc; the binary needs glibc$/m);
  machine.stub("uname", `if [ "$1" = -s ]; then echo MINGW64_NT-10.0; else echo x86_64; fi`);
  await machine.refuses(/^error: This script does not install on Windows$/m);
  machine.stub("uname", `if [ "$1" = -s ]; then echo FreeBSD; else echo amd64; fi`);
  await machine.refuses(/^error: No binary for FreeBSD$/m);
  machine.stub("uname", `if [ "$1" = -s ]; then echo Linux; else echo riscv64; fi`);
  await machine.refuses(/^error: No binary for Linux on riscv64$/m);
  assert.deepEqual(machine.mirror.requests, []);
});

Deno.test("install.sh takes the archive of the machine, also in a shell that macOS translates", async () => {
  await using machine = await Machine.create();
  const target = async (system: string, name: string, translated: string): Promise<void> => {
    machine.stub("uname", `if [ "$1" = -s ]; then echo ${system}; else echo ${name}; fi`);
    Deno.writeTextFileSync(join(machine.programs, "sysctl"), `#!/bin/sh\necho ${translated}\n`, {
      mode: 0o755,
    });
    assert.equal((await machine.install()).code, 0);
  };
  const expected: string[] = [];
  for (
    const [system, name, translated, found] of [
      ["Darwin", "arm64", "0", "macos-arm64"],
      ["Darwin", "x86_64", "0", "macos-x64"],
      ["Darwin", "x86_64", "1", "macos-arm64"],
      ["Linux", "aarch64", "0", "linux-arm64"],
      ["Linux", "amd64", "0", "linux-x64"],
    ] as const
  ) {
    await machine.publish("1.0.0", "#!/bin/sh\n", found);
    await target(system, name, translated);
    expected.push(`/releases/download/v1.0.0/reprise-1.0.0-${found}.tar.gz`);
  }
  assert.deepEqual(machine.mirror.requests.filter((path) => path.endsWith(".gz")), expected);
});

for (const [signal, code] of [["INT", 130], ["TERM", 143], ["HUP", 129]] as const) {
  Deno.test(`install.sh that gets SIG${signal} leaves nothing, and the old binary`, async () => {
    await using machine = await Machine.create();
    machine.installOld();
    machine.mirror.delivery.set(machine.archive(), "stall");
    const sh = join(machine.programs, "sh");
    const env = machine.env() as Record<string, string>;
    const defined = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
    const child = new Deno.Command("/usr/bin/setsid", {
      args: [sh, SCRIPT],
      clearEnv: true,
      env: defined,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    // A script that never gets there ends by itself.
    await Promise.race([machine.mirror.stalled, child.status]);
    await run("kill", [`-${signal}`, "--", `-${child.pid}`]);
    const ended = await child.status;
    assert.equal(ended.code, code);
    machine.assertUntouched();
  });
}

Deno.test("install.sh runs nothing if only a part of it arrives", async () => {
  await using machine = await Machine.create();
  const text = Deno.readTextFileSync(SCRIPT);
  const lines = text.split("\n").keys().toArray();
  const parts = lines.map((count) => text.split("\n").slice(0, count).join("\n")).filter((part) =>
    part !== text
  );
  assert.ok(parts.length > 200);
  await Promise.all(
    parts.slice(0, -1).map(async (part, index) => {
      const path = join(machine.directory, `part-${index}`);
      Deno.writeTextFileSync(path, part);
      await run(join(machine.programs, "sh"), [path], { env: machine.env() });
    }),
  );
  assert.deepEqual(machine.mirror.requests, []);
  assert.deepEqual(Array.from(Deno.readDirSync(machine.home)), []);
});

Deno.test("install.sh prints the line for PATH only if the folder is not in it", async () => {
  await using machine = await Machine.create();
  const outside = await assertInstalls(machine, "1.0.0");
  assert.match(outside.stdout, /is not in PATH/);
  assert.ok(outside.stdout.includes(`export PATH="${machine.bin}:$PATH"`), outside.stdout);
  const inside = await assertInstalls(machine, "1.0.0", { PATH: `${machine.bin}:${machine.programs}` });
  assert.doesNotMatch(inside.stdout, /PATH/);
  Deno.writeTextFileSync(join(machine.programs, "reprise"), OLD, { mode: 0o755 });
  const hidden = await assertInstalls(machine, "1.0.0", { PATH: `${machine.programs}:${machine.bin}` });
  assert.ok(hidden.stdout.includes(`Another reprise comes first in PATH: ${machine.programs}/reprise`));
});

Deno.test("install.sh installs into REPRISE_INSTALL_DIR, and refuses one that it cannot write", async () => {
  await using machine = await Machine.create();
  const elsewhere = join(machine.directory, "with space", "bin");
  await assertInstalls(machine, "1.0.0", { REPRISE_INSTALL_DIR: elsewhere });
  // Even root cannot create a file there.
  await machine.refuses(/^error: Cannot write to the folder \/proc$/m, { REPRISE_INSTALL_DIR: "/proc" });
  await machine.refuses(/^error: Cannot create the folder /m, { REPRISE_INSTALL_DIR: `${SCRIPT}/bin` });
  Deno.mkdirSync(join(machine.directory, "taken/reprise"), { recursive: true });
  await machine.refuses(/taken\/reprise is a folder$/m, {
    REPRISE_INSTALL_DIR: join(machine.directory, "taken"),
  });
});

Deno.test("install.sh refuses plain http, a placeholder for the repository, and a version that is a path", async () => {
  await using machine = await Machine.create();
  await machine.refuses(/^error: Cannot download from http:.+: not an https URL$/m, {
    REPRISE_DOWNLOAD_URL: "http://mirror.example/releases",
  });
  await machine.refuses(/does not name a repository$/m, { REPRISE_DOWNLOAD_URL: undefined });
  for (const version of ["../../x", "1.0.0/..", "newest", "1 0"]) {
    await machine.refuses(/which is not a version$/m, { REPRISE_VERSION: version });
  }
  assert.deepEqual(machine.mirror.requests, []);
});

Deno.test("install.sh --print-version prints the version and installs nothing", async () => {
  await using machine = await Machine.create();
  const finished = await machine.install({}, ["--print-version"]);
  assert.equal(finished.code, 0, finished.stderr);
  assert.equal(finished.stdout, "1.0.0\n");
  assert.deepEqual(Array.from(Deno.readDirSync(machine.home)), []);
  const unknown = await machine.install({}, ["--help"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^error: Unknown argument: --help$/m);
});
