import { judgePermission, type PermissionVerdict, type Policy } from "../tools/permission/policy.ts";
import type { CallSubject } from "../tools/tool.ts";

/** What a person answers. `always` holds for the same call, for the rest of the run. */
export type Answer = "yes" | "no" | "always";

/** A question to a person: exactly what would run. */
export interface Question {
  readonly subject: CallSubject;
  /** The call's arguments as the model wrote them. */
  readonly argumentsText: string;
}

/** Puts a question to the person at the terminal; an end without an answer is a `no`. */
export type Ask = (question: Question) => Promise<Answer>;

/** A decision that stands. */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: PermissionVerdict["reason"];
  readonly rule: string | null;
}

/** Decides calls by the posture of the run, and by what a person said during it. */
export class PermissionGate {
  readonly policy: Policy;
  readonly #ask: Ask | null;
  readonly #always = new Set<string>();

  /** `ask` is `null` where nobody can be asked: then every question is a denial. */
  constructor(policy: Policy, ask: Ask | null) {
    this.policy = policy;
    this.#ask = ask;
  }

  /** The decision on one call. Questions come one at a time: callers wait for each. */
  async decide(question: Question): Promise<Decision> {
    const { subject } = question;
    const verdict = judgePermission(this.policy, subject, this.#ask !== null);
    if (verdict.decision !== "ask" || this.#ask === null) {
      return { allowed: verdict.decision === "allow", reason: verdict.reason, rule: verdict.rule };
    }
    const same = JSON.stringify([subject.tool, subject.target, question.argumentsText]);
    if (this.#always.has(same)) return { allowed: true, reason: "asked_always", rule: null };
    const answer = await this.#ask(question);
    if (answer === "always") this.#always.add(same);
    return { allowed: answer !== "no", reason: `asked_${answer}`, rule: null };
  }
}
