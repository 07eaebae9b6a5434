import type { AdapterOptions, TestApi } from "./index.js";

/** Group of tests, with the members that the adapter needs. */
interface Group {
  readonly name: string;
  readonly suite?: Group | undefined;
}

/** Context of a fixture, with the members that the adapter needs. */
interface FixtureContext {
  readonly task: {
    readonly name: string;
    readonly suite?: Group | undefined;
    readonly file: { readonly filepath: string };
    readonly result?: { readonly errors?: readonly unknown[] | undefined } | undefined;
  };
}

/**
 * Returns a fixture of vitest with the APIs of each test.
 *
 * ```ts
 * export const test = base.extend<{ api: TestApi }>({ api: withReplay("fixtures/chat") });
 * ```
 *
 * @param folder Folder with the recordings of all tests, from the working directory.
 */
export declare function withReplay(
  folder: string | URL,
  options?: AdapterOptions,
): (context: FixtureContext, use: (api: TestApi) => Promise<void>) => Promise<void>;

/** Project of vitest, with the members that the global setup needs. */
export interface SessionProject {
  readonly vitest: {
    readonly filenamePattern?: readonly string[] | undefined;
    // deno-lint-ignore no-explicit-any
    readonly config: any;
    // deno-lint-ignore no-explicit-any
    readonly state: any;
  };
}

/**
 * Global setup of vitest: at the end of a session with all tests, it reports the recordings that belong to no test, or
 * removes them with `REPRISE_RECORD=prune`.
 */
export declare function setup(project: SessionProject): () => void;
