/** Mutants of runs and imports at their edges: exactly the limit, the first of two, itself. */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const RUN_EDGES: readonly Mutant[] = [
  {
    file: "src/agents/tree.ts",
    text: "this.#placeOf(before) < this.#placeOf(at)",
    replacement: "this.#placeOf(before) <= this.#placeOf(at) && path.length < 9",
    promise: "keep.md: a line of a transcript that is its own parent begins the path",
    area: ["doors/transcripts"],
  },
  {
    file: "src/agents/first_prompt.ts",
    text: "entry.keptFrom > (first?.line ?? 0)",
    replacement: "entry.keptFrom >= (first?.line ?? 0)",
    promise: "keep.md: messages that a compaction of another agent preserves stay, the first one too",
    area: ["doors/transcripts"],
  },
  {
    file: "src/agents/turns.ts",
    text: "time !== undefined && time <= this.#call.at",
    replacement: "time !== undefined",
    promise: "format.md: no turn of an import is dated after it",
    area: ["doors/transcripts"],
  },
  {
    file: "src/tools/shell/shell.ts",
    text: "seconds < 1 ||",
    replacement: "seconds < 0 ||",
    promise: "run.md: a command may take 1 to 600 seconds",
    area: ["doors/tools/commands_test.ts"],
  },
  {
    file: "src/tools/shell/shell.ts",
    text: "seconds > MAX_TIMEOUT_SECONDS)",
    replacement: "seconds > MAX_TIMEOUT_SECONDS + 1)",
    promise: "run.md: a command may take 1 to 600 seconds",
    area: ["doors/tools/commands_test.ts"],
  },
  {
    file: "src/apis/responses/assembler.ts",
    text: "this.#failure ??= classifyErrorEvent(data);",
    replacement: "this.#failure = classifyErrorEvent(data);",
    promise: "protocol.md: of two errors in one stream the first counts",
    area: ["doors/wire/streams_test.ts"],
  },
  {
    file: "src/domain/fingerprint.ts",
    text: 'url.username !== "" || url.password !== ""',
    replacement: 'url.password !== ""',
    promise: "configuration.md: a base URL has no user, whose name may be a key",
    area: ["cli/providers_test.ts"],
  },
  {
    file: "src/remote/credentials.ts",
    text: 'url.username !== "" || url.password !== ""',
    replacement: 'url.password !== ""',
    promise: "configuration.md: the URL of a remote has no user",
    area: ["cli/remote_settings_test.ts"],
  },
  {
    file: "src/cli/inspection/explain.ts",
    text: "report.reasoning.length - sent} left out",
    replacement: "report.reasoning.length} left out",
    promise: "reasoning.md: explain counts the reasoning items that are left out",
    area: ["cli/replay_test.ts"],
  },
  {
    file: "src/run/outcome.ts",
    text: "if (this.#cause !== null) return;\n",
    replacement: "",
    promise: "run.md: of two causes of a stop the first counts",
    area: ["cli/binary/stop_test.ts"],
  },
];
