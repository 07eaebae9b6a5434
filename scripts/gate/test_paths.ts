/**
 * Which test files each part of the gate runs.
 *
 * @module
 */

/** Test files and folders below the root of the checkout. */
export interface TestPaths {
  readonly paths: readonly string[];
  /** Of `paths`, what is left to other parts. */
  readonly ignore?: readonly string[];
}

/** Unit tests that start many processes or wait for time to pass: longer than a gate before a commit should take. */
const SLOW_UNIT = [
  "tests/fixture/fault/clients_test.ts",
  "tests/fixture/import/recordings_test.ts",
  "tests/fixture/record/huge_body_test.ts",
  "tests/fixture/round_trip_test.ts",
  "tests/scripts/live_check_test.ts",
  "tests/tools/shell/bad_children_test.ts",
  "tests/tools/writing/write_race_test.ts",
];

/** Command line tests of that kind. */
const SLOW_CLI = [
  "tests/cli/bad_network_test.ts",
  "tests/cli/ci_doc_test.ts",
  "tests/cli/interrupt_test.ts",
  "tests/cli/provider_loop_test.ts",
  "tests/cli/record_test.ts",
  "tests/cli/serve_test.ts",
  "tests/cli/shell_stop_test.ts",
  "tests/cli/stop_test.ts",
  "tests/cli/terminal_fields_test.ts",
  "tests/cli/test_verb_test.ts",
];

/** The unit tests that try random cases, with the numbers that the README names. */
const SAMPLED = [
  "tests/compaction/random_compaction_test.ts",
  "tests/fixture/secrets/blobs_test.ts",
  "tests/fixture/secrets/leaks_test.ts",
  "tests/fixture/secrets/scrubber_test.ts",
  "tests/fixture/secrets/stream_test.ts",
  "tests/fixture/secrets/unescape_test.ts",
  "tests/fixture/secrets/words_test.ts",
  "tests/fold/mixed_history_test.ts",
  "tests/fold/random_history_test.ts",
  "tests/run/refold_series_test.ts",
  "tests/store/clean_is_usable_test.ts",
  "tests/store/damage_test.ts",
  "tests/store/escape_test.ts",
  "tests/tools/confine_test.ts",
  "tests/tools/generated_paths_test.ts",
  "tests/transport/cuts_test.ts",
  "tests/transport/damage_test.ts",
];

/** By the part that runs them. */
export const TEST_PATHS = {
  unit: {
    paths: ["tests"],
    ignore: ["tests/cli", "tests/crash", "tests/long", "tests/clients", ...SLOW_UNIT],
  },
  slow: { paths: SLOW_UNIT },
  /** On the binary, before a commit. */
  cli: { paths: ["tests/cli"], ignore: SLOW_CLI },
  /** Where the sources must do alone what the binary does elsewhere: the demo, and one run in JSON. */
  sourceSample: { paths: ["tests/cli/demo_test.ts", "tests/cli/fixture_test.ts"] },
  source: { paths: ["tests/cli"] },
  fuzz: { paths: SAMPLED },
  /** On the binary: long streams, many clients, the official clients of others, slow command line tests. */
  long: { paths: ["tests/long", "tests/clients", ...SLOW_CLI] },
  crash: { paths: ["tests/crash"] },
  soak: { paths: ["tests/crash", "tests/long"] },
} as const satisfies Readonly<Record<string, TestPaths>>;
