// @ts-self-types="./vitest.d.ts"
/**
 * Adapter for vitest.
 *
 * @module
 */
import { replay } from "./index.js";

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
    await use(api);
    if (task.result?.errors === undefined) return await api.end();
    // vitest reports the error of the test itself beside this one.
    const error = await api.explain(undefined);
    if (error !== undefined) throw error;
  };
}
