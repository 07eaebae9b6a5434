import assert from "node:assert/strict";
import { gitStatus } from "../../../../src/cli/serve/git_status.ts";
import { NO_REPOSITORY } from "../../../../src/fixture/match/rules/git_forms.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { lacksProgram, needing } from "../../../support/needs.ts";
import { test } from "../../../support/test.ts";

/** A signed commit, whose signature only a program can judge. */
const SIGNED = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
author Ada <ada@example.com> 1795000000 +0000
committer Ada <ada@example.com> 1795000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 
 AAAA
 -----END PGP SIGNATURE-----

Begin
`;

/** State of a repository with one commit, one new file and these settings. */
async function statusWith(settings: Readonly<Record<string, string>>): Promise<string> {
  const cwd = Deno.realPathSync(Deno.makeTempDirSync());
  const git = async (...args: string[]) => {
    const { success, stdout } = await new Deno.Command("git", { args, cwd }).output();
    assert.ok(success, args.join(" "));
    return new TextDecoder().decode(stdout).trim();
  };
  await git("init", "-q", "-b", "shop");
  Deno.writeTextFileSync(`${cwd}/.git/start`, "#!/bin/sh\ntouch started\n", { mode: 0o755 });
  Deno.writeTextFileSync(`${cwd}/.git/signed`, SIGNED);
  await git("hash-object", "-w", "-t", "tree", "/dev/null");
  await git("update-ref", "HEAD", await git("hash-object", "-w", "-t", "commit", ".git/signed"));
  for (const [name, value] of Object.entries(settings)) await git("config", name, value);
  Deno.writeTextFileSync(`${cwd}/a.txt`, "a\n");
  const status = gitStatus(denoFiles, cwd);
  assert.throws(() => Deno.statSync(`${cwd}/started`), Deno.errors.NotFound);
  Deno.removeSync(cwd, { recursive: true });
  return status;
}

test.long(needing("Git tells the changes of a repository", lacksProgram("git")), async () => {
  assert.match(await statusWith({}), /^## shop\n\?\? a\.txt\n[0-9a-f]{7,} Begin$/);
  const settings = {
    "log.showSignature": "true",
    "gpg.program": "touch started",
    "core.pager": "touch started",
  };
  assert.match(
    await statusWith({ ...settings, "format.pretty": "%B" }),
    /^## shop\n[^\n]*\n[0-9a-f]{7,} Begin$/,
  );
});

test.long(needing("Git starts no program that a repository names", lacksProgram("git")), async () => {
  assert.equal(await statusWith({ "core.fsmonitor": "touch started" }), "");
  assert.equal(await statusWith({ "filter.x.clean": "touch started" }), "");
  const remote = { "remote.x.url": "ext::touch started", "remote.x.promisor": "true" };
  assert.equal(await statusWith({ ...remote, "protocol.ext.allow": "always" }), "");
});

test.long("a directory in no repository has no changes", () => {
  assert.equal(gitStatus(denoFiles, "/"), NO_REPOSITORY);
});
