import type { TestContext } from "node:test";
import type { AdapterOptions, TestApi } from "./index.js";

/** Function of a test with its APIs. */
export type ReplayedTest = (t: TestContext, api: TestApi) => void | Promise<void>;

/**
 * Returns the function of a test that plays its recording, or records it.
 *
 * ```ts
 * test("names a river", withReplay("fixtures/chat", async (t, api) => { … }));
 * ```
 *
 * @param folder Folder with the recordings of all tests, from the root of the package of the test.
 */
export declare function withReplay(
  folder: string | URL,
  run: ReplayedTest,
): (t: TestContext) => Promise<void>;
export declare function withReplay(
  folder: string | URL,
  options: AdapterOptions,
  run: ReplayedTest,
): (t: TestContext) => Promise<void>;
