/** The action: its scripts run here, with a release on a mirror, and docs/ci.md agrees with it. */
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { type Finished, outputOf, run } from "../../scripts/process.ts";
import { blocksOf } from "../support/page.ts";
import { Mirror, programOf } from "./mirror.ts";

const { inputs, runs } = parse(Deno.readTextFileSync("action.yml"));
const [install, start] = runs.steps as readonly { readonly run: string }[];
const CI = Deno.readTextFileSync("docs/ci.md");

/** A runner with a release whose executable prints its arguments and ends with the length of the first. */
class Runner implements AsyncDisposable {
  readonly directory = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-action-" }));
  readonly mirror = new Mirror();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mirror[Symbol.asyncDispose]();
    Deno.removeSync(this.directory, { recursive: true });
  }

  step(step: { readonly run: string } | undefined, env: Readonly<Record<string, string>>): Promise<Finished> {
    return run("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step?.run ?? "exit 9"], {
      cwd: this.directory,
      env: {
        ...{ ACTION_REF: "", REPRISE_VERSION: "", REPRISE_DOWNLOAD_URL: this.mirror.url },
        ...{ GITHUB_ACTION_PATH: resolve("."), GITHUB_PATH: join(this.directory, "path") },
        ...{ NO_PROXY: "127.0.0.1", REPRISE_INSTALL_DIR: join(this.directory, "bin"), ...env },
      },
    });
  }
}

Deno.test("the input, else the tag of the action, names the version that is installed and put in PATH", async () => {
  await using runner = new Runner();
  for (const version of ["1.0.0", "1.1.0"]) {
    await runner.mirror.publish(version, programOf(version));
  }
  for (
    const [REPRISE_VERSION, ACTION_REF, expected] of [
      ["", "main", "1.1.0"],
      ["", "v1", "1.1.0"],
      ["", "v1.0.0", "1.0.0"],
      ["1.1.0", "v1.0.0", "1.1.0"],
    ] as const
  ) {
    const installed = await runner.step(install, { REPRISE_VERSION, ACTION_REF });
    assert.equal(installed.code, 0, outputOf(installed));
    const { stdout } = await run(join(runner.directory, "bin/reprise"), ["--version"]);
    assert.equal(stdout, `${expected}\n`);
  }
  const [path] = Deno.readTextFileSync(join(runner.directory, "path")).split("\n");
  assert.equal(path, join(runner.directory, "bin"));
  assert.equal((await runner.step(install, { REPRISE_VERSION: "3.0.0" })).code, 1);
});

Deno.test("the action gives reprise one argument for each line, unchanged, and ends as reprise ends", async () => {
  await using runner = new Runner();
  Deno.writeTextFileSync(join(runner.directory, "reprise"), `#!/bin/sh\nprintf '[%s]' "$@"\nexit 7\n`, {
    mode: 0o755,
  });
  const args = ["serve", "a b", "$(touch injected)", "`touch injected`", "'; touch injected", "*", "--"];
  const PATH = `${runner.directory}:${Deno.env.get("PATH")}`;
  const ended = await runner.step(start, { PATH, ARGS: `${args.join("\n")}\n` });
  assert.deepEqual([ended.code, ended.stdout], [7, args.map((text) => `[${text}]`).join("")]);
  assert.deepEqual(Array.from(Deno.readDirSync(runner.directory), ({ name }) => name), ["reprise"]);
});

Deno.test("docs/ci.md lists the inputs of the action, and its workflow gives no others", () => {
  const section = CI.split("## The GitHub action")[1]?.split("\n## ")[0] ?? "";
  const listed = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), Object.keys(inputs).sort());
  const block = blocksOf(section).find(({ path }) => path === ".github/workflows/llm.yml");
  const { jobs } = parse(block?.text ?? "");
  for (const job of Object.values(jobs) as { steps: { uses?: string; with?: object }[] }[]) {
    for (
      const { uses, with: given = {} } of job.steps.filter(({ uses = "" }) => uses.includes("/reprise@"))
    ) {
      const { version } = JSON.parse(Deno.readTextFileSync("deno.json"));
      assert.equal(uses, `OWNER/reprise@v${version}`);
      for (const name of Object.keys(given)) assert.ok(name in inputs, name);
    }
  }
});
