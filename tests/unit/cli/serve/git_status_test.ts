import assert from "node:assert/strict";
import { gitStatus } from "../../../../src/cli/serve/git_status.ts";
import { NO_REPOSITORY } from "../../../../src/fixture/match/rules/named_rules.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { lacksProgram, needing } from "../../../support/needs.ts";
import { test } from "../../../support/test.ts";

/** A directory with one new file, in a repository with these settings. */
async function statusWith(settings: Readonly<Record<string, string>>): Promise<string> {
  const cwd = Deno.realPathSync(Deno.makeTempDirSync());
  const git = async (...args: string[]) => {
    const { success } = await new Deno.Command("git", { args, cwd }).output();
    assert.ok(success, args.join(" "));
  };
  await git("init", "-q");
  for (const [name, value] of Object.entries(settings)) await git("config", name, value);
  Deno.writeTextFileSync(`${cwd}/a.txt`, "a\n");
  const status = gitStatus(denoFiles, cwd);
  assert.throws(() => Deno.statSync(`${cwd}/started`), Deno.errors.NotFound);
  Deno.removeSync(cwd, { recursive: true });
  return status;
}

test.long(needing("Git tells the changes of a repository", lacksProgram("git")), async () => {
  assert.equal(await statusWith({}), "?? a.txt");
});

test.long(needing("Git starts no program that a repository names", lacksProgram("git")), async () => {
  assert.equal(await statusWith({ "core.fsmonitor": "touch started" }), "");
  assert.equal(await statusWith({ "filter.x.clean": "touch started" }), "");
});

test.long("a directory in no repository has no changes", () => {
  assert.equal(gitStatus(denoFiles, "/"), NO_REPOSITORY);
});
