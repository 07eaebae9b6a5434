/** The first help: the verbs in groups, on one screen. */
import { EXIT_CODES } from "../domain/errors.ts";
import type { Flag, Verb } from "./declare.ts";
import { COMMON_FLAGS } from "./flags.ts";
import type { Verbs } from "./verbs.ts";

/** Verbs of the first help, by the heads of their groups. `fixture` has verbs of its own. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Sessions of an agent": [
    "run",
    "interrupt",
    "ls",
    "show",
    "search",
    "stats",
    "explain",
    "compact",
    "omit",
    "fork",
    "rename",
    "export",
    "import",
    "sync",
    "fsck",
    "repair",
    "rm",
  ],
  "Recordings of API traffic": ["record", "serve", "certify", "test", "fixture"],
  "This program": ["doctor", "config"],
};

export function rootHelp({ top }: Verbs): string {
  const about = (name: string) =>
    name === "fixture" ? FIXTURE_ABOUT : top.find((verb: Verb) => verb.name === name)?.about ?? "";
  const groups = Object.entries(GROUPS).flatMap(([head, names]) => [
    `${head}:`,
    ...names.map((name) => `  ${name.padEnd(9)}  ${about(name)}`),
    "",
  ]);
  return [
    "Usage: reprise VERB [flags] [arguments]",
    "",
    "Record, replay and test LLM traffic. Keep agent sessions as plain files, with",
    "their reasoning.",
    "",
    ...groups,
    "Flags of all verbs:",
    ...Object.values<Flag>(COMMON_FLAGS).map(({ spec, about }) => `  ${spec.padEnd(12)}  ${about}`),
    "",
    "Flags and examples of a verb: help VERB. Also help codes, faults and rules.",
    "",
  ].join("\n");
}

export const FIXTURE_ABOUT = "inspect and maintain fixtures";

export function codesHelp(): string {
  return `Exit codes:\n${
    Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}\n`).join("")
  }`;
}
