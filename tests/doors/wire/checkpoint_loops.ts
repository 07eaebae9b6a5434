/** Loops against the Responses API that outgrow a limit or the context: checkpoints on the way. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import type { ScriptedResponse, ServerOptions } from "../../support/scripted_api/responses.ts";
import { answer, message, reasoning, refuse } from "../../support/scripted_api/responses_script.ts";
import { READ, read } from "./refusals.ts";
import { historyOf } from "./next_request.ts";
import type { Row } from "./runs.ts";

const DONE = answer([message("Done.")]);
/** Reads a large file once for each of the first prompts' steps, then answers; every response claims `tokens` of input. */
const large = (steps: number, tokens: number): ServerOptions => {
  const usage = { input_tokens: tokens, output_tokens: 10, total_tokens: tokens + 10 };
  let step = 0;
  return {
    script: () =>
      answer(
        step++ < steps ? [reasoning("Looking"), read(`call_${step}`)] : [reasoning(), message("Read.")],
        { usage },
      ),
  };
};
/** As {@linkcode READ}, of a file that makes the history long. */
const LONG = "alpha beta gamma\n".repeat(600);
const checkpoints = (events: readonly Json[]) =>
  events.filter(({ kind, type }) => type === "notice" && kind === "compacted");

/** Input characters that the server of the next rows accepts. */
const WINDOW = 30_000;
const OVERFLOWS: Readonly<Record<string, ScriptedResponse>> = {
  "by its code": refuse({ message: "Too long.", code: "context_length_exceeded" }, "http"),
  "in a failed response with usage": answer([], {
    usage: { input_tokens: 9, output_tokens: 0, total_tokens: 9 },
    end: { kind: "failed", error: { code: "context_length_exceeded", message: "Too long." } },
  }),
};

/** By a sentence. */
export const CHECKPOINTS: Readonly<Record<string, Row<ServerOptions>>> = {
  "a run that outgrows --auto-compact continues with a checkpoint, its prompt and the results that are not seen yet":
    {
      files: { "a.txt": LONG },
      server: () => large(3, 5000),
      runs: [{ prompt: "Read all", flags: ["--auto-compact", "4000"] }],
      also: (runs, [ran]) => {
        assert.match(
          historyOf(ran?.requests.at(-1)),
          /^user: <session_checkpoint>\n[\s\S]*\| user: Read all \| rs_\w+ \| call call_3 \| output call_3: /,
        );
        assert.ok(checkpoints(ran?.events ?? []).length > 0);
        assert.deepEqual(
          runs.turns("fix-ci-7k2m").flatMap(({ request }) => request?.guard.dropped ?? []),
          [],
        );
        const saved = ran?.events.flatMap(({ type, kind }) => type === "turn.saved" ? [kind] : []).join();
        assert.ok(!saved?.includes("compaction,compaction"), saved);
      },
    },
  "there is no checkpoint without the flag, nor below its limit": {
    files: { "a.txt": LONG },
    server: () => ({
      script: () =>
        answer([message("Read.")], { usage: { input_tokens: 5000, output_tokens: 1, total_tokens: 5001 } }),
    }),
    runs: [{}, { flags: ["--auto-compact", "5000"] }],
    also: (runs) => assert.deepEqual(runs.written("history_compaction"), []),
  },
  "a limit that no checkpoint reaches costs one checkpoint, which says so": {
    files: { "a.txt": LONG },
    server: () => large(8, 5000),
    runs: [{ flags: ["--auto-compact", "1000"] }],
    also: (_, [ran]) => {
      assert.deepEqual([
        checkpoints(ran?.events ?? []).map(({ out_of_reach }) => out_of_reach),
        ran?.requests.length,
      ], [
        [true],
        9,
      ]);
    },
  },
  ...Object.fromEntries(
    Object.entries(OVERFLOWS).map(([name, overflow]): [string, Row<ServerOptions>] => [
      `an overflow inside a run (${name}) is compacted away once, and the unseen result stays`,
      {
        files: { "a.txt": LONG },
        server: () => {
          let step = 0;
          return {
            script: ({ input }) => {
              if (JSON.stringify(input).length > WINDOW) return overflow;
              return answer(step++ < 3 ? [read(`call_${step}`)] : [message("All read.")]);
            },
          };
        },
        runs: [{ exit: 11 }, { prompt: null, flags: ["--auto-compact", "1000000"] }],
        also: (_, [, ran]) => {
          const [refused, accepted] = ran?.requests as Json[];
          assert.deepEqual([
            checkpoints(ran?.events ?? []).length,
            accepted.input.at(-1).output === refused.input.at(-1).output,
          ], [1, true]);
        },
      },
    ]),
  ),
  "an overflow that a smaller history does not cure ends the run, after one checkpoint": {
    files: { "a.txt": LONG },
    server: () => ({
      script: ({ input }) => input.length < 5 ? answer([READ]) : OVERFLOWS["by its code"] as ScriptedResponse,
    }),
    runs: [{ flags: ["--auto-compact", "1000000"], exit: 11 }],
    also: (runs) =>
      assert.deepEqual(runs.turns("fix-ci-7k2m").filter(({ kind }) => kind === "compaction").length, 1),
  },
  "an overflow by one result shortens what is sent of it": {
    files: { "a.txt": LONG.repeat(4) },
    server: () => ({
      script: ({ input }) =>
        JSON.stringify(input).length > WINDOW
          ? OVERFLOWS["by its code"] as ScriptedResponse
          : input.length === 1
          ? answer([READ])
          : DONE,
    }),
    show: ({ input }) => JSON.stringify(input).length > WINDOW ? "long" : "short",
    runs: [{ flags: ["--auto-compact", "1000000"], sent: "short long short" }],
    also: (_, [ran]) =>
      assert.deepEqual(/characters left out here/.test(ran?.requests.at(-1)?.input.at(-1).output), true),
  },
};
