/**
 * Mutants of runs: the loop, transport, tools and the command line.
 *
 * @module
 */
import type { Mutant } from "./mutants.ts";

/** See the module. */
export const RUN_MUTANTS: readonly Mutant[] = [
  {
    file: "src/run/outcome.ts",
    text: 'const answers = messages.filter((item) => item.phase !== "commentary");',
    replacement: "const answers = messages;",
    promise: "run.md: run prints only the final answer",
    area: ["unit/cli/run", "doors/wire"],
  },
  {
    file: "src/run/outcome.ts",
    text: "const tokens = usage.input_tokens + usage.output_tokens;",
    replacement: "const tokens = usage.output_tokens;",
    promise: "run.md: --max-tokens counts input and output",
    area: ["unit/cli/run", "doors/wire"],
  },
  {
    file: "src/run/tool_batch.ts",
    text: 'decision.allowed && tool.group === "read" ? null : decisionEvent',
    replacement: "decision.allowed ? null : decisionEvent",
    promise: "guarantees.md: every decision is on disk before a call that changes something starts",
    area: ["unit/cli/run", "doors/wire"],
  },
  {
    file: "src/run/permission_gate.ts",
    text: "return JSON.stringify([subject.tool, subject.target, argumentsText]);",
    replacement: "return JSON.stringify([subject.tool, subject.target]);",
    promise:
      "guarantees.md: the answer `always` holds for the same call, not for another content of the file",
    area: ["cli/long/ask_test.ts"],
  },
  {
    file: "src/run/refusals.ts",
    text: 'action: guilty.includes(item) ? "quarantined" : "left_out",',
    replacement: 'action: guilty.length > 0 ? "quarantined" : "left_out",',
    promise: "reasoning.md: an item that is not accepted at its place is quarantined alone",
    area: ["doors/wire", "unit/cli/run"],
  },
  {
    file: "src/run/recover.ts",
    text: "total = event.run_usage ?? total;",
    replacement: "total = NO_USAGE;",
    promise: "format.md: a checkpoint in an open run carries the usage of that run so far",
    area: ["doors/wire"],
  },
  {
    file: "src/transport/live.ts",
    text: "if (url.origin !== origin) {",
    replacement: "if (url.hostname !== new URL(origin).hostname) {",
    promise: "guarantees.md: a key goes only to its own origin, port included",
    area: ["unit/transport"],
  },
  {
    file: "src/transport/live.ts",
    text: 'redirect: "manual",',
    replacement: 'redirect: "follow",',
    promise: "guarantees.md: redirects are not followed",
    area: ["unit/transport"],
  },
  {
    file: "src/transport/exchange.ts",
    text: "asked >= 0 && asked <= LONGEST_WAIT",
    replacement: "asked >= 0",
    promise: "protocol.md: a delay of more than 60 seconds that a server asks for is ignored",
    area: ["unit/transport"],
  },
  {
    file: "src/transport/sse.ts",
    text: "this.#afterCr ? LF : this.#isFirst ? MARK : NaN",
    replacement: "this.#isFirst ? MARK : NaN",
    promise: "guarantees.md: events do not depend on where a stream was cut, also inside CR LF",
    area: ["unit/transport"],
  },
  {
    file: "src/transport/failure.ts",
    text: 'clean = clean.replaceAll(secret, "[key]")',
    replacement: 'clean = clean.replace(secret, "[key]")',
    promise: "guarantees.md: no message shows a key that a server repeats",
    area: ["unit/transport"],
  },
  {
    file: "src/tools/writing/replace_file.ts",
    text: "if (!isSame(before, factsOf(name))) throw",
    replacement: "if (factsOf(name) === null && before !== null) throw",
    promise: "guarantees.md: a file that another program changes before the rename is left alone",
    area: ["doors/tools"],
  },
  {
    file: "src/tools/permission/policy.ts",
    text: 'STARTERS.has(programName(target.argv[0] ?? ""))',
    replacement: 'STARTERS.has(target.argv[0] ?? "")',
    promise: "guarantees.md: a deny pattern also denies programs that start others, by any path",
    area: ["doors/tools"],
  },
  {
    file: "src/tools/permission/shell_words.ts",
    text: 'program === "" || program.includes("=") ||',
    replacement: 'program === "" ||',
    promise: "guarantees.md: a line with an assignment matches no pattern",
    area: ["doors/tools"],
  },
  {
    file: "src/tools/shell/shell.ts",
    text: '.filter((directory) => directory.startsWith("/"))',
    replacement: '.filter((directory) => directory !== "")',
    promise: "guarantees.md: the PATH of a command has absolute entries only",
    area: ["doors/tools"],
  },
  {
    file: "src/tools/writing/write_target.ts",
    text: '["head", "objects", "refs"], ["head", "commondir"]]',
    replacement: '["head", "objects", "refs"]]',
    promise: "guarantees.md: no write makes a directory that git takes its configuration from",
    area: ["doors/tools"],
  },
  {
    file: "src/cli/settings.ts",
    text: 'if (isPlayed || flag === "") return null;',
    replacement: 'if (flag === "") return null;',
    promise: "keep.md: a call that plays a fixture uses no remote",
    area: ["unit/cli/run"],
  },
  {
    file: "src/cli/terminal.ts",
    text: "return /^[\\n\\t -~]*$/.test(text);",
    replacement: "return /^[\\s -~]*$/.test(text);",
    promise: "guarantees.md: a terminal shows control characters and does not obey them",
    area: ["unit/cli"],
  },
  {
    file: "src/cli/serve/recording_end.ts",
    text: "(code !== 0 ? code : error?.exitCode ?? 0) as ExitCode",
    replacement: "(error?.exitCode ?? code) as ExitCode",
    promise: "ci.md: record exits with the code of the command, and with its own only if that is 0",
    area: ["cli/binary/loopback_only_test.ts"],
  },
  {
    file: "src/cli/serve/served_fixtures.ts",
    text: "if (days <= maxAge) continue;",
    replacement: "if (Math.floor(days) <= maxAge) continue;",
    promise: "ci.md: --max-age 90 refuses a recording that is older than 90 days",
    area: ["unit/cli/serve"],
  },
  {
    file: "src/run/batch_log.ts",
    text: "if (job.starts() && waiting.length > 0)",
    replacement: "if (job.starts() && waiting.length > 9)",
    promise:
      "format.md: in a batch that makes changes a finished result is durable before the next call starts",
    area: ["doors/wire"],
  },
  {
    file: "src/run/socket_send.ts",
    text: "new Set([1001, 1005, 1006, 1011, 1012, 1013, 1015])",
    replacement: "new Set([1000, 1001, 1005, 1006, 1011, 1012, 1013, 1015])",
    promise: "run.md: a WebSocket that the server closes on purpose is not opened again in that run",
    area: ["doors/wire"],
  },
  {
    file: "src/apis/responses/socket/conversation.ts",
    text: 'stringMember(error, "param") === "previous_response_id" ||',
    replacement: "",
    promise: "protocol.md: a response that a connection no longer knows is no failure",
    area: ["doors/wire"],
  },
  {
    file: "src/apis/responses/api.ts",
    text: 'rawArgumentsAt: endpointHashes(new URL("https://api.openai.com/v1")).endpoint,',
    replacement: "rawArgumentsAt: null,",
    promise: "reasoning.md: OpenAI's own endpoint gets the arguments of a call verbatim",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/response_plan.ts",
    text: '(prefixChanged && isPrefixBound(turn) ? "prefix_changed" : null);',
    replacement: "null;",
    promise: "format.md: an item that is bound to the items before it stays out after those changed",
    area: ["doors/wire"],
  },
  {
    file: "src/fold/history_fold.ts",
    text: "if (!this.#target.needs.needsUserLast || this.#paused) return;",
    replacement: "if (!this.#target.needs.needsUserLast) return;",
    promise: "reasoning.md: a response that its server paused goes back with nothing after it",
    area: ["doors/wire"],
  },
];
