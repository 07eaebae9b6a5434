/** Output of a run for people: its events on the terminal, its answer in a file. */
import { costText } from "../../domain/cost.ts";
import { RepriseError } from "../../domain/errors.ts";
import { counted, headOf } from "../../domain/text.ts";
import type { RunEnded, RunEvent } from "../../schemas/run_events.ts";
import { fileError } from "../../store/fs_errors.ts";
import type { Output } from "../output.ts";
import { callLine } from "../transcript/items.ts";
import { statusText } from "../transcript/words.ts";
import { leftAloneNote } from "../record/notes.ts";
import { otherKind } from "../settings.ts";
import { dim, type Printable } from "../terminal.ts";
import type { RunFlags } from "./command.ts";
import { matchNote } from "./sending.ts";
import { deniedLines, ShownOutput } from "./tool_view.ts";

/** UTF-16 units of a call that a progress line shows. */
const CALL_SHOWN = 160;

type ViewFlags = Pick<RunFlags, "verbose" | "acceptDrift" | "stream">;

/**
 * Shows a run to a person. stdout gets the answer of a completed run, whole at the end; on a terminal and with `stream`
 * all text as it comes. stderr gets progress (on a terminal only), and the session, notices and errors always.
 */
export class RunView {
  readonly #output: Output;
  readonly #flags: ViewFlags;
  /** Match rules of the requests that were reported. */
  readonly #matched = new Set<string>();
  readonly #streams: boolean;
  #shown = new ShownOutput();
  /** The stream with an unfinished line. */
  #open: "stdout" | "stderr" | null = null;

  constructor(output: Output, flags: ViewFlags) {
    this.#output = output;
    this.#flags = flags;
    this.#streams = output.stdoutIsTerminal || flags.stream === true;
  }

  show(event: RunEvent): void {
    switch (event.type) {
      case "session":
        this.#output.note(dim(`session ${event.id}${event.new ? " (new)" : ""}`));
        break;
      case "run.started":
        this.#line(dim(`run ${event.run} · ${event.model}`));
        if (event.config_rules.length > 0) this.#line(dim(`config.json: ${event.config_rules.join(", ")}`));
        if (!this.#flags.acceptDrift) {
          const changed = event.drift.map(({ pin, effect }) => `${pin} (${effect})`).join("; ");
          if (changed !== "") this.#note(`changed since the last run: ${changed}`);
        }
        break;
      case "request":
        if (this.#flags.verbose) {
          this.#output.note(
            `reasoning replay items=${event.reasoning_sent} fingerprint=${event.fingerprint}`,
          );
        }
        break;
      case "text.delta":
        if (this.#streams) this.#stream(event.delta);
        break;
      case "reasoning.delta":
        this.#output.progress(dim(event.delta));
        if (this.#output.stderrIsTerminal) this.#open = "stderr";
        break;
      case "tool.started":
        this.#line(headOf(callLine(event.name, event.arguments), CALL_SHOWN));
        this.#shown = new ShownOutput();
        break;
      case "tool.output":
        this.#output.progress(dim(this.#shown.next(event.text)));
        this.#open = this.#output.stderrIsTerminal && !this.#shown.isAtLineStart ? "stderr" : null;
        break;
      case "tool.finished":
        this.#line(
          dim(`  ${event.name}: ${statusText(event.status)}, ${counted(event.output_chars, "character")}`),
        );
        break;
      case "notice":
        if (event.kind === "matched" && !this.#isNew(event)) break;
        this.#note(noticeText(event));
        break;
      case "error":
        this.#endLine();
        this.#output.errorLine(
          String(event.message),
          typeof event.hint === "string" ? event.hint : undefined,
        );
        break;
      case "run.ended":
        this.#endLine();
        if (!this.#streams && event.state === "completed") this.#output.text(`${event.text}\n`);
        for (const line of deniedLines(event.denied)) this.#output.note(line);
        this.#line(dim(`${event.state}${spentNote(event)} · continue: ${event.resume}`));
        break;
      case "item":
        this.#endLine();
        break;
      case "turn.saved":
      case "usage":
        break;
    }
  }

  /** True for the first request of the run that needed these match rules. */
  #isNew({ tier, rules }: Extract<RunEvent, { kind: "matched" }>): boolean {
    const needed = JSON.stringify([tier, rules]);
    const isNew = !this.#matched.has(needed);
    this.#matched.add(needed);
    return isNew;
  }

  #note(text: string): void {
    this.#endLine();
    this.#output.note(`notice: ${text}`);
  }

  #line(text: Printable): void {
    this.#endLine();
    this.#output.progress(text);
    this.#output.progress("\n");
  }

  #stream(text: string): void {
    if (this.#open === "stderr") this.#endLine();
    this.#output.text(text);
    this.#open = "stdout";
  }

  /** Ends a streamed line before something else is written. */
  #endLine(): void {
    if (this.#open === "stdout") this.#output.text("\n");
    else if (this.#open === "stderr") this.#output.progress("\n");
    this.#open = null;
  }
}

/** Tokens and cost of a run in its last line, each only if it is known. */
function spentNote(
  { usage: { input_tokens: input, output_tokens: output }, cost_usd: cost }: RunEnded,
): string {
  const tokens = input === null || output === null || input + output === 0
    ? ""
    : ` · ${counted(input, "token")} in, ${output} out`;
  return cost === null ? tokens : `${tokens} · ${costText(cost)}`;
}

function noticeText(event: Extract<RunEvent, { type: "notice" }>): string {
  switch (event.kind) {
    case "replay_dropped": {
      const list = event.items.map((item) => `seq ${item.seq}: ${item.reason}`).join("; ");
      return `${counted(event.items.length, "earlier item")} not sent (${list})`;
    }
    case "replay_stripped": {
      const count = event.items.length === 0 ? "" : `: ${counted(event.items.length, "item")}`;
      const how = event.reason === "call_refused"
        ? `with the call of seq ${event.items.map(({ seq }) => seq).join(", ")} and its result as text`
        : `without the refused part (${event.reason}${count})`;
      return `the API refused the request; sent again ${how}: ${event.message}. ${event.hint}`;
    }
    case "orphan_repaired":
      return `calls of a killed run were answered on disk: ${event.call_ids.join(", ")}`;
    case "orphan_answered":
      return `call ${event.call_id} has no recorded result and is answered in the request`;
    case "call_id_renamed":
      return `a repeated call id is sent as ${event.call_id}`;
    case "result_without_call":
      return `a result without its call is not sent: ${event.call_id}`;
    case "duplicate_result":
      return `a second result of one call is not sent: ${event.call_id}`;
    case "result_elided":
      return `a long result is sent shortened since it was compacted: ${event.call_id}`;
    case "content_omitted":
      return `seq ${event.seq} is sent with a note in place of what was omitted`;
    case "call_as_text":
      return `call ${event.call_id} of seq ${event.seq} is sent as text with its result`;
    case "compacted": {
      const what = event.to_seq === 0
        ? "long results are sent shortened"
        : `the history up to seq ${event.to_seq} is sent as a summary`;
      const sizes = `about ${counted(event.tokens_after, "token")} instead of ${event.tokens_before}`;
      return `${what}: ${sizes}${
        event.out_of_reach === true
          ? "; no summary brings it under --auto-compact, so this run writes no other: give a larger number"
          : ""
      }`;
    }
    case "schema_mismatch":
      return `the answer does not fit the output schema${event.corrected ? " and is sent back once" : ""}: ${
        event.errors.join("; ")
      }`;
    case "run_closed":
      return `run ${event.run} was killed and is now closed as interrupted`;
    case "retry":
      return `trying again in ${
        (event.delay_ms / 1000).toFixed(1)
      } s (attempt ${event.attempt}): ${event.message}`;
    case "matched":
      return matchNote(event);
    case "match_warning":
    case "stream":
    case "transport":
    case "instructions_lost":
    case "turn_set_aside":
      return event.message;
    case "recorded":
      return `recorded into ${event.path}: ${counted(event.exchanges, "exchange")}, ` +
        `${counted(event.calls, "call")}, ${counted(event.secrets, "secret")} replaced` +
        (event.untested === undefined ? "" : `; it has no expect/: ${event.untested}`) +
        (event.left_alone === undefined ? "" : `; ${leftAloneNote(event.left_alone)}`);
    case "not_recorded":
      return `the run continues, but is not recorded: ${event.message}`;
    case "keys_replaced":
      return `${counted(event.keys.length, "key")} of this process replaced in the output of ${event.name}: ${
        event.keys.join(", ")
      }`;
  }
}

/**
 * Refuses a `-o FILE` that cannot be written, before a request costs money.
 *
 * @throws {RepriseError} `usage` when it is a directory, a FIFO or a device, or lies in no directory.
 */
export function requireAnswerFile(path: string): void {
  if (path === "") throw unusableFile(path, "the name is empty");
  const kind = otherKind(path);
  if (kind !== null) throw unusableFile(path, `it is ${kind}, not a regular file`);
  if (otherKind(path.replace(/[^/]*$/, "") || ".") !== "a directory") {
    throw unusableFile(path, "its directory is not there");
  }
}

function unusableFile(path: string, why: string): RepriseError {
  return new RepriseError("usage", `Cannot use ${JSON.stringify(path)} for the answer: ${why}`, {
    hint: "Give -o a file in a directory that exists",
  });
}

/** Writes the exact answer; returns an error instead of throwing it, because the run itself has completed. */
export function writeAnswer(path: string, text: string): RepriseError | null {
  // Opening a FIFO that was created during the run would wait for a reader.
  const kind = otherKind(path);
  if (kind !== null) return unusableFile(path, `it is ${kind}, not a regular file`);
  try {
    Deno.writeTextFileSync(path, text);
    return null;
  } catch (error) {
    const { code, message, details } = fileError(error, "write the answer", path);
    return new RepriseError(code, message, {
      hint: "Choose another file with -o; the session keeps the answer",
      details,
      cause: error,
    });
  }
}
