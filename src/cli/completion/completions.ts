/** The verb `completions`: prints the scripts for shells, and answers them. */
import type { ExitCode } from "../../domain/errors.ts";
import { openHome, sessionNames } from "../../store/home.ts";
import { makeContext, makeOutput } from "../context.ts";
import { type Flag, type Verb, WRAPPED_COMMAND } from "../declare.ts";
import { COMMON_FLAGS, type CommonFlags } from "../flags.ts";
import { FIXTURE_ABOUT } from "../help.ts";
import { namedVerb, takesValue } from "../leading_flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { FIXTURE_VERBS, VERBS } from "../verbs.ts";
import { SCRIPTS } from "./scripts.ts";

const ALL = { top: VERBS, fixture: FIXTURE_VERBS };

/** Performs `completions`; the parser has checked `shell`. */
export function completionsVerb(
  ports: ProgramPorts,
  shell: string,
  words: readonly string[],
  flags: CommonFlags,
): ExitCode {
  const output = makeOutput(ports, flags);
  const text = Object.hasOwn(SCRIPTS, shell)
    ? SCRIPTS[shell as keyof typeof SCRIPTS]
    : `${complete(ports, words).join("\n")}\n`;
  if (output.options.json) output.json<"completions">({ shell, text });
  else output.text(text);
  return 0;
}

/**
 * Completes the last of `words`, the words after `reprise`, as far as the cursor. The first line is the kind of the answer:
 * `words`, with a line for each; what the shell finds itself, `file` or `directory`; or `command` with the number of words
 * before a wrapped command.
 */
function complete(ports: ProgramPorts, words: readonly string[]): string[] {
  const current = words.at(-1) ?? "";
  const names: string[] = [];
  let open: Flag | undefined;
  let home: string | undefined;
  const verbOf = () => namedVerb(names, ALL)?.verb;
  const flagsOf = () => ({ ...verbOf()?.flags, ...COMMON_FLAGS });
  for (const [at, word] of words.slice(0, -1).entries()) {
    if (open !== undefined) {
      // bash passes "--flag=value" as three words.
      if (word === "=") continue;
      if (open === COMMON_FLAGS.home) home = word;
      open = undefined;
    } else if (word === "--" && verbOf()?.arguments.includes(WRAPPED_COMMAND)) {
      return [`command ${at + 1}`];
    } else if (word.startsWith("-")) {
      const [name = "", value] = word.split(/=(.*)/s);
      if (name === "--home") home = value;
      if (takesValue(word, flagsOf())) {
        open = Object.values<Flag>(flagsOf()).find((flag) => namesOf(flag).includes(name));
      }
    } else names.push(word);
  }
  const offer = (choices: readonly string[] | undefined, spec: string) =>
    choices !== undefined
      ? ["words", ...choices]
      : offeredFor(/[<[]([^.>\]]+)/.exec(spec)?.[1] ?? "", () => sessionsAt(ports, home));
  if (open !== undefined) return offer(open.choices ?? open.suggests, open.spec);
  const verb = verbOf();
  if (current.startsWith("-")) {
    const flags = Object.values<Flag>(verb?.flags ?? COMMON_FLAGS);
    const lines = flags.flatMap((flag) => namesOf(flag).map((name) => `${name}\t${flag.about}`));
    return ["words", ...lines, "-h\tshow help", "--help\tshow help"];
  }
  if (verb === undefined) return ["words", ...verbsAfter(names)];
  const positional = verb.arguments.filter((each) => each !== WRAPPED_COMMAND);
  const given = names.length - (FIXTURE_VERBS.includes(verb) ? 2 : 1);
  const place = positional[given] ?? positional.findLast(({ spec }) => spec.includes("..."));
  return place === undefined ? ["words"] : offer(place.choices, place.spec);
}

/** Spellings, such as `-m` and `--model`. */
function namesOf({ spec }: Flag): string[] {
  return spec.replace(/ [<[].*/, "").split(", ");
}

/** Lines for the value of a flag or an argument with this placeholder; none for any text. */
function offeredFor(placeholder: string, sessions: () => string[]): string[] {
  if (/^ids?$/.test(placeholder)) return ["words", ...sessions()];
  if (placeholder === "file") return ["file"];
  // `fixture diff` names its fixtures a and b.
  return /^(?:dirs?|a|b)$/.test(placeholder) ? ["directory"] : ["words"];
}

/** The verbs that may follow: at the top and after `help`, and those of the group after its name. */
function verbsAfter([group]: readonly string[]): string[] {
  const lines = (verbs: readonly Pick<Verb, "name" | "about">[]) =>
    verbs.map(({ name, about }) => `${name}\t${about}`);
  if (group === "fixture") return lines(FIXTURE_VERBS);
  return group === undefined || group === "help"
    ? [...lines(VERBS), `fixture\t${FIXTURE_ABOUT}`, "help\tshow help for a verb"]
    : [];
}

/** The ids below a home; those of no home if it cannot be read. */
function sessionsAt(ports: ProgramPorts, given: string | undefined): string[] {
  const home = given?.replace(/^~(?=\/)/, ports.env("HOME") ?? "~");
  try {
    const context = makeContext(ports, { json: undefined, quiet: undefined, color: false, home });
    return [...sessionNames(ports, openHome(ports, context.home.value, { create: false })), "@last"];
  } catch {
    return ["@last"];
  }
}
