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
    /** `name` is the path from the root of the project. */
    readonly file: { readonly filepath: string; readonly name: string };
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
 * @param folder Folder with the recordings of all tests, from the root of the package of the test, or of its project in vitest.
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
 * Global setup of vitest. At the end of a session it prints how many exchanges were played and recorded, and fails for
 * requests of test files without the helpers. After one with all tests, it also reports the recordings that belong to no
 * test, or removes them with `REPRISE_RECORD=prune`.
 */
export declare function setup(project: SessionProject): () => Promise<void>;
