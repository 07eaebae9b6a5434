/** Events that a run reports while it lasts: the JSON Lines of `run --json`. */
import type { Item, RunState, ToolResultStatus } from "../domain/event.ts";
import type { RequestUsage, ShownUsage } from "../domain/usage.ts";
import type { ErrorCode, ErrorDocument, ExitCode } from "../domain/errors.ts";
import type { DeniedCall } from "./permission_gate.ts";
import type { PinChange } from "./pins.ts";
import type { ReportedRetry } from "./refusals.ts";
import type { FoldRepair } from "../fold/history_fold.ts";
import type { DroppedItem, Turn } from "../domain/turn.ts";

/** A reported fact that is not a failure. */
export type Notice =
  | { readonly kind: "replay_dropped"; readonly items: readonly DroppedItem[] }
  | ReportedRetry & {
    readonly kind: "replay_stripped";
    readonly message: string;
    /** Command that shows the decision. */
    readonly hint: string;
  }
  | { readonly kind: "orphan_repaired"; readonly call_ids: readonly string[] }
  | { readonly kind: FoldRepair["kind"]; readonly seq: number; readonly call_id: string }
  /** An answer does not fit the output schema; `corrected` if the model gets another try. */
  | { readonly kind: "schema_mismatch"; readonly errors: readonly string[]; readonly corrected: boolean }
  | { readonly kind: "run_closed"; readonly run: number }
  | {
    readonly kind: "compacted";
    readonly turn: number;
    /** The checkpoint replaces every event up to here; 0 if only results were shortened. */
    readonly to_seq: number;
    /** Estimates of the history that is sent, before and after. */
    readonly tokens_before: number;
    readonly tokens_after: number;
    /** Present if no checkpoint can bring the requests under the limit: this run writes no more. */
    readonly out_of_reach?: boolean;
  }
  | {
    readonly kind: "retry";
    readonly attempt: number;
    readonly delay_ms: number;
    readonly code: string;
    readonly message: string;
  }
  | { readonly kind: "stream"; readonly message: string }
  /** A request is sent over HTTP instead of the requested WebSocket. */
  | { readonly kind: "transport"; readonly message: string }
  /** A played fixture answered a request that means the same only under match rules, or without outputs of tools. */
  | {
    readonly kind: "matched";
    /** Number of the request, from 1 on; `exchange` is that of the exchange. */
    readonly request: number;
    readonly exchange: number;
    readonly tier: "rules" | "conversation";
    /** Match rules that the request needed. */
    readonly rules: readonly string[];
  }
  /** A tool returned other output than at recording, or a match rule met a limit. */
  | {
    readonly kind: "match_warning";
    readonly request: number;
    readonly rule: string;
    readonly message: string;
  }
  /** A repair recorded that the session's instructions are gone: the default ones replace them. */
  | { readonly kind: "instructions_lost"; readonly message: string }
  /** `run --record`: the folder holds the whole run. */
  | {
    readonly kind: "recorded";
    readonly path: string;
    readonly exchanges: number;
    readonly calls: number;
    readonly secrets: number;
    /** True if a replay had the same outcome and the same requests; its turns are kept as `expect/`. */
    readonly tested: boolean;
    /** Reason if the recording was not tested, such as the first difference. */
    readonly untested?: string;
    /** Secrets that are ordinary words, and the files in which they were left; absent if there are none. */
    readonly left_alone?: readonly { readonly name: string; readonly files: readonly string[] }[];
  }
  /** The recording failed; the run itself is unaffected. */
  | {
    readonly kind: "not_recorded";
    readonly path: string;
    readonly code: ErrorCode;
    readonly message: string;
  }
  /** The output of a call held keys of this process: they are neither saved nor sent. */
  | {
    readonly kind: "keys_replaced";
    readonly call_id: string;
    readonly name: string;
    /** Variables that hold the keys, or their kinds. */
    readonly keys: readonly string[];
  }
  /** With a remote: a turn that waited since an earlier run lost its number. */
  | { readonly kind: "turn_set_aside"; readonly turn: number; readonly message: string };

/** One line of `run --json`. */
export type RunEvent =
  | { readonly type: "session"; readonly id: string; readonly path: string; readonly new: boolean }
  | {
    readonly type: "run.started";
    readonly run: number;
    readonly continues: boolean;
    readonly model: string;
    readonly provider: string;
    /** Permissions that the user's configuration gives, such as `allow shell:git status`. */
    readonly config_rules: readonly string[];
    /** The pins that differ from the previous run, with the effects. */
    readonly drift: readonly PinChange[];
  }
  | {
    readonly type: "request";
    readonly step: number;
    readonly items: number;
    readonly reasoning_sent: number;
    readonly reasoning_dropped: number;
    readonly fingerprint: string;
    /** True if the previous request was refused and this request repeats it without the refused part. */
    readonly again?: true;
  }
  | { readonly type: "text.delta"; readonly delta: string; readonly phase?: string }
  | { readonly type: "reasoning.delta"; readonly delta: string }
  | { readonly type: "item"; readonly item: Item }
  | {
    readonly type: "turn.saved";
    readonly turn: number;
    readonly kind: string;
    readonly seq: readonly [number, number];
    readonly sum: string;
    /** Only with a remote: it has the turn. */
    readonly remote?: "stored";
  }
  | {
    readonly type: "tool.started";
    readonly seq: number;
    readonly call_id: string;
    readonly name: string;
    readonly arguments: string;
  }
  /** Output of a call while it runs, or its result if there was none; ephemeral, and only the first 16,384 characters. */
  | {
    readonly type: "tool.output";
    readonly seq: number;
    readonly call_id: string;
    readonly name: string;
    readonly text: string;
    /** True if no more output of the call is reported. */
    readonly truncated?: true;
  }
  | {
    readonly type: "tool.finished";
    readonly seq: number;
    readonly call_id: string;
    readonly name: string;
    readonly status: ToolResultStatus;
    readonly output_chars: number;
  }
  | ({ readonly type: "usage"; readonly step: number } & RequestUsage)
  | ({ readonly type: "notice" } & Notice)
  | ErrorDocument
  | RunEnded;

/** The last line of `run --json`, exactly once. */
export interface RunEnded {
  readonly type: "run.ended";
  readonly state: RunState;
  readonly exit_code: ExitCode;
  readonly session: string;
  readonly run: number;
  /** First and last turn of this run. */
  readonly turns: readonly [number, number];
  /** The answer: the last response's messages that are not commentary. */
  readonly text: string;
  readonly denials: number;
  readonly denied: readonly DeniedCall[];
  readonly usage: ShownUsage<Required<RequestUsage>>;
  /** In US dollars; `null` if the cost of a response is unknown, and if a fixture is played. */
  readonly cost_usd: number | null;
  /** Only if the answer does not fit the output schema: `text` is empty then. */
  readonly reason?: "schema_mismatch";
  /** The command that continues the session. */
  readonly resume: string;
}

/** Receives run events. Must not throw: a closed output stops the run through its stop signal. */
export type Emit = (event: RunEvent) => void;

/** The event that acknowledges a durable turn. */
export function savedEvent({ turn, kind, seq, sum }: Turn): RunEvent {
  return { type: "turn.saved", turn, kind, seq, sum };
}
