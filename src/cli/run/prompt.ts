/** Start of a run: its prompt, which is an argument, stdin, or both, and attached files. */
import { mediaTypeOf } from "../../domain/attachment.ts";
import { concatBytes, decodeUtf8Exactly, decodeUtf8Leniently } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { defined } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { Ports } from "../../domain/ports.ts";
import type { AttachedFile, RunStart } from "../../run/recover.ts";
import { chunksOf } from "../../store/read/safe_open.ts";
import type { Config } from "../config_file.ts";
import { variablesOf } from "../declare.ts";
import { STDIN } from "../flags.ts";
import { absolute, otherKind, switchOf, switchVariable } from "../settings.ts";
import { nextChunk } from "../stdin.ts";
import type { RunFlags } from "./command.ts";
import type { SettingCall } from "./resolve_run.ts";

/** The API accepts at most 10,485,760 characters of input (protocol §1.2). */
const MAX_STDIN_BYTES = 10_485_760;
/** Milliseconds without a byte before the wait is reported. */
const SILENCE_MS = 2000;
/** Default of `--stdin-wait`, in seconds, for a run that can do without stdin. */
const STDIN_WAIT_SECONDS = 30;
const READ_BYTES = 64 * 1024;

/** A setting that leaves stdin unread, by its source. */
type UnreadSetting = "--no-stdin" | "REPRISE_NO_STDIN" | "stdin in config.json";

/**
 * The setting that leaves stdin unread: the flag, else the variable, else the configuration; `null` if it is read.
 *
 * @throws {RepriseError} `usage` if the variable or the member is neither on nor off.
 */
export function unreadSetting(
  ports: Pick<Ports, "env">,
  flags: { readonly stdin: boolean },
  { values }: Pick<Config, "values">,
): UnreadSetting | null {
  if (!flags.stdin) return "--no-stdin";
  const variable = switchVariable(ports, variablesOf(STDIN));
  if (variable !== null) return variable ? "REPRISE_NO_STDIN" : null;
  return values.stdin === undefined || switchOf(values.stdin, "stdin") ? null : "stdin in config.json";
}

/**
 * Reads the attached files, then the prompt.
 *
 * @throws {RepriseError} `usage` for a file that cannot be attached, or if there is no prompt to attach it to; as
 * {@linkcode resolvePrompt}.
 */
export async function resolveStart(
  argument: string | undefined,
  call: SettingCall<RunFlags>,
): Promise<RunStart> {
  const { ports, flags: { attach = [] } } = call;
  const attached = readAttachments(ports, attach);
  const prompt = await resolvePrompt(argument, call);
  const [first] = attach;
  if (first === undefined || prompt !== null) return { prompt, attached };
  throw unusable(first, "there is no prompt to attach it to", 'Add a prompt: reprise run --attach FILE "…"');
}

/**
 * The prompt, or `null` if an unfinished run continues without a prompt. Stdin is read unless it is a terminal: beside
 * an argument it is appended after a blank line, otherwise it is the prompt. The argument `-` is stdin alone.
 *
 * @throws {RepriseError} `no_prompt` if there is none; `usage` if stdin stays silent, is not UTF-8 or is too long;
 * `timed_out` if it does not end in time.
 */
async function resolvePrompt(
  argument: string | undefined,
  call: SettingCall<RunFlags>,
): Promise<string | null> {
  const { ports, flags, config, selector, context: { output } } = call;
  const unread = unreadSetting(ports, flags, config);
  const argumentText = argument === "-" ? undefined : argument?.toWellFormed();
  if (argumentText?.trim() === "") throw noPrompt("the argument is empty");
  const isRequired = argument === "-" || (argument === undefined && selector === null);
  // A prompt of "-" asks for stdin, whatever the settings for all runs are.
  const isUnread = unread === "--no-stdin" || (unread !== null && argument !== "-");
  if (isUnread || ports.stdin.isTerminal()) {
    if (isRequired) throw unreadStdin(argument, isUnread ? unread : null);
    return argumentText ?? null;
  }
  const bytes = await readStdin(call, isRequired);
  if (bytes.length === 0 && !isRequired) return argumentText ?? null;
  const text = decoded(bytes);
  if (argumentText !== undefined) {
    output.note(`stdin: ${counted(bytes.length, "byte")} added to the prompt`);
    return `${argumentText}\n\n${text}`;
  }
  if (text.trim() === "") throw noPrompt("stdin is empty");
  if (!isRequired) output.note(`stdin: ${counted(bytes.length, "byte")} used as the prompt`);
  return text;
}

async function readStdin(
  { ports: { stdin }, flags: { timeout, stdinWait }, context: { output } }: SettingCall<RunFlags>,
  isRequired: boolean,
): Promise<Uint8Array> {
  const wait = (stdinWait ?? (isRequired ? 0 : STDIN_WAIT_SECONDS)) || null;
  const limit = Promise.withResolvers<never>();
  limit.promise.catch(() => {});
  let isNoted = false;
  const sayWaiting = () => {
    if (!isNoted) output.note(isRequired ? "waiting for the prompt on stdin" : WAITING);
    isNoted = true;
  };
  const timers = {
    timeout: setTimeout(() => limit.reject(unended(timeout)), timeout * 1000),
    wait: wait === null ? undefined : setTimeout(() => limit.reject(silent(wait)), wait * 1000),
    silence: setTimeout(sayWaiting, SILENCE_MS),
  };
  const buffer = new Uint8Array(READ_BYTES);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const next = () =>
    nextChunk(stdin, buffer).catch((cause) => {
      throw unreadable(cause);
    });
  try {
    for (;;) {
      const chunk = await Promise.race([next(), limit.promise]);
      if (chunk === null) return concatBytes(chunks);
      clearTimeout(timers.wait);
      clearTimeout(timers.silence);
      timers.silence = setTimeout(sayWaiting, SILENCE_MS);
      size += chunk.length;
      if (size > MAX_STDIN_BYTES) {
        throw new RepriseError("usage", `Cannot use more than ${MAX_STDIN_BYTES} bytes of stdin`, {
          hint: ATTACH,
        });
      }
      chunks.push(chunk);
    }
  } finally {
    for (const timer of Object.values(timers)) clearTimeout(timer);
  }
}

const FOR_ALL_RUNS = 'REPRISE_NO_STDIN=1 or "reprise config set stdin off"';
const WAITING = `waiting for stdin (use --no-stdin or </dev/null; for all runs, ${FOR_ALL_RUNS})`;
const ATTACH = 'Attach it as a file: reprise run --attach FILE "…"';
const WITHOUT_STDIN = "Leave stdin out with --no-stdin";

function decoded(bytes: Uint8Array): string {
  try {
    return decodeUtf8Exactly(bytes);
  } catch (cause) {
    throw new RepriseError("usage", "Cannot use stdin as text: it is not valid UTF-8", {
      hint: ATTACH,
      cause,
    });
  }
}

function noPrompt(why: string): RepriseError {
  return new RepriseError("no_prompt", `Cannot start a run without a prompt: ${why}`, {
    hint: 'Give it as an argument (reprise run "…"), or pipe it in (… | reprise run)',
  });
}

function unreadStdin(argument: string | undefined, unread: UnreadSetting | null): RepriseError {
  if (unread === null) return noPrompt("stdin is a terminal");
  if (argument === undefined) return noPrompt(`${unread} leaves stdin unread`);
  return new RepriseError("usage", 'Cannot use --no-stdin with the prompt "-", which is stdin', {
    hint: "Give one of them",
  });
}

function unended(seconds: number): RepriseError {
  return new RepriseError(
    "timed_out",
    `Cannot read stdin: it did not end within ${counted(seconds, "second")} (--timeout)`,
    { hint: "Give the prompt as an argument with --no-stdin, or close the pipe" },
  );
}

function silent(seconds: number): RepriseError {
  return new RepriseError(
    "usage",
    `Cannot read stdin: no byte and no end came within ${counted(seconds, "second")} (--stdin-wait)`,
    {
      hint:
        `${WITHOUT_STDIN} or </dev/null, for all runs with ${FOR_ALL_RUNS}, or wait longer with --stdin-wait SECONDS`,
    },
  );
}

function unreadable(cause: unknown): RepriseError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new RepriseError("usage", `Cannot read stdin: ${why}`, { hint: WITHOUT_STDIN, cause });
}

/** Bytes of all files of one prompt: each request holds them in memory as base64. */
const MAX_ATTACHED_BYTES = 50 * 1024 * 1024;

const KINDS = "Attach PNG, JPEG, GIF, WebP, PDF or UTF-8 text";

/**
 * Reads files and finds out their types by their content.
 *
 * @throws {RepriseError} `usage` for a file that is missing, special, empty, of another type, or too large.
 */
function readAttachments(ports: Ports, paths: readonly string[]): AttachedFile[] {
  let room = MAX_ATTACHED_BYTES;
  return paths.map((path) => {
    const bytes = readFile(ports, path, room);
    room -= bytes.length;
    const mediaType = mediaTypeOf(bytes);
    if (mediaType === null) throw unusable(path, "it is neither an image, a PDF nor UTF-8 text", KINDS);
    if (mediaType === "text/plain" && decodeUtf8Leniently(bytes).trim() === "") {
      throw unusable(path, bytes.length === 0 ? "it is empty" : "it holds only white space", KINDS);
    }
    const name = path.slice(path.lastIndexOf("/") + 1).toWellFormed();
    return { name, mediaType, bytes, sha256: sha256Hex(bytes) };
  });
}

function readFile(ports: Ports, path: string, limit: number): Uint8Array {
  const full = absolute(ports, path);
  const kind = path === "" ? "a directory" : otherKind(full);
  if (kind !== null) throw unusable(path, `it is ${kind}, not a regular file`, "Give a file");
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (const chunk of chunksOf(ports, full)) {
      chunks.push(chunk.slice());
      size += chunk.length;
      if (size > limit) break;
    }
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound ? "there is no such file" : "it cannot be read";
    throw unusable(
      path,
      why,
      "Give a file that exists; its path is relative to the working directory",
      cause,
    );
  }
  if (size <= limit) return concatBytes(chunks);
  throw unusable(
    path,
    `with it, the attached files have more than ${MAX_ATTACHED_BYTES} bytes`,
    "Attach less, or name the file in the prompt: tools read files of the workspace",
  );
}

function unusable(path: string, why: string, hint: string, cause?: unknown): RepriseError {
  return new RepriseError("usage", `Cannot attach ${JSON.stringify(path)}: ${why}`, {
    hint,
    ...defined({ cause }),
  });
}
