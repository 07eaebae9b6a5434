// @ts-self-types="./node.d.ts"
/**
 * Adapter for `node:test`.
 *
 * @module
 */
import process from "node:process";
import { replayDuring } from "./index.js";

/**
 * Returns the function of a test that plays its recording.
 *
 * @param {string | URL} folder
 * @param {...any} rest Options, if there are any, and the test.
 */
export function withReplay(folder, ...rest) {
  const run = rest.pop();
  const [options = {}] = rest;
  return (t) => {
    const groups = t.fullName?.split(" > ").slice(0, -1);
    // Node 20 does not name the file, and runs each file in a process of its own.
    const place = { file: t.filePath ?? process.argv[1], ...(groups === undefined ? {} : { groups }) };
    return replayDuring(folder, { test: t.name, ...place, ...options }, (api) => run(t, api));
  };
}
