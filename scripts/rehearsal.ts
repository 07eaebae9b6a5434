/**
 * `deno task rehearsal`: adopts reprise as a user does who has only the tarballs of `deno task pack` and the docs. With
 * an empty HOME, a suite of pytest and one of vitest are recorded against an API on this machine, committed, and
 * replayed without it. Prints each command and its time, and ends with 1 at the first that does not do what the docs say.
 *
 * `--tarballs DIR` takes finished tarballs instead of packing them. Needs npm and its registry, git, and Debian's
 * python3-pytest and python3-httpx.
 *
 * @module
 */
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { outputOf, run } from "./process.ts";
import { StoppableApi } from "./rehearsal/api.ts";
import { rehearsePytest } from "./rehearsal/pytest.ts";
import { seconds, unexpected, UserTerminal } from "./rehearsal/terminal.ts";
import { rehearseVitest } from "./rehearsal/vitest.ts";
import { runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
/** Variables of this machine's network, which npm and the runtime of reprise need. */
const NETWORK =
  /^(https?_proxy|no_proxy|npm_config_(registry|cafile)|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

const PARTS = [["pytest", rehearsePytest], ["vitest", rehearseVitest]] as const;
/** Time in which a user has recorded and replayed a suite. */
const LIMIT_MS = 10 * 60_000;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { tarballs: { type: "string" } } });
  const directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-rehearsal-" }));
  try {
    for (const name of ["home", "reprise/dist/npm"]) {
      Deno.mkdirSync(join(directory, name), { recursive: true });
    }
    await provideTarballs(values.tarballs, join(directory, "reprise/dist/npm"));
    const env = await environment(directory);
    await using api = new StoppableApi();
    const times: string[] = [];
    let totalMs = 0;
    for (const [name, rehearse] of PARTS) {
      const terminal = new UserTerminal(directory, env, say);
      await rehearse(terminal, api);
      times.push(`${name}: ${terminal.commands} commands in ${seconds(terminal.totalMs)} s`);
      totalMs += terminal.totalMs;
    }
    for (const line of ["", ...times, `total: ${seconds(totalMs)} s`]) say(line);
    if (totalMs > LIMIT_MS) throw unexpected(`it took longer than ${LIMIT_MS / 60_000} minutes`);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
  return 0;
}

/** Copies finished tarballs to `out`, or packs new ones there. */
async function provideTarballs(finished: string | undefined, out: string): Promise<void> {
  if (finished !== undefined) {
    for (const { name } of Deno.readDirSync(finished)) {
      if (name.endsWith(".tgz")) Deno.copyFileSync(join(finished, name), join(out, name));
    }
    return;
  }
  const started = performance.now();
  const packed = await run(Deno.execPath(), ["run", "-A", join(ROOT, "scripts/pack.ts"), "--out", out]);
  if (packed.code !== 0) throw new Error(`Cannot pack reprise: ${outputOf(packed)}`);
  say(`# Packed the tarballs in ${seconds(performance.now() - started)} s`);
}

/** The environment of a new user: an empty HOME, Node and the programs of the system. */
async function environment(directory: string): Promise<Record<string, string>> {
  const setting = async (name: string) =>
    outputOf(await run("npm", ["config", "get", name, "--loglevel=silent"]));
  const node = dirname(outputOf(await run("sh", ["-c", "command -v node"])));
  return {
    ...Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => NETWORK.test(name))),
    NO_PROXY: [Deno.env.get("NO_PROXY") ?? "", "127.0.0.1"].filter((hosts) => hosts !== "").join(","),
    npm_config_registry: await setting("registry"),
    HOME: join(directory, "home"),
    PATH: [...new Set([node, "/usr/bin", "/bin"])].join(":"),
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    GIT_AUTHOR_NAME: "Rehearsal",
    GIT_AUTHOR_EMAIL: "rehearsal@example.com",
    GIT_COMMITTER_NAME: "Rehearsal",
    GIT_COMMITTER_EMAIL: "rehearsal@example.com",
  };
}

if (import.meta.main) await runScript(() => main(Deno.args));
