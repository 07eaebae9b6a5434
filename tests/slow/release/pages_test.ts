/** docs/releasing.md and the action's section of docs/ci.md agree with the code, and their commands run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import { outputOf, run } from "../../../scripts/process.ts";
import { blocksOf } from "../../support/page.ts";
import { ACTION } from "./action_runner.ts";
import { Checkout, VERSION } from "./checkout.ts";

const CI = Deno.readTextFileSync("docs/ci.md");
const RELEASING = Deno.readTextFileSync("docs/releasing.md");

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>;
}

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

/** Returns the names in the first column of the table that begins with `header`. */
function firstColumn(page: string, header: string): string[] {
  const table = page.slice(page.indexOf(`| ${header}`)).split("\n\n")[0] ?? "";
  return table.split("\n").slice(2).flatMap((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? []);
}

Deno.test("docs/ci.md lists the inputs and outputs of the action", () => {
  assert.deepEqual(firstColumn(CI, "input ").sort(), Object.keys(ACTION.inputs).sort());
  for (const output of Object.keys(ACTION.outputs)) assert.ok(CI.includes(`\`${output}\``), output);
});

Deno.test("the workflow of docs/ci.md gives the action only inputs that it has", () => {
  const block = blocksOf(CI).find(({ path }) => path === ".github/workflows/llm.yml");
  const { jobs } = parse(block?.text ?? "") as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? [])
    .filter(({ uses = "" }) => uses.startsWith("OWNER/reprise@"));
  assert.equal(steps.length, 2);
  for (const step of steps) {
    for (const name of Object.keys(step.with ?? {})) assert.ok(name in ACTION.inputs, name);
    assert.ok(step.uses?.endsWith(`@v${VERSION}`));
  }
});

Deno.test("docs/releasing.md lists the jobs of release.yml in their order", () => {
  const { jobs } = parse(Deno.readTextFileSync(".github/workflows/release.yml")) as Workflow;
  assert.deepEqual(firstColumn(RELEASING, "job "), Object.keys(jobs));
});

Deno.test("the commands of docs/releasing.md check a release and verify its files", async () => {
  using checkout = await Checkout.create();
  checkout.addStubs();
  const bin = join(checkout.directory, "bin");
  Deno.mkdirSync(bin);
  // The only command that needs GitHub: its file must exist.
  Deno.writeTextFileSync(join(bin, "gh"), '#!/bin/sh\n[ "$1 $2" = "attestation verify" ] && [ -f "$3" ]\n', {
    mode: 0o755,
  });
  Deno.writeTextFileSync(join(bin, "deno"), `#!/bin/sh\nexec '${Deno.execPath()}' "$@"\n`, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${Deno.env.get("PATH")}`,
    ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" },
    ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" },
  };
  const released = await checkout.releaseStubs();
  assert.equal(released.code, 0, outputOf(released));
  await checkout.git("tag", "-d", `v${VERSION}`);

  const [check, verify, ...others] = blocksOf(RELEASING).filter(({ language }) => language === "sh");
  assert.equal(others.length, 0);
  const checked = await run("sh", ["-ec", check?.text ?? ""], { cwd: checkout.root, env });
  assert.equal(checked.code, 0, outputOf(checked));
  assert.match(checked.stdout, /CHANGELOG\.md, tag and checkout agree/);
  const verified = await run("sh", ["-ec", verify?.text ?? ""], { cwd: join(checkout.out, "assets"), env });
  assert.equal(verified.code, 0, outputOf(verified));

  const files = firstColumn(RELEASING, "file ").map((name) =>
    name.replace("X.Y.Z", VERSION).replace("TARGET", "linux-x64")
  );
  for (const name of files) assert.ok(Deno.statSync(join(checkout.out, "assets", name)).isFile, name);
});
