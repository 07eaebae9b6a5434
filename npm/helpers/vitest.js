// @ts-self-types="./vitest.d.ts"
/**
 * Adapter for vitest.
 *
 * @module
 */
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { threadId } from "node:worker_threads";
import { replay } from "./index.js";
import { isRecordingName, recordingName, testId } from "./names.js";

/** Variable with the folder in which each worker lists the recordings of its tests. */
const LISTS = "REPRISE_TEST_LISTS";

/**
 * Returns a fixture of vitest with the APIs of each test.
 *
 * @param {string | URL} folder
 * @param {import("./index.js").AdapterOptions} options
 */
export function withReplay(folder, options = {}) {
  return async ({ task }, use) => {
    const groups = [];
    for (let suite = task.suite; suite !== undefined; suite = suite.suite) groups.unshift(suite.name);
    const place = { file: task.file.filepath, groups };
    const api = await replay(folder, { test: task.name, ...place, ...options });
    const lists = process.env[LISTS];
    if (lists !== undefined) appendFileSync(join(lists, `${process.pid}-${threadId}`), `${api.recording}\n`);
    await use(api);
    if (task.result?.errors === undefined) return await api.end();
    // vitest reports the error of the test itself beside this one.
    const error = await api.explain(undefined);
    if (error !== undefined) throw error;
  };
}

/**
 * Global setup: at the end of a session with all tests, reports the recordings that belong to no test, or removes them.
 *
 * @param {import("./vitest.js").SessionProject} project
 */
export function setup({ vitest }) {
  const lists = process.env[LISTS] = mkdtempSync(join(tmpdir(), "reprise-"));
  return () => {
    const used = readdirSync(lists).flatMap((name) =>
      readFileSync(join(lists, name), "utf8").trim().split("\n")
    );
    rmSync(lists, { recursive: true });
    const files = vitest.state.getFiles();
    const { related, changed, shard } = vitest.config;
    const isWhole = !vitest.filenamePattern?.length && !related && !changed && !shard &&
      files.every(({ tasks }) => tasks.length > 0);
    if (!isWhole) return;
    for (const folder of new Set(used.map(dirname))) {
      const named = files.flatMap((file) => namesIn(folder, file.filepath, file.tasks, []));
      const known = new Set([...used, ...named.map((name) => join(folder, name))]);
      reportWithoutTest(folder, known);
    }
  };
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
  const place = (path) => relative("", path);
  const [count, belong, them] = old.length === 1
    ? ["1 recording", "belongs", "it"]
    : [`${old.length} recordings`, "belong", "them"];
  let text = `${count} in ${place(folder)} ${belong} to no test: REPRISE_RECORD=prune removes ${them}\n`;
  if (process.env.REPRISE_RECORD === "prune") {
    for (const path of old) rmSync(path, { recursive: true });
    text = old.map((path) => `removed ${place(path)}: it belongs to no test\n`).join("");
  }
  process.stderr.write(text);
}
