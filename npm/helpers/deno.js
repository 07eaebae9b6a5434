// @ts-self-types="./deno.d.ts"
/**
 * Adapter for `Deno.test`.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { replayDuring } from "./index.js";
import { watchStrays } from "./strays.js";

/**
 * Returns members of a test's definition: its function, which plays the recording, and the sanitizers that a server for
 * several tests does not pass.
 *
 * @param {string | URL} folder
 * @param {...any} rest Options, if there are any, and the test.
 */
export function withReplay(folder, ...rest) {
  const run = rest.pop();
  const [options = {}] = rest;
  const fn = (t) => {
    const groups = [];
    for (let parent = t.parent; parent !== undefined; parent = parent.parent) groups.unshift(parent.name);
    const place = { file: fileURLToPath(t.origin), groups };
    return replayDuring(folder, { test: t.name, ...place, ...options }, (api) => run(t, api));
  };
  return { fn, sanitizeOps: false, sanitizeResources: false };
}

// Deno before 2.5 has no hooks; the gateway prints such requests all the same.
const { beforeEach, afterEach, afterAll } = globalThis.Deno?.test ?? {};
if (afterAll !== undefined) {
  // Its hooks do not get the name of the test.
  const of = (hook) => (run) => hook(() => run("this test"));
  const hooks = { beforeEach: of(beforeEach), afterEach: of(afterEach) };
  const outside = watchStrays(hooks, "Give the test withReplay(), or send no request");
  afterAll(async () => {
    const error = await outside();
    if (error !== null) throw error;
  });
}
