/**
 * Parts of the rehearsal that all projects have in common.
 *
 * @module
 */
import { KEY, type StoppableApi } from "./api.ts";
import type { Expected, UserTerminal } from "./terminal.ts";

/** Creates a repository below the working directory, and installs the tarballs there, as docs/npm.md says. */
export async function installReprise(terminal: UserTerminal, name: string): Promise<void> {
  await terminal.run(`git init -q ${name}`);
  terminal.cd(name);
  await terminal.run("mkdir vendor && cp -R ../reprise/dist/npm vendor/reprise");
  await terminal.run("npm install --save-dev --offline ./vendor/reprise/*.tgz", {
    page: "docs/npm.md",
    documented: "npm install --save-dev ./vendor/reprise/*.tgz",
  });
  terminal.write(".gitignore", "node_modules/\n__pycache__/\n.pytest_cache/\n");
  terminal.copyFiles("docs/ci.md", ".gitattributes");
}

/** Starts the API, and sets the variables that lead clients there. */
export function goOnline(terminal: UserTerminal, api: StoppableApi): void {
  api.start();
  terminal.note("the API runs");
  terminal.export({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: api.baseUrl });
}

/** Stops the API, and unsets its variables. */
export async function goOffline(terminal: UserTerminal, api: StoppableApi): Promise<void> {
  await api.stop();
  terminal.note("the API is stopped");
  terminal.unset("OPENAI_API_KEY", "OPENAI_BASE_URL");
}

/** Commits everything. @throws {RepriseError} `unexpected` if the key is in a committed file. */
export async function commit(terminal: UserTerminal, message: string): Promise<void> {
  await terminal.run(`git add . && git commit -q -m "${message}"`);
  await terminal.run('! git grep -qF "$OPENAI_API_KEY"');
}

/** Runs a command that records with the API, checks how many requests the API got, and commits the recordings. */
export async function recordAndCommit(
  terminal: UserTerminal,
  api: StoppableApi,
  command: string,
  { requests, message, ...expected }: Expected & { readonly requests: number; readonly message: string },
): Promise<void> {
  await terminal.run(command, expected);
  api.received(requests);
  await commit(terminal, message);
}

/** Stops the API, and runs the tests in a fresh clone of the project, as CI does. */
export async function replayInClone(
  terminal: UserTerminal,
  api: StoppableApi,
  { suite, install, test, ...expected }: Expected & {
    /** The first part of the names of project and clone. */
    readonly suite: string;
    readonly install: string;
    readonly test: string;
  },
): Promise<void> {
  terminal.comment("A fresh clone, as in CI: no key, no API");
  await goOffline(terminal, api);
  await terminal.run(`git clone -q . ../${suite}-ci`);
  terminal.cd(`../${suite}-ci`);
  await terminal.run(install);
  await terminal.run(test, expected);
  terminal.cd(`../${suite}-project`);
}
