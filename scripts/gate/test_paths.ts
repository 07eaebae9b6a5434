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

/** The unit tests that try random cases, with the numbers that the README names. */
const SAMPLED = [
  "tests/unit/compaction/random_compaction_test.ts",
  "tests/unit/fixture/secrets/blobs_test.ts",
  "tests/unit/fixture/secrets/scan_test.ts",
  "tests/unit/fixture/secrets/scrubber_test.ts",
  "tests/unit/fixture/secrets/stream_test.ts",
  "tests/unit/fixture/secrets/unescape_test.ts",
  "tests/unit/fixture/secrets/words_test.ts",
  "tests/unit/fold/mixed_history_test.ts",
  "tests/unit/fold/random_history_test.ts",
  "tests/unit/run/verify_series_test.ts",
  "tests/unit/store/clean_is_usable_test.ts",
  "tests/unit/store/damage_test.ts",
  "tests/unit/store/escape_test.ts",
  "tests/unit/tools/sandbox_path_test.ts",
  "tests/unit/tools/generated_paths_test.ts",
  "tests/unit/transport/cuts_test.ts",
  "tests/unit/transport/damage_test.ts",
];

/** By the part that runs them. */
export const TEST_PATHS = {
  unit: { paths: ["tests/unit", "tests/support"] },
  /** Unit tests that start many processes or wait for time to pass: longer than a gate before a commit should take. */
  slow: { paths: ["tests/slow/unit"] },
  /** On the binary, before a commit. */
  cli: { paths: ["tests/cli"] },
  /** Where the sources must do alone what the binary does elsewhere: the demo, and one run in JSON. */
  sourceSample: { paths: ["tests/cli/demo_test.ts", "tests/cli/fixture_test.ts"] },
  source: { paths: ["tests/cli", "tests/slow/cli"] },
  fuzz: { paths: SAMPLED },
  /** On the binary: long streams, many clients, the official clients of others, slow command line tests. */
  long: { paths: ["tests/slow/cli", "tests/slow/load", "tests/clients"] },
  crash: { paths: ["tests/crash"] },
  soak: { paths: ["tests/crash", "tests/slow/load"] },
} as const satisfies Readonly<Record<string, TestPaths>>;
