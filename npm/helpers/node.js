// @ts-self-types="./node.d.ts"
/**
 * Adapter for `node:test`.
 *
 * @module
 */
import process from "node:process";
import { afterEach, beforeEach } from "node:test";
import { replayDuring } from "./index.js";
import { watchStrays } from "./strays.js";

/**
 * Returns the function of a test that plays its recording.
 *
 * @param {string | URL} folder
 * @param {...any} rest Options, if there are any, and the test.
 */
export function withReplay(folder, ...rest) {
  const run = rest.pop();
  const [options = {}] = rest;
  failStrays();
  return (t) => {
    const groups = t.fullName?.split(" > ").slice(0, -1);
    // Node 20 does not name the file, and runs each file in a process of its own.
    const place = { file: t.filePath ?? process.argv[1], ...(groups === undefined ? {} : { groups }) };
    return replayDuring(folder, { test: t.name, ...place, ...options }, (api) => run(t, api));
  };
}

let isWatching = false;

/** Fails the tests of this process, and the process, that send requests without a recording. */
function failStrays() {
  if (isWatching) return;
  isWatching = true;
  const outside = watchStrays({
    beforeEach: (run) => beforeEach(({ name }) => run(name)),
    afterEach: (run) => afterEach(({ name }) => run(name)),
  }, "Give the test withReplay(), or send no request");
  process.once("beforeExit", async () => {
    const error = await outside();
    if (error === null) return;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  });
}

// The process that starts one for each test file has no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) failStrays();
