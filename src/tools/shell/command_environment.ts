/**
 * The environment of a command: a short list of ours, so that no key and nothing that steers a program
 * (`LD_PRELOAD`, `GIT_SSH_COMMAND`, …) reaches it.
 *
 * @module
 */

/** Taken over when they are set. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "CI"];
/**
 * Settings for git, at any depth of programs: a directory that merely looks like a repository is none, so that its
 * configuration names no command to run. `git --git-dir` still opens one.
 */
const GIT_SETTINGS = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The whole environment of a command. */
export function commandEnvironment(env: (name: string) => string | undefined): Record<string, string> {
  const result: Record<string, string> = { PATH: searchPath(env("PATH")), TERM: "dumb", ...GIT_SETTINGS };
  for (const name of INHERITED) {
    const value = env(name);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** `PATH` without what depends on the working directory: there, a file of the workspace could pose as `git`. */
function searchPath(path: string | undefined): string {
  const directories = (path ?? "").split(":").filter((directory) => directory.startsWith("/"));
  return directories.length === 0 ? DEFAULT_PATH : directories.join(":");
}
