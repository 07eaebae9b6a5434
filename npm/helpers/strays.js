/**
 * Requests of tests without a recording. They get no answer of an API, and fail their test, or the end of the run.
 *
 * @module
 */
import { takeRefused } from "./network.js";
import { gateway } from "./server.js";

/**
 * Fails each test that sends requests without a recording, by the hooks of its runner.
 *
 * @param {object} hooks Each calls a function with the name of a test.
 * @param {(run: (name: string) => Promise<void>) => void} hooks.beforeEach
 * @param {(run: (name: string) => Promise<void>) => void} hooks.afterEach
 * @param {string} cure
 * @returns {() => Promise<Error | null>} returns the error about requests outside of tests.
 */
export function watchStrays({ beforeEach, afterEach }, cure) {
  const running = new Set();
  const outside = [];
  const leave = async () => {
    const error = await strayError("outside of the tests of a file", cure);
    if (error !== null) outside.push(error);
  };
  beforeEach(async (name) => {
    running.add(name);
    await leave();
  });
  afterEach(async (name) => {
    const names = [...running].map((each) => JSON.stringify(each)).join(", ");
    running.delete(name);
    const error = await strayError(`while ${names} ran`, cure);
    if (error !== null) throw error;
  });
  return async () => {
    await leave();
    return outside[0] ?? null;
  };
}

/**
 * Returns an error about the requests that came while no test with a recording ran, and forgets them; `null` if none came.
 *
 * @param {string} when Such as `while "a" ran`.
 * @param {string} cure
 * @returns {Promise<Error | null>}
 */
export async function strayError(when, cure) {
  const { requests } = await gateway.ask({ type: "strays" });
  const counts = new Map();
  for (const text of [...requests, ...takeRefused()]) counts.set(text, (counts.get(text) ?? 0) + 1);
  if (counts.size === 0) return null;
  const listed = [...counts].map(([text, count]) => `- ${text}${count === 1 ? "" : `, ${count} times`}`);
  const message = [`Requests without a recording, ${when}:`, ...listed, cure].join("\n");
  // Runners show the code at the first line of a stack, which would be that of the helpers.
  return Object.assign(new Error(message), { stack: `Error: ${message}` });
}
