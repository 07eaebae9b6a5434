/**
 * The command line: every verb with its flags. A verb's code is loaded when it is called.
 *
 * @module
 */
import { Command } from "@commander-js/extra-typings";
import { EXIT_CODES } from "../domain/errors.ts";
import { addFixtureVerbs } from "./commands/fixtures.ts";
import { addKeepingVerbs } from "./commands/keeping.ts";
import { addLookingVerbs } from "./commands/looking.ts";
import { addRecordingVerbs, splitCommand } from "./commands/recording.ts";
import { addRunningVerbs } from "./commands/running.ts";
import { type Finish, verbAdder } from "./flags.ts";
import { Output } from "./output.ts";
import { VERSION } from "./version.ts";

export { splitCommand };

/**
 * Builds the whole command line; a verb that ran reports its exit code to `finish`. `command` is what a verb is to run:
 * the words behind `--`.
 */
export function buildProgram(finish: Finish, command: readonly string[] = []) {
  const helpOutput = new Output({ json: false, quiet: false, colour: false });
  const program = new Command("reprise")
    .description("Keeps, replays and tests sessions with reasoning models over stateless APIs.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [verb]", "show help for a verb")
    .showSuggestionAfterError(true)
    .addHelpText("after", `\nExit codes:\n${exitCodeTable()}`)
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: (text) => helpOutput.text(text) });

  const verb = verbAdder(program);
  addRunningVerbs(verb, finish);
  addLookingVerbs(verb, finish);
  addKeepingVerbs(verb, finish);
  addRecordingVerbs(verb, finish, command);
  const fixture = program.command("fixture").description("look at and tend fixtures");
  addFixtureVerbs(verbAdder(fixture), finish);
  return program;
}

function exitCodeTable(): string {
  return Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`).join("\n");
}
