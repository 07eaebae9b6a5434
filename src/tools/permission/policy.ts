/**
 * What a run may do: rules from `--allow` and `--deny`, and the verdict on one call. Pure. Deny wins, and a doubt
 * is a denial.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import { commandPattern, pathPattern, PatternError, type Purpose } from "./patterns.ts";
import type { CallSubject, ToolGroup } from "./subject.ts";

export type { CallSubject, Target, ToolGroup } from "./subject.ts";

/** Why a call may run or not. */
export type VerdictReason =
  | "reading"
  | "allowed_by_rule"
  | "denied_by_rule"
  /** Only a shell can tell what the command line does, and a deny pattern might mean it. */
  | "unclear_command"
  | "not_allowed"
  | "no_terminal"
  | "asked_yes"
  | "asked_always"
  | "asked_no";

/** What the rules say about a call. `ask` means that only a person can decide. */
export interface PermissionVerdict {
  readonly decision: "allow" | "deny" | "ask";
  readonly reason: VerdictReason;
  /** The rule that decided, as it was written. */
  readonly rule: string | null;
}

/** One value of `--allow` or `--deny`. */
export interface PermissionRule {
  readonly text: string;
  readonly matches: (subject: CallSubject) => boolean;
  /** True when the rule is about such calls, but cannot see whether about this one. */
  readonly cannotTell: (subject: CallSubject) => boolean;
}

/** The permissions of a run. */
export interface Policy {
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** Calls that no rule decides are put to a person at the terminal. */
  readonly ask: boolean;
}

/** What a policy is parsed from. */
export interface PolicySource {
  /** Values as given: a name, names with commas, or one pattern with a colon. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly ask: boolean;
  /** Every tool there is, by name. */
  readonly tools: ReadonlyMap<string, ToolGroup>;
}

const GROUPS: ReadonlySet<string> = new Set<ToolGroup>(["read", "write", "shell"]);

/**
 * Parses permissions.
 *
 * @throws {RepriseError} `usage` for a name that is neither tool nor group, or a pattern that cannot be matched.
 */
export function parsePolicy(source: PolicySource): Policy {
  const parse = (purpose: Purpose, values: readonly string[]) =>
    values.flatMap(splitValue).map((text) => parseRule(text, purpose, source.tools));
  return { allow: parse("allow", source.allow), deny: parse("deny", source.deny), ask: source.ask };
}

/**
 * Permissions in canonical order, as a run pins them: `read`, then what is allowed, what is denied (each sorted,
 * none twice), then `ask`.
 */
export function policyText(policy: Policy): readonly string[] {
  const lines = (word: Purpose, rules: readonly PermissionRule[]) =>
    [...new Set(rules.map(({ text }) => `${word} ${text}`))].sort();
  return [
    "read",
    ...lines("allow", policy.allow),
    ...lines("deny", policy.deny),
    ...(policy.ask ? ["ask"] : []),
  ];
}

/**
 * The permissions that {@linkcode policyText} wrote, for a run that continues under the pins of an earlier one.
 *
 * @throws {RepriseError} `usage` for a line that this version does not know: a doubt allows nothing.
 */
export function policyFromText(lines: readonly string[], tools: ReadonlyMap<string, ToolGroup>): Policy {
  const allow: string[] = [];
  const deny: string[] = [];
  let ask = false;
  for (const line of lines) {
    if (line === "ask") ask = true;
    else if (line.startsWith("allow ")) allow.push(line.slice("allow ".length));
    else if (line.startsWith("deny ")) deny.push(line.slice("deny ".length));
    else if (line !== "read") {
      throw new RepriseError(
        "usage",
        `Cannot keep the session's permissions: ${JSON.stringify(line)} is not known`,
        {
          hint:
            "Use the version of reprise that wrote it, or a newer one: a rule that is not understood allows nothing",
        },
      );
    }
  }
  return parsePolicy({ allow, deny, ask, tools });
}

/** The verdict of the rules alone; `terminal` says whether a person could be asked. */
export function judgePermission(policy: Policy, subject: CallSubject, terminal: boolean): PermissionVerdict {
  const denied = policy.deny.find((rule) => rule.matches(subject));
  if (denied !== undefined) return { decision: "deny", reason: "denied_by_rule", rule: denied.text };
  const doubt = policy.deny.find((rule) => rule.cannotTell(subject));
  if (doubt !== undefined) return { decision: "deny", reason: "unclear_command", rule: doubt.text };
  if (subject.group === "read") return { decision: "allow", reason: "reading", rule: null };
  const allowed = policy.allow.find((rule) => rule.matches(subject));
  if (allowed !== undefined) return { decision: "allow", reason: "allowed_by_rule", rule: allowed.text };
  if (!policy.ask) return { decision: "deny", reason: "not_allowed", rule: null };
  return terminal
    ? { decision: "ask", reason: "not_allowed", rule: null }
    : { decision: "deny", reason: "no_terminal", rule: null };
}

/** The paths that a reading tool must not come across while it lists or searches, as `ToolContext.isHidden`. */
export function hiddenPaths(policy: Policy, tool: string): (path: string) => boolean {
  return (path) =>
    policy.deny.some((rule) => rule.matches({ tool, group: "read", target: { kind: "path", path } }));
}

/** A value with a colon is one pattern, whatever commas it holds. */
function splitValue(value: string): string[] {
  return value.includes(":") ? [value.trim()] : value.split(",").map((name) => name.trim());
}

function parseRule(text: string, purpose: Purpose, tools: ReadonlyMap<string, ToolGroup>): PermissionRule {
  const refuse = (why: string) =>
    new RepriseError("usage", `Cannot use --${purpose} ${JSON.stringify(text)}: ${why}`, {
      hint: `Names: ${[...GROUPS, ...tools.keys()].join(", ")}; patterns: "shell:git status", "write:src/**"`,
    });
  const colon = text.indexOf(":");
  const name = colon < 0 ? text : text.slice(0, colon);
  const group = tools.get(name) ?? (GROUPS.has(name) ? name as ToolGroup : undefined);
  if (group === undefined) throw refuse(`${JSON.stringify(name)} is neither a tool nor a group`);
  const fits = (subject: CallSubject) => subject.tool === name || subject.group === name;
  if (colon < 0) return { text, matches: fits, cannotTell: () => false };
  const written = text.slice(colon + 1).trim();
  if (written === "") throw refuse("its pattern is empty");
  try {
    const pattern = group === "shell" ? commandPattern(written, purpose) : pathPattern(written, purpose);
    return {
      text,
      matches: (subject) => fits(subject) && pattern.matches(subject.target),
      cannotTell: (subject) => fits(subject) && pattern.cannotTell(subject.target),
    };
  } catch (error) {
    if (error instanceof PatternError) throw refuse(error.message);
    throw error;
  }
}
