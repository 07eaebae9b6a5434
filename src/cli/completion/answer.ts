/**
 * Answers the scripts of the shells: what may stand at the end of a command line.
 *
 * @module
 */
import { openHome, sessionNames } from "../../store/home.ts";
import { makeContext } from "../context.ts";
import { COMMON_FLAGS } from "../flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { type CompletedFlag, type CompletedVerb, flagOf, GROUP, type Offered } from "./model.ts";

/** A word, and what it means. */
type Candidate = readonly [word: string, about: string];

/** Candidates, or what the shell finds itself. `command` names the place of a wrapped command's first word. */
export type Answer =
  | { readonly kind: "words"; readonly candidates: readonly Candidate[] }
  | { readonly kind: "file" | "directory" }
  | { readonly kind: "command"; readonly from: number };

const HELP = { name: "help", about: "show help for a verb" };
/** Known before the verb is. */
const GLOBAL = Object.values(COMMON_FLAGS).map(flagOf);

/** Completes the last of `words`, the words after `reprise`, as far as the cursor. */
export function complete(
  ports: ProgramPorts,
  words: readonly string[],
  verbs: readonly CompletedVerb[],
): Answer {
  const current = words.at(-1) ?? "";
  const names: string[] = [];
  let verb: CompletedVerb | undefined;
  let open: CompletedFlag | undefined;
  let home: string | undefined;
  for (const [at, word] of words.slice(0, -1).entries()) {
    if (open !== undefined) {
      // bash passes "--flag=value" as three words.
      if (word === "=") continue;
      if (open.names.includes("--home")) home = word;
      open = undefined;
    } else if (word === "--" && verb?.wraps === true) {
      return { kind: "command", from: at + 1 };
    } else if (word.startsWith("-")) {
      const [name = "", value] = word.split(/=(.*)/s);
      const flag = [...verb?.flags ?? [], ...GLOBAL].find((each) => each.names.includes(name));
      if (name === "--home") home = value;
      if (flag !== undefined && flag.placeholder !== null && value === undefined) open = flag;
    } else {
      names.push(word);
      verb ??= verbs.find(({ name }) => name === names.join(" "));
    }
  }
  const among = (candidates: readonly Candidate[]): Answer => ({ kind: "words", candidates });
  const offered = (value: Offered): Answer => {
    if (value === "file" || value === "directory") return { kind: value };
    if (value === "session") return among(sessionsAt(ports, home).map((id) => [id, ""]));
    return among((value ?? []).map((word) => [word, ""]));
  };
  if (open !== undefined) return offered(open.offered);
  if (current.startsWith("-")) {
    const flags = verb?.flags ?? GLOBAL;
    return among(flags.flatMap(({ names, about }) => names.map((name): Candidate => [name, about])));
  }
  if (verb === undefined) return among(verbsAfter(names, verbs));
  const given = names.length - verb.name.split(" ").length;
  const place = verb.arguments[given] ?? verb.arguments.findLast(({ spec }) => spec.includes("..."));
  return offered(place?.offered ?? null);
}

/** The verbs that may follow: at the top and after `help`, and those of the group after its name. */
function verbsAfter([group]: readonly string[], verbs: readonly CompletedVerb[]): Candidate[] {
  if (group !== undefined && group !== HELP.name && group !== GROUP.name) return [];
  const prefix = group === GROUP.name ? `${GROUP.name} ` : "";
  const found = prefix === ""
    ? [...verbs.filter(({ name }) => !name.includes(" ")), GROUP, HELP]
    : verbs.filter(({ name }) => name.startsWith(prefix));
  return found.map(({ name, about }) => [name.slice(prefix.length), about]);
}

/** The ids below a home; those of no home if it cannot be read. */
function sessionsAt(ports: ProgramPorts, given: string | undefined): string[] {
  const flags = {
    json: undefined,
    quiet: undefined,
    color: false,
    home: given?.replace(/^~(?=\/)/, ports.env("HOME") ?? "~"),
  };
  try {
    const { home } = makeContext(ports, flags);
    return [...sessionNames(ports, openHome(ports, home.value, { create: false })), "@last"];
  } catch {
    return ["@last"];
  }
}
