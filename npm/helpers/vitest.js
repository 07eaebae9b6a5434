// @ts-self-types="./vitest.d.ts"
/**
 * Adapter for vitest: a fixture, a setup file, and a global setup.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { printCounts } from "./counts.js";
import { replay } from "./index.js";
import { isWithin, packageRoot } from "./places.js";
import { watchStrays } from "./strays.js";

export { setup } from "./vitest_session.js";

const CONFIG_FILE = ["vitest.config", "vite.config"].flatMap((name) =>
  ["ts", "mts", "cts", "js", "mjs", "cjs"].map((ending) => `${name}.${ending}`)
);

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
    const place = { file: task.file.filepath, root: projectRoot(task.file), groups };
    const api = await replay(folder, { test: task.name, ...place, ...options });
    await use(api);
    if (task.result?.errors === undefined) return await api.end();
    // vitest reports the error of the test itself beside this one.
    const error = await api.explain(undefined);
    if (error !== undefined) throw error;
  };
}

/**
 * Returns the root of the project of vitest, if it is a part of a package with a configuration of its own: folders of
 * recordings are there then, otherwise in the package.
 */
function projectRoot({ filepath, name }) {
  if (!filepath.endsWith(`/${name}`)) return undefined;
  const root = filepath.slice(0, -name.length - 1);
  const isPart = isWithin(packageRoot(dirname(filepath)), root);
  return isPart && CONFIG_FILE.some((file) => existsSync(join(root, file))) ? root : undefined;
}

/** Fails the tests, and the files, that send requests without a recording. Prints the counts of each file. */
function watchFile({ afterAll, afterEach, beforeEach }) {
  const outside = watchStrays({
    beforeEach: (run) => beforeEach(({ task }) => run(task.name)),
    afterEach: (run) => afterEach(({ task }) => run(task.name)),
  }, "Give the test { api }, or send no request");
  afterAll(async () => {
    printCounts();
    const error = await outside();
    if (error !== null) throw error;
  });
}

// The global setup runs in the main process, which has no tests.
if (process.env.VITEST_WORKER_ID !== undefined) watchFile(await import("vitest"));
