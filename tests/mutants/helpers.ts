/** Mutants of what helpers of test runners rely on: faults, keys and modes of recordings. */
import type { Mutant } from "./mutants.ts";

const SUITE = ["cli/binary/suite_flag_test.ts"];
const FAULTS = ["doors/recordings/record_faults_test.ts"];
const MODES = ["doors/recordings/record_modes_test.ts"];

/** See the module. */
export const HELPER_MUTANTS: readonly Mutant[] = [
  {
    file: "src/fixture/serve/server.ts",
    text: "    replayer.markUsed(incoming);\n",
    replacement: "",
    promise: "rules.md: an exchange whose answer a fault replaced counts as used",
    area: SUITE,
  },
  {
    file: "src/cli/serve/serve.ts",
    text: "request.prunes && request.passed && usesRecording && ",
    replacement: "request.prunes && request.passed && use !== undefined && ",
    promise: "recording.md: a recording keeps its last exchange",
    area: SUITE,
  },
  {
    file: "src/cli/serve/serve.ts",
    text: "request.prunes && request.passed && usesRecording && ",
    replacement: "request.prunes && usesRecording && ",
    promise: "recording.md: a failed test loses no exchange to prune",
    area: ["cli/binary/suite_modes_test.ts"],
  },
  {
    file: "src/cli/record/record.ts",
    text: "const passed = request.passed && ",
    replacement: "const passed = ",
    promise: "recording.md: under all, only a passed test replaces its recording",
    area: ["cli/binary/suite_modes_test.ts"],
  },
  {
    file: "src/fixture/faults/plan.ts",
    text: "    this.#tests.delete(test);\n",
    replacement: "",
    promise: "recording.md: a test that runs again meets its faults again",
    area: SUITE,
  },
  {
    file: "src/cli/serve/test_process.ts",
    text: "if (!allowUnused && messages.length === 0) messages.push(...unmetFaults",
    replacement: "if (false) messages.push(...unmetFaults",
    promise: "recording.md: a fault without effect fails its test",
    area: SUITE,
  },
  {
    file: "src/fixture/record/earlier_replayer.ts",
    text: "    this.#broken.push(replayer);\n",
    replacement: "",
    promise: "rules.md: a request that is repeated after a fault is recorded once",
    area: FAULTS,
  },
  {
    file: "src/fixture/record/earlier_replayer.ts",
    text: "faultFor({ fixture: fixture.path, number })",
    replacement: "faultFor(null)",
    promise: "rules.md: record --fault breaks the exchange that the line names",
    area: FAULTS,
  },
  {
    file: "src/cli/record/mode.ts",
    text: 'sendsFor: (path) => mode !== "new" || !isRecorded(path)',
    replacement: "sendsFor: () => true",
    promise: "recording.md: new sends nothing for a recording that is there",
    area: MODES,
  },
  {
    file: "src/cli/record/mode.ts",
    text: "summary.uses.filter(({ used }) => used.length > 0)",
    replacement: "summary.uses",
    promise: "recording.md: prune removes nothing that a run without requests does not use",
    area: MODES,
  },
  {
    file: "src/cli/record/report.ts",
    text: "if (error === null && code === 0) {",
    replacement: "if (code === 0) {",
    promise: "recording.md: all and prune change the folder only if the recording succeeds",
    area: MODES,
  },
];
