/** `reprise certify`: flags and declaration. */
import { MATCH_MODES } from "../../fixture/match/modes.ts";
import {
  argument,
  choice,
  type FlagsOf,
  list,
  text,
  toggle,
  value,
  type Verb,
  verb,
  WRAPPED_COMMAND,
} from "../declare.ts";
import { COMMON_FLAGS, MATCH_RULE_FLAGS, seconds, wholeNumber } from "../flags.ts";

/** Longest silence without `--max-wait`, in seconds: SDKs end a stalled answer by themselves after 300 to 305 s. */
export const MAX_WAIT = 330;
/** Most retries without `--max-retries`. */
export const MAX_RETRIES = 10;

const CERTIFY_FLAGS = {
  ...COMMON_FLAGS,
  faults: list(
    "--faults <list>",
    "play these faults instead of the usual ones; +NAME: play this one too (reprise help faults)",
  ),
  cell: text("--cell <exchange:fault>", "play only this cell, such as 3:cut-text", {
    conflicts: ["each", "faults"],
  }),
  each: toggle("--each", "break every exchange (default: the last one of each kind)"),
  jobs: value("--jobs <n>", "run N cells at a time (default: half of the processors)", wholeNumber(1)),
  maxWait: value(
    "--max-wait <seconds>",
    "the longest silence of a command that still runs",
    seconds,
    { fallback: MAX_WAIT },
  ),
  maxRetries: value("--max-retries <n>", "the most retries of one request", wholeNumber(1), {
    fallback: MAX_RETRIES,
  }),
  copy: text("--copy <dir>", "run each cell in a fresh copy of this folder"),
  home: toggle("--home", "give each cell a fresh HOME"),
  answer: text("--answer <file>", "a file to which the command writes its answer"),
  effects: text("--effects <file>", "a file to which the tools add a line for each call"),
  accept: toggle(
    "--accept",
    "write the bad cells to certify.json beside the fixture: from then on they are accepted",
  ),
  strict: toggle("--strict", "exit with 7 if an accepted cell became better"),
  reporter: choice(
    "--reporter <reporter>",
    "the format of the results (default: text; with --json: json)",
    ["text", "tap", "junit", "json", "markdown"],
  ),
  match: choice("--match <mode>", "how strictly a request must match (default: semantic)", MATCH_MODES),
  ...MATCH_RULE_FLAGS,
};
/** The flags of `certify`. */
export type CertifyFlags = FlagsOf<typeof CERTIFY_FLAGS>;

export const CERTIFY_VERB: Verb = verb({
  name: "certify",
  about: "break each kind of answer in each way, and judge how a command ends",
  usage: "[options] <dir> -- CMD…",
  arguments: [argument("<dir>", "the fixture that the command plays"), WRAPPED_COMMAND],
  flags: CERTIFY_FLAGS,
  groups: {
    "Cells": ["faults", "cell", "each"],
    "Limits": ["maxWait", "maxRetries", "jobs"],
    "Each run": ["copy", "home", "answer", "effects"],
    "What may differ": ["match", "normalize", "ignore", "replace", "context"],
    "Results": ["accept", "strict", "reporter"],
  },
  examples: [
    "reprise certify fixtures/agent -- node agent.mjs",
    "reprise certify fixtures/agent --cell 3:cut-text -- node agent.mjs",
  ],
  load: async () => (await import("./certify.ts")).certifyVerb,
});
