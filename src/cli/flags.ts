/**
 * Building blocks of the command line: arguments and flags that several verbs have, and how values are read.
 *
 * @module
 */
import { Argument, Command, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { PROVIDER_KINDS } from "../domain/fingerprint.ts";

/** What a finished verb is told to: its exit code, or that of the command which it ran. */
export type Finish = (exitCode: number) => void;

/** Adds a verb to a command, with the flags that every verb has. */
export type AddVerb = ReturnType<typeof verbAdder>;

/** How verbs are added to `parent`. */
export function verbAdder(parent: Command) {
  return (name: string, description: string) =>
    parent.command(name).description(description)
      .addOption(flag("--json", "data for programs: one JSON document, or JSON Lines where a verb streams"))
      .addOption(flag("--quiet", "no notices on stderr"))
      .option("--no-color", "no colour")
      .option(
        "--home <dir>",
        "where sessions live (REPRISE_HOME; default: reprise in the XDG data directory)",
      )
      .addOption(flag("--debug", "stack traces of unexpected errors"));
}

/** The session that a verb is about. */
export function sessionArgument() {
  return new Argument("<id>", "session id, unambiguous prefix, or @last");
}

/** The flags that decide where the next request goes and how it is made. */
export function requestOptions<Options extends Record<string, unknown>>(command: Command<[], Options>) {
  return command
    .option("-m, --model <model>", "the model to ask (the session's last, REPRISE_MODEL, config.json)")
    .addOption(
      new Option(
        "-p, --provider <provider>",
        "whose API it is (the session's last unless -m is given, REPRISE_PROVIDER, config.json; default: openai)",
      ).choices(PROVIDER_KINDS),
    )
    .option(
      "--base-url <url>",
      "where the API is (REPRISE_BASE_URL, the provider's own variable, config.json; default: the provider's)",
    )
    .option(
      "--effort <effort>",
      "reasoning effort, such as low, medium, high (the session's last, REPRISE_EFFORT, config.json)",
    )
    .option(
      "--summary <summary>",
      "reasoning summary: auto, concise, detailed (the session's last, REPRISE_SUMMARY, config.json)",
    )
    .addOption(
      new Option("--replay <mode>", "which models' reasoning goes back: the same model's, the family's, none")
        .choices(["exact", "family", "none"]),
    )
    .option(
      "--replay-window <n>",
      "reasoning items from before the last user message at most",
      wholeNumber(0),
    )
    .option("--no-reasoning-replay", "send no earlier reasoning (REPRISE_REASONING_REPLAY=0)");
}

/** A list flag: repeatable, one value each. What commas mean is the posture's to say. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A switch: absent, or true. */
export function flag<const Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description);
}

/** Lines of example for the end of a verb's help. */
export function example(...lines: readonly string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

/** Reads a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
  };
}

/** Reads a TCP port; 0 is any free one. */
export function tcpPort(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value <= 65535) return value;
  throw new InvalidArgumentError("Expected a port from 0 to 65535.");
}

/** A timer counts milliseconds in 31 bits; what does not fit would fire at once. */
const MAX_SECONDS = 2_000_000;

/** Reads a number of seconds that a timer can count. */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(`Expected a number of seconds, at most ${MAX_SECONDS}.`);
}

/** More than any clock can go back. */
const MAX_DAYS = 100_000;

/** Reads a number of days. */
export function days(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_DAYS) return value;
  throw new InvalidArgumentError(`Expected a number of days, at most ${MAX_DAYS}.`);
}
