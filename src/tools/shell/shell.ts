/** `shell`: one command in the workspace. */
import { decodeUtf8WithMark, withoutCutEnd } from "../../domain/bytes.ts";
import { isUtf8 } from "node:buffer";
import { DEFAULT_OUTPUT_CHARS, HEAD_SHARE, type ToolText, withoutCutStart } from "../output.ts";
import { commandLine, shellWords } from "../permission/shell_words.ts";
import { type CommandResult, runCommand } from "./run_command.ts";
import { defineTool, nullableArgument, type Target, type Tool, ToolFailure } from "../tool.ts";

/** Timeout of a command without one of its own, in seconds. */
const DEFAULT_TIMEOUT_SECONDS = 120;
/** The longest time that a call may ask for, in seconds. */
const MAX_TIMEOUT_SECONDS = 600;

/** The first line and the note in the middle are shorter than this, in UTF-16 units. */
const ROOM_FOR_OUR_WORDS = 500;

/**
 * Runs a program, or a command line through a shell where only a shell understands it; `run` starts it and collects what
 * it writes.
 */
export const shellTool = (run: typeof runCommand): Tool =>
  defineTool({
    name: "shell",
    description:
      "Run one command in the workspace directory: either argv (a program and its arguments, no shell) or command " +
      "(one command line; /bin/sh runs it when it holds operators, variables or globs). No terminal, no input, a " +
      "short environment. The first line of the result says how it ended and how many bytes of output follow; " +
      "everything after that line is what the command wrote, stdout and stderr together. Processes that it leaves " +
      "behind are ended.",
    arguments: {
      command: nullableArgument("string", "One command line; null when argv is given"),
      argv: nullableArgument("array", "The program and its arguments; null when command is given"),
      timeout_seconds: nullableArgument(
        "integer",
        `Ends the command after so long, at most ${MAX_TIMEOUT_SECONDS}; null for ${DEFAULT_TIMEOUT_SECONDS}`,
      ),
    },
    group: "shell",
    target: (args) => targetOf(args),
    async run(args, { root, signal, env, maxOutputChars = DEFAULT_OUTPUT_CHARS, cleaner, onOutput }) {
      const { argv, line } = targetOf(args);
      const seconds = args.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS;
      if (seconds < 1 || seconds > MAX_TIMEOUT_SECONDS) {
        throw new ToolFailure(`Cannot wait ${seconds} seconds: give 1 to ${MAX_TIMEOUT_SECONDS}`);
      }
      const started = argv ?? ["/bin/sh", "-c", line];
      try {
        const result = await run(started, {
          directory: root,
          env: commandEnvironment(env),
          timeoutMs: seconds * 1000,
          signal,
          ...(onOutput === undefined ? {} : { onOutput: decodedOutput(onOutput) }),
        });
        const { output } = result;
        const bytes = cleaner?.bytes(output.bytes) ?? output.bytes;
        return textOf({ ...result, output: { ...output, bytes } }, { seconds, maxChars: maxOutputChars });
      } catch (error) {
        signal.throwIfAborted();
        throw startFailure(error, started[0] ?? "");
      }
    },
  });

/** The shell of an ordinary run. */
export const shell: Tool = shellTool(runCommand);

/** Decodes the chunks of both streams of a command; a character may be in two chunks of its stream. */
function decodedOutput(onOutput: (text: string) => void): (stream: number, chunk: Uint8Array) => void {
  const decoders = [new TextDecoder(), new TextDecoder()];
  return (stream, chunk) => onOutput(decoders[stream]?.decode(chunk, { stream: true }) ?? "");
}

interface Command {
  readonly command: string | null;
  readonly argv: readonly string[] | null;
}

function targetOf({ command, argv }: Command): Extract<Target, { kind: "command" }> {
  const texts = argv ?? [command ?? ""];
  if (texts.some((text) => text.includes("\0"))) {
    throw new ToolFailure("Cannot run a command that holds a NUL character");
  }
  if (texts.some((text) => !text.isWellFormed())) {
    throw new ToolFailure("Cannot run a command that is not valid Unicode");
  }
  if (argv !== null) {
    if (command !== null) throw new ToolFailure("Cannot run both command and argv: one of them must be null");
    if ((argv[0] ?? "") === "") {
      throw new ToolFailure("Cannot run an empty argv: its first element is the program");
    }
    return { kind: "command", argv, line: commandLine(argv) };
  }
  if (command === null || command.trim() === "") {
    throw new ToolFailure("Cannot run an empty command: give command or argv");
  }
  return { kind: "command", argv: shellWords(command), line: command };
}

/**
 * All our text is in the first line, which counts the bytes after it: nothing that a command writes can
 * pass for more than its output.
 */
function textOf(
  result: CommandResult,
  { seconds, maxChars }: { seconds: number; maxChars: number },
): ToolText {
  const { output, end, leftovers } = result;
  const lossy = !isUtf8(output.bytes);
  const shown = shownText(output.bytes, maxChars);
  const facts = [
    endText(result, seconds),
    ...(leftovers ? ["processes that it left behind were ended"] : []),
    ...(lossy ? ["not UTF-8: undecodable bytes are shown as U+FFFD, the original bytes are kept"] : []),
    ...(output.missing > 0 ? [`${output.missing} of ${output.total} bytes in the middle were dropped`] : []),
    output.total === 0 ? "no output" : `${output.bytes.length} bytes of output follow`,
  ];
  const isOk = end.kind === "exited" && end.code === 0;
  return {
    status: isOk ? "ok" : "error",
    text: shown.text === "" ? `[${facts.join("; ")}]` : `[${facts.join("; ")}]\n${shown.text}`,
    ...(lossy || output.missing > 0 || shown.isCut ? { full: { bytes: output.bytes, lossy } } : {}),
  };
}

/** Decodes only the bytes that are shown: a text of all bytes would stay in memory as long as any piece of it. */
function shownText(bytes: Uint8Array, maxChars: number): { readonly text: string; readonly isCut: boolean } {
  // No character takes more than three bytes for each of its UTF-16 units.
  if (bytes.length <= maxChars * 3) return { text: decodeUtf8WithMark(bytes), isCut: false };
  const room = Math.max(0, maxChars - ROOM_FOR_OUR_WORDS);
  const headBytes = Math.floor(room * HEAD_SHARE);
  const head = withoutCutEnd(bytes.subarray(0, headBytes));
  const tail = withoutCutStart(bytes.subarray(bytes.length - (room - headBytes)));
  const missing = bytes.length - head.length - tail.length;
  const note = `\n[… ${missing} bytes left out here; the session keeps them …]\n`;
  return { text: decodeUtf8WithMark(head) + note + decodeUtf8WithMark(tail), isCut: true };
}

function endText({ end }: CommandResult, seconds: number): string {
  switch (end.kind) {
    case "exited":
      return `Exit code ${end.code}`;
    case "signalled":
      return `Ended by ${end.signal}`;
    case "timed_out":
      return `Timed out after ${seconds} s and was ended`;
    case "flooded":
      return "Ended because it wrote more than 256 MiB";
    case "stuck":
      return "Killed, but still running";
  }
}

function startFailure(error: unknown, program: string): unknown {
  if (error instanceof ToolFailure) return error;
  const refuse = (why: string) => new ToolFailure(`Cannot start ${JSON.stringify(program)}: ${why}`);
  if (error instanceof Deno.errors.NotFound) return refuse("no such program");
  if (error instanceof Deno.errors.PermissionDenied) return refuse("it is not executable");
  if (error instanceof Deno.errors.NotCapable) return refuse("this build of reprise may not start programs");
  return error;
}

/** Variables of ours that a command inherits. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "CI"];
/**
 * Settings for git, at any depth of programs: a directory that merely looks like a repository is none, so that its
 * configuration names no command to run. `git --git-dir` still opens one.
 */
const GIT_SETTINGS = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

function commandEnvironment(env: (name: string) => string | undefined): Record<string, string> {
  const result: Record<string, string> = { PATH: searchPath(env("PATH")), TERM: "dumb", ...GIT_SETTINGS };
  for (const name of INHERITED) {
    const value = env(name);
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** `PATH` without what depends on the working directory: there, a file of the workspace could pose as `git`. */
function searchPath(path: string | undefined): string {
  const directories = (path ?? "").split(":").filter((directory) => directory.startsWith("/"));
  return directories.length === 0 ? DEFAULT_PATH : directories.join(":");
}
