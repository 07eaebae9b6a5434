/** `install.sh` against a mirror on 127.0.0.1. */
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { type Finished, run } from "../../scripts/process.ts";
import { PROGRAM } from "../support/reprise.ts";
import { archiveOf, Mirror, NAME, programOf } from "./mirror.ts";

const SCRIPT = resolve("install.sh");
/** Programs that the script needs beside one for checksums. */
const PROGRAMS = ["sh", "curl", "uname", "awk", "cut", "mktemp", "mkdir", "rm", "tar", "gzip", "mv"];
const OLD = "#!/bin/sh\necho old\n";
type Env = Readonly<Record<string, string | undefined>>;

/** A home, a mirror with the releases 0.9.0 and 1.0.0, and a PATH with a few programs only. */
class Machine implements AsyncDisposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-install-" }));
  readonly home = join(this.directory, "home");
  readonly bin = join(this.home, ".local/bin");
  readonly programs = join(this.directory, "programs");
  readonly mirror = new Mirror();

  static async create(...programs: readonly string[]): Promise<Machine> {
    const machine = new Machine();
    Deno.mkdirSync(machine.home);
    Deno.mkdirSync(machine.programs);
    for (const name of [...PROGRAMS, ...programs.length === 0 ? ["sha256sum"] : programs]) {
      const { stdout } = await run("sh", ["-c", `command -v ${name}`]);
      Deno.symlinkSync(stdout.trim(), join(machine.programs, name));
    }
    for (const version of ["0.9.0", "1.0.0"]) {
      await machine.mirror.publish(version, programOf(version));
    }
    return machine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mirror[Symbol.asyncDispose]();
    Deno.removeSync(this.directory, { recursive: true });
  }

  env(more: Env = {}): Record<string, string | undefined> {
    const unset = { REPRISE_INSTALL_DIR: undefined, REPRISE_VERSION: undefined };
    return {
      ...{ HOME: this.home, PATH: this.programs, REPRISE_DOWNLOAD_URL: this.mirror.url },
      ...{ NO_PROXY: "127.0.0.1,localhost", ...unset, ...more },
    };
  }

  install(more: Env = {}): Promise<Finished> {
    return run(join(this.programs, "sh"), [SCRIPT], { env: this.env(more), cwd: this.directory });
  }

  async installs(version: string, more: Env = {}): Promise<Finished> {
    const finished = await this.install(more);
    assert.equal(finished.code, 0, finished.stderr);
    const directory = more["REPRISE_INSTALL_DIR"] ?? this.bin;
    assert.equal((await run(join(directory, "reprise"), ["--version"])).stdout, `${version}\n`);
    assert.deepEqual(Array.from(Deno.readDirSync(directory), ({ name }) => name), ["reprise"]);
    return finished;
  }

  /** An installed binary, which a failure must leave alone. */
  installOld(): void {
    Deno.mkdirSync(this.bin, { recursive: true });
    Deno.writeTextFileSync(join(this.bin, "reprise"), OLD, { mode: 0o755 });
  }

  assertOld(): void {
    assert.deepEqual(Array.from(Deno.readDirSync(this.bin), ({ name }) => name), ["reprise"]);
    assert.equal(Deno.readTextFileSync(join(this.bin, "reprise")), OLD);
  }

  /** Runs the script, which must fail and leave the old binary and nothing else. */
  async refuses(message: RegExp, more: Env = {}): Promise<void> {
    this.installOld();
    const finished = await this.install(more);
    assert.equal(finished.code, 1, finished.stdout + finished.stderr);
    assert.match(finished.stderr, message);
    assert.match(finished.stderr, /^hint: ./m);
    this.assertOld();
  }
}

Deno.test("install.sh installs the latest release, or that of REPRISE_VERSION, in one folder", async () => {
  await using machine = await Machine.create();
  const { stdout } = await machine.installs("1.0.0");
  assert.ok(stdout.includes(`Add ${machine.bin} to PATH`), stdout);
  const path = { PATH: `${machine.bin}:${machine.programs}` };
  assert.doesNotMatch(
    (await machine.installs("0.9.0", { REPRISE_VERSION: "0.9.0", ...path })).stdout,
    /PATH/,
  );
  await machine.installs("1.0.0", { REPRISE_VERSION: "v1.0.0" });
  await machine.installs("1.0.0", { REPRISE_INSTALL_DIR: join(machine.directory, "with space", "bin") });
});

Deno.test("install.sh verifies with shasum where sha256sum is missing", async () => {
  await using machine = await Machine.create("shasum", "perl");
  await machine.installs("1.0.0");
  machine.mirror.add("1.0.0", `${NAME}.tar.gz`, await archiveOf(NAME, "#!/bin/sh\necho changed\n"));
  await machine.refuses(/^error: The checksum of reprise-linux-/m);
});

Deno.test("install.sh refuses an archive that SHA256SUMS does not name once with its checksum", async () => {
  await using machine = await Machine.create();
  const archive = await archiveOf(NAME, "#!/bin/sh\necho changed\n");
  for (const bytes of [archive, archive.subarray(0, 50), new Uint8Array()]) {
    machine.mirror.add("1.0.0", `${NAME}.tar.gz`, bytes);
    await machine.refuses(/^error: The checksum of reprise-linux-/m);
  }
  const sums = new TextDecoder().decode(machine.mirror.files.get("/releases/download/v0.9.0/SHA256SUMS")!);
  const [line = ""] = sums.split("\n");
  for (
    const text of ["", "<html></html>\n", line.replace(NAME, "other"), `${line}\n${line}\n`, `x${line}\n`]
  ) {
    machine.mirror.addSums("0.9.0", text);
    await machine.refuses(/^error: The checksum of reprise-linux-/m, { REPRISE_VERSION: "0.9.0" });
  }
  await using without = await Machine.create("cat");
  await without.refuses(/^error: The checksum of reprise-linux-\S+ is "", and/m);
  without.mirror.addSums("1.0.0", "");
  await without.refuses(/^error: The checksum of reprise-linux-\S+ is "", and SHA256SUMS has ""$/m);
});

Deno.test("install.sh refuses files that are missing, and a binary that does not start", async () => {
  await using machine = await Machine.create();
  await machine.mirror.publish("1.0.0", "#!/bin/sh\nexit 127\n");
  await machine.refuses(/^error: The downloaded reprise does not start$/m);
  for (const checked of ["", '{"name":"executable","level":"failed"}']) {
    await machine.mirror.publish("1.0.0", programOf("1.0.0").replace(/'{.*}'/, `'${checked}'`));
    await machine.refuses(/^error: The downloaded reprise does not fit its own checksum$/m);
  }
  for (const name of [`${NAME}.tar.gz`, "SHA256SUMS"]) {
    machine.mirror.files.delete(`/releases/latest/download/${name}`);
    await machine.refuses(new RegExp(`^error: Cannot download http://127\\S+/${name}$`, "m"));
  }
});

Deno.test({
  name: "install.sh names a binary that was cut or changed before it was packed in two lines",
  ignore: PROGRAM.length > 1 || Deno.build.os !== "linux",
  fn: async () => {
    await using machine = await Machine.create();
    const [program = ""] = PROGRAM;
    const bytes = Deno.readFileSync(program);
    const middle = bytes.length >> 1;
    for (
      const damaged of [
        bytes.subarray(0, -1),
        bytes.subarray(0, middle),
        bytes.with(middle, bytes[middle]! ^ 1),
      ]
    ) {
      await machine.mirror.publish("1.0.0", damaged);
      await machine.refuses(
        /^error: The downloaded reprise does not (?:start|fit its own checksum)\nhint: .*\n$/,
      );
    }
    await machine.mirror.publish("1.0.0", bytes);
    const { code, stderr } = await machine.install();
    assert.equal(code, 0, stderr);
  },
});

Deno.test("install.sh takes the archive of the machine, and refuses systems without one", async () => {
  await using machine = await Machine.create();
  Deno.removeSync(join(machine.programs, "uname"));
  for (
    const [system, name, found] of [
      ["Darwin", "arm64", "macos-arm64"],
      ["Darwin", "x86_64", "macos-x64"],
      ["Linux", "aarch64", "linux-arm64"],
      ["Linux", "amd64", "linux-x64"],
      ["Linux", "riscv64", null],
      ["MINGW64_NT-10.0", "x86_64", null],
    ] as const
  ) {
    const script = `#!/bin/sh\nif [ "$1" = -s ]; then echo ${system}; else echo ${name}; fi\n`;
    Deno.writeTextFileSync(join(machine.programs, "uname"), script, { mode: 0o755 });
    if (found === null) await machine.refuses(new RegExp(`^error: No binary for ${system} on ${name}$`, "m"));
    else {
      await machine.mirror.publish("1.0.0", programOf(found), `reprise-${found}`);
      await machine.installs(found);
    }
  }
});

Deno.test("install.sh downloads from https URLs and from this machine only", async () => {
  await using machine = await Machine.create();
  const { port } = new URL(machine.mirror.url);
  await machine.installs("1.0.0", { REPRISE_DOWNLOAD_URL: `http://localhost:${port}/releases/` });
  // Reports what the script would fetch, and fetches nothing.
  Deno.removeSync(join(machine.programs, "curl"));
  const log = join(machine.directory, "fetched");
  Deno.writeTextFileSync(join(machine.programs, "curl"), `#!/bin/sh\necho "$@" >>'${log}'\nexit 1\n`, {
    mode: 0o755,
  });
  for (
    const url of [
      "http://mirror.example/releases",
      "http://127.0.0.1:80@evil.example/releases",
      "http://localhost@evil.example/releases",
      "http://127.0.0.1.evil.example/releases",
      "http://evil.example#127.0.0.1:80/releases",
      "http://evil.example\\@127.0.0.1/releases",
      "https://user:key@mirror.example/releases",
      "https://mirror.example/releases?x=",
      "https://mirror.example/releases/../..",
      "file:///releases",
      "-K/etc/passwd",
    ]
  ) await machine.refuses(/^error: Cannot download from /m, { REPRISE_DOWNLOAD_URL: url });
  for (const REPRISE_VERSION of ["1/../../x", "1 0", "1?x"]) {
    await machine.refuses(/^error: Cannot download from /m, { REPRISE_VERSION });
  }
  await machine.refuses(/names no repository$/m, { REPRISE_DOWNLOAD_URL: undefined });
  assert.throws(() => Deno.statSync(log), Deno.errors.NotFound);
  const https = { REPRISE_DOWNLOAD_URL: "https://mirror.example/releases" };
  await machine.refuses(/^error: Cannot download https:\/\/mirror\.example\/releases\/latest/m, https);
  assert.match(Deno.readTextFileSync(log), /^--proto =http,https --proto-redir =https .*\/SHA256SUMS$/m);
});

Deno.test("install.sh refuses a folder that it cannot write, and one with a folder named reprise", async () => {
  await using machine = await Machine.create();
  Deno.mkdirSync(join(machine.directory, "taken/reprise"), { recursive: true });
  // Even root cannot create a file in /proc.
  for (const folder of ["/proc", `${SCRIPT}/bin`, join(machine.directory, "taken")]) {
    await machine.refuses(/^error: Cannot install into /m, { REPRISE_INSTALL_DIR: folder });
  }
  assert.deepEqual(machine.mirror.requests, []);
});

Deno.test("install.sh that gets a signal leaves nothing, and the old binary", async () => {
  for (const signal of ["INT", "TERM", "HUP"]) {
    await using machine = await Machine.create();
    machine.installOld();
    machine.mirror.add("1.0.0", `${NAME}.tar.gz`, null);
    const env = JSON.parse(JSON.stringify(machine.env()));
    const args = [join(machine.programs, "sh"), SCRIPT];
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    const child = new Deno.Command("/usr/bin/setsid", { args, clearEnv: true, env, ...quiet }).spawn();
    await Promise.race([machine.mirror.stalled, child.status]);
    await run("kill", [`-${signal}`, "--", `-${child.pid}`]);
    assert.equal((await child.status).code, 1);
    machine.assertOld();
  }
});

Deno.test("install.sh runs nothing if only a part of it arrives", async () => {
  await using machine = await Machine.create();
  const text = Deno.readTextFileSync(SCRIPT);
  const whole = text.indexOf('main "$@"') + "main".length;
  const sizes = [...Array(whole).keys()].filter((size) => size % 7 === 0 || size > whole - 20);
  const part = join(machine.directory, "part");
  for (const size of sizes) {
    Deno.writeTextFileSync(part, text.slice(0, size));
    await run(join(machine.programs, "sh"), [part], { env: machine.env() });
  }
  assert.deepEqual(machine.mirror.requests, []);
  assert.deepEqual([...Deno.readDirSync(machine.home)], []);
});
