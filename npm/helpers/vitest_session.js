/**
 * Sessions of vitest: what its main process reports at the end about the tests of all workers.
 *
 * @module
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { countsLine, LISTS, notedIn } from "./counts.js";
import { isRecordingName, recordingName, testId } from "./names.js";
import { isWithin } from "./places.js";
import { strayError } from "./strays.js";

/**
 * Global setup: at the end of a session, prints the counts, fails for requests that no worker could report, and after one
 * with all tests reports the recordings that belong to no test, or removes them.
 *
 * @param {import("./vitest.js").SessionProject} project
 */
export function setup({ vitest }) {
  // Each project of a workspace has a global setup.
  if (globalThis[Symbol.for("reprise.session")] === vitest) return async () => {};
  globalThis[Symbol.for("reprise.session")] = vitest;
  const lists = process.env[LISTS] = mkdtempSync(join(tmpdir(), "reprise-"));
  return async () => {
    const facts = notedIn(lists);
    rmSync(lists, { recursive: true });
    const total = (member) => facts.reduce((sum, fact) => sum + (fact[member] ?? 0), 0);
    process.stderr.write(countsLine({ served: total("served"), recorded: total("recorded") }));
    const error = await strayError(
      "in test files without the helpers",
      'Add "@reprise-cli/reprise/vitest" to setupFiles, and give each test { api }',
    );
    if (error !== null) {
      process.stderr.write(`error: ${error.message}\n`);
      process.exitCode = 1;
    }
    reportLeft(vitest, facts.flatMap(({ recording = [] }) => recording));
  };
}

/** Reports the recordings without a test in the folders of which all tests are known. */
function reportLeft(vitest, used) {
  const files = vitest.state.getFiles();
  const { related, changed, shard, project, bail, root, dir = root } = vitest.config;
  const isWhole = !vitest.filenamePattern?.length && !related && !changed && !shard && !project?.length &&
    !bail &&
    files.every(({ tasks }) => tasks.length > 0);
  if (!isWhole) return;
  for (const folder of new Set(used.map((recording) => dirname(recording)))) {
    // Tests of other sessions may have recordings in a folder outside.
    if (![root, resolve(root, dir)].every((above) => isWithin(above, folder))) continue;
    const named = files.flatMap((file) => namesIn(folder, file.filepath, file.tasks, []));
    const known = new Set([...used, ...named.map((name) => join(folder, name))]);
    reportWithoutTest(folder, known);
  }
}

/** Names of the recordings of all tests in a file, also of those that did not run. */
function namesIn(folder, file, tasks, groups) {
  return tasks.flatMap(({ name, tasks: inner }) =>
    inner === undefined
      ? [recordingName(name, testId(folder, file, [...groups, name]))]
      : namesIn(folder, file, inner, [...groups, name])
  );
}

function reportWithoutTest(folder, known) {
  const old = readdirSync(folder).filter(isRecordingName).map((name) => join(folder, name))
    .filter((path) => !known.has(path) && existsSync(join(path, "fixture.json")));
  if (old.length === 0) return;
  const [count, belong, them] = old.length === 1
    ? ["1 recording", "belongs", "it"]
    : [`${old.length} recordings`, "belong", "them"];
  let text = `${count} in ${folder} ${belong} to no test: REPRISE_RECORD=prune removes ${them}\n`;
  if (process.env.REPRISE_RECORD === "prune") {
    for (const path of old) rmSync(path, { recursive: true });
    text = old.map((path) => `removed ${path}: it belongs to no test\n`).join("");
  }
  process.stderr.write(text);
}
