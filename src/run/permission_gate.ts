/** Decides calls by the permissions of a run, and by the answers of a person. */
import type { DeniedCall } from "../schemas/run_events.ts";
import {
  allowingValue,
  judgePermission,
  type PermissionVerdict,
  type Policy,
} from "../tools/permission/policy.ts";
import type { CallSubject, FileChange } from "../tools/tool.ts";

/**
 * A person's answer to a question. `always` holds for the same call, `always_tool` for all calls of the tool that no rule
 * decides, both for the rest of the run. `quit` ends the run.
 */
export type Consent = "yes" | "no" | "always" | "always_tool" | "quit";

export interface GatedCall {
  readonly subject: CallSubject;
  /** The call's arguments as the model wrote them. */
  readonly argumentsText: string;
}

/** A question to a person, with the exact call that would run. */
export interface Question extends GatedCall {
  /** The change that the call would make to a file; `null` for other calls, and if it cannot be shown. */
  readonly change: FileChange | null;
  /** Number of the question among those about one response, from 1. */
  readonly number: number;
  /** Number of questions about the response, as far as it is known before the first answer. */
  readonly of: number;
}

/** Asks the person at the terminal; an end of input without an answer is a `no`. */
export type Ask = (question: Question) => Promise<Consent>;

export interface Decision {
  readonly allowed: boolean;
  readonly reason: PermissionVerdict["reason"];
  readonly rule: string | null;
}

export class PermissionGate {
  readonly policy: Policy;
  readonly #ask: Ask | null;
  readonly #always = new Set<string>();

  /** `ask` is `null` without a terminal: every question is then a denial. */
  constructor(policy: Policy, ask: Ask | null) {
    this.policy = policy;
    this.#ask = ask;
  }

  /** The decision on a call by rules and earlier answers; `null` if only a person can decide. */
  decide({ subject, argumentsText }: GatedCall): Decision | null {
    const { decision, reason, rule } = judgePermission(this.policy, subject, this.#ask !== null);
    if (decision !== "ask") return { allowed: decision === "allow", reason, rule };
    if (this.#always.has(sameCall({ subject, argumentsText }))) return answered("always");
    return this.#always.has(subject.tool) ? answered("always_tool") : null;
  }

  /** Asks about a call; `null` if the person ends the run. Questions come one at a time: callers wait for each. */
  async ask(question: Question): Promise<Decision | null> {
    const answer = await this.#ask?.(question) ?? "no";
    if (answer === "quit") return null;
    if (answer === "always") this.#always.add(sameCall(question));
    if (answer === "always_tool") this.#always.add(question.subject.tool);
    return answered(answer);
  }

  /** Describes a denied call, for the report at the end of the run. `subject` is `null` if it is not known. */
  denied(
    call: { readonly tool: string; readonly call_id: string; readonly subject: CallSubject | null },
    { reason, rule }: { readonly reason: string; readonly rule: string | null },
  ): DeniedCall {
    const { tool, call_id, subject } = call;
    const target = subject?.target;
    return {
      tool,
      call_id,
      target: target?.kind === "command" ? target.line : target?.kind === "path" ? target.path : null,
      reason,
      rule,
      allow: subject === null ? null : allowingValue(this.policy, subject),
    };
  }
}

function answered(answer: Exclude<Consent, "quit">): Decision {
  return { allowed: answer !== "no", reason: `asked_${answer}`, rule: null };
}

/** Distinct from the name of any tool. */
function sameCall({ subject, argumentsText }: GatedCall): string {
  return JSON.stringify([subject.tool, subject.target, argumentsText]);
}
