/** Report of reprise about a test. */
export interface TestReport {
  readonly type: "test.ended";
  /** Name of the recording: that of its folder. */
  readonly test: string;
  /** 0 if every request was answered from the recording, or recorded. */
  readonly exit_code: number;
  /** Number of requests that were answered from the recording. */
  readonly served: number;
  /** Number of exchanges that were added to the recording. */
  readonly recorded: number;
  /** Number of requests that no recorded exchange matches. */
  readonly missed: number;
  /** Number of requests that break a rule of the API. */
  readonly refused: number;
  /** Number of requests that reprise itself refused. */
  readonly turned_away: number;
  /** Numbers of recorded exchanges that the test did not use. */
  readonly unused: readonly number[];
  /** Reasons for the exit code; empty if it is 0. */
  readonly messages: readonly string[];
  /** Facts that do not change the exit code. */
  readonly notes: readonly string[];
}

/** Options of the adapters, which know the name of a test. */
export interface AdapterOptions {
  /** Text that no other test of the folder has. @default the file of the test, its groups and its name */
  readonly id?: string;
  /** True if the test may leave recorded exchanges unused, and may send no request. @default false */
  readonly allowUnused?: boolean;
  /** Answers to break on purpose, such as `["1: 429 retry-after 1"]`; `reprise help faults` lists all. @default [] */
  readonly faults?: readonly string[];
  /**
   * True to refuse all connections of the process to other machines while the test runs, but for `allowNetwork`.
   *
   * @default false
   */
  readonly blockNetwork?: boolean;
  /** Hosts that may be reached, each with or without its port, also those of known APIs. @default [] */
  readonly allowNetwork?: readonly string[];
  /** More APIs to record: the variable that leads clients to each, and its base URL. */
  readonly upstreams?: Readonly<Record<string, string>>;
  /** More flags for `reprise serve`, such as `["--match", "conversation"]`. */
  readonly serve?: readonly string[];
  /** More flags for `reprise record`, such as `["--keep-cut"]`. */
  readonly record?: readonly string[];
}

/** Options of {@link replay}. */
export interface ReplayOptions extends AdapterOptions {
  /** Name of the test. The name of its recording begins with it. */
  readonly test: string;
  /** Absolute path of the test's file; part of the default id. */
  readonly file?: string | undefined;
  /** Names of the groups around the test; part of the default id. */
  readonly groups?: readonly string[];
}

/** APIs for one test, played from its recording or recorded. */
export interface TestApi extends AsyncDisposable {
  /** Base URL for clients of OpenAI: `http://127.0.0.1:PORT/t/NAME/v1`. */
  readonly openai: string;
  /** Base URL for clients of Anthropic. */
  readonly anthropic: string;
  /**
   * Base URL of any API, by the variable that leads clients there, such as `GROQ_BASE_URL`.
   *
   * @throws {Error} if the API is neither recorded nor known.
   */
  url(variable: string): string;
  /** Environment of the test: that of the process, the base URLs, and dummy keys where no real one is needed. */
  readonly env: Record<string, string>;
  /** Absolute path of the folder with the recording. */
  readonly recording: string;
  /** True if requests without a recording are sent to the API. */
  readonly records: boolean;
  /**
   * Ends the test. Later calls do nothing.
   *
   * @throws {ReplayError} if a request has no recording or breaks a rule of the API, or a recorded exchange is unused.
   */
  end(): Promise<void>;
  /**
   * Ends a test that has failed. Unused exchanges do not count then.
   *
   * @param error The error of the test; `undefined` if the runner reports it itself.
   * @returns a {@link ReplayError} with `error` as its cause if a request went wrong, otherwise `error`.
   */
  explain(error: unknown): Promise<unknown>;
}

/** Error of a test that does not match its recording. Its message has one line for each reason. */
export declare class ReplayError extends Error {
  readonly report: TestReport;
}

/**
 * Begins a test: plays its recording, or records it if `REPRISE_RECORD` says so: `new` records tests without a
 * recording, `missing` requests without one, `all` every test again. Tests may run at the same time.
 *
 * @param folder Folder with the recordings of all tests, from the root of the package of `file`; without `file`, of the
 * working directory.
 * @throws {Error} if reprise cannot be started, or if a test with the same name and id has not ended.
 */
export declare function replay(folder: string | URL, options: ReplayOptions): Promise<TestApi>;

/**
 * Runs a test: begins it, calls `run`, and ends it. For adapters of test runners.
 *
 * @throws {ReplayError} as {@link TestApi.end}; the error of `run`.
 */
export declare function replayDuring<T>(
  folder: string | URL,
  options: ReplayOptions,
  run: (api: TestApi) => T | Promise<T>,
): Promise<T>;
