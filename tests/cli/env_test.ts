/** Environment of commands of the shell tool; text in files has no effect on it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { KEY, Place } from "./harness.ts";
import { calling, eventsOf, NEW_RUN, shellArgv, shellLine } from "./changes.ts";

/** Variables that the documentation lists. */
const LISTED = [
  ...["PATH", "TERM", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "CI"],
  ...["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"],
];
/** Variables that a shell adds itself. */
const OF_A_SHELL = ["PWD", "OLDPWD", "SHLVL", "_"];
const SECRET = "secret-9b1d-of-somebody";
/** Keys, and variables by which a program is made to run another one. */
const UNLISTED = [
  ...[
    "ANTHROPIC_API_KEY",
    "AZURE_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "DATABASE_URL",
    "PGPASSWORD",
  ],
  ...[
    "SSH_AUTH_SOCK",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
    "BASH_ENV",
    "ENV",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
  ],
  ...["LD_LIBRARY_PATH", "PERL5OPT", "EDITOR", "PAGER", "HTTPS_PROXY", "REPRISE_EFFORT"],
];
const LOCALE = { LANG: "C.UTF-8", LC_ALL: "C.UTF-8", USER: "someone", LOGNAME: "someone", CI: "1" };

/** The variables that the first call printed. */
function printed(place: Place): Map<string, string> {
  const [result] = eventsOf(place, "tool_result");
  assert.equal(result.status, "ok", result.output);
  const lines: string[] = result.output.split("\n").slice(1).filter((line: string) => line.includes("="));
  return new Map(lines.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]));
}

function shows(command: ReturnType<typeof shellArgv>, allowed: readonly string[]) {
  return async () => {
    await using place = new Place(calling(command));
    const unlisted = Object.fromEntries(UNLISTED.map((name) => [name, SECRET]));
    // A proxy must be a URL, and an effort a word; neither may show.
    const env = { ...unlisted, ...LOCALE, HTTPS_PROXY: `http://${SECRET}.invalid:1`, NODE_OPTIONS: "" };
    const called = await place.call([...NEW_RUN, "--allow", "shell", "Go"], { env });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const variables = printed(place);
    assert.deepEqual([...variables.keys()].filter((name) => !allowed.includes(name)), []);
    for (const [name, value] of Object.entries(LOCALE)) assert.equal(variables.get(name), value, name);
    assert.equal(variables.get("TERM"), "dumb");
    assert.equal(variables.get("GIT_CONFIG_KEY_0"), "safe.bareRepository");
    assert.equal(variables.get("PATH"), "/usr/bin:/bin");
    assert.equal(variables.get("HOME"), place.sandbox.directory);
    for (const text of [called.stdout, JSON.stringify(eventsOf(place, "tool_result"))]) {
      assert.ok(!text.includes(KEY) && !text.includes(SECRET), "no key and no secret");
    }
  };
}

test.long(
  "a command gets the listed variables and no other: no key, nothing that steers a program: a program",
  shows(shellArgv("env"), LISTED),
);

test.long(
  "a command gets the listed variables and no other: no key, nothing that steers a program: a program of a command line",
  shows(shellLine("env"), LISTED),
);

test.long(
  "a command gets the listed variables and no other: no key, nothing that steers a program: a shell",
  shows(shellLine("true; env"), [...LISTED, ...OF_A_SHELL]),
);

test.long("a command gets the listed variables and no other: no key, nothing that steers a program: a search path without what depends on the working directory", async () => {
  await using place = new Place(calling(shellArgv("env"), shellArgv("planted")));
  const { workspace } = place.sandbox;
  Deno.writeTextFileSync(`${workspace}/planted`, "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  const env = { PATH: ".:/usr/bin:/bin::bin" };
  await place.call([...NEW_RUN, "--allow", "shell", "Go"], { env });
  assert.equal(printed(place).get("PATH"), "/usr/bin:/bin");
  assert.throws(() => Deno.statSync(`${workspace}/ran`), Deno.errors.NotFound);
});
