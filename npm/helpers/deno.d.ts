import type { AdapterOptions, TestApi } from "./index.js";

/** Members of `Deno.TestContext` that the adapter needs. */
export interface DenoTestContext {
  readonly name: string;
  /** URL of the test's file. */
  readonly origin: string;
  readonly parent?: DenoTestContext | undefined;
}

/** Members of a test's definition. */
export interface ReplayedDefinition<Context extends DenoTestContext> {
  readonly fn: (t: Context) => Promise<void>;
  /** The server stays for later tests. */
  readonly sanitizeOps: false;
  readonly sanitizeResources: false;
}

/**
 * Returns members of a test's definition: its function, which plays the recording or records it, and the sanitizers
 * that a server for several tests does not pass.
 *
 * ```ts
 * Deno.test({ name: "names a river", ...withReplay("fixtures/chat", async (t, api) => { … }) });
 * ```
 *
 * @param folder Folder with the recordings of all tests, from the root of the package of the test.
 */
export declare function withReplay<Context extends DenoTestContext>(
  folder: string | URL,
  run: (t: Context, api: TestApi) => void | Promise<void>,
): ReplayedDefinition<Context>;
export declare function withReplay<Context extends DenoTestContext>(
  folder: string | URL,
  options: AdapterOptions,
  run: (t: Context, api: TestApi) => void | Promise<void>,
): ReplayedDefinition<Context>;
