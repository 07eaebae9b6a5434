import type { Manifest } from "../../domain/manifest.ts";
import { parsePolicy, type Policy, policyFromText, policyText } from "../../tools/permission/policy.ts";
import { ALL_TOOLS, TOOL_GROUPS } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import type { PostureFlags } from "../flags.ts";

/** What a run may do. */
export interface Posture {
  readonly policy: Policy;
  /** As the pins keep it. */
  readonly text: readonly string[];
  /** The tools that are worth offering: those that some rule, or a person, may allow. */
  readonly offered: readonly Tool[];
}

/**
 * The posture of a run: the flags decide. What an earlier run of the session was denied stays denied; what it was
 * allowed has to be allowed again, because a session's files must not widen anything by themselves.
 *
 * @throws {RepriseError} `usage` for a rule that cannot be used.
 */
export function postureOf(flags: PostureFlags, manifest: Manifest | null): Posture {
  const asked = {
    allow: flags.allow ?? [],
    deny: flags.deny ?? [],
    ask: flags.ask === true,
    tools: TOOL_GROUPS,
  };
  const given = parsePolicy(asked);
  const kept = manifest === null ? [] : policyFromText(manifest.pins.permissions, TOOL_GROUPS).deny;
  const policy: Policy = { ...given, deny: [...given.deny, ...kept] };
  const offered = ALL_TOOLS.filter((tool) => mayRun(policy, tool));
  return { policy, text: policyText(policy), offered };
}

/** Whether any call of a tool could be allowed. */
function mayRun(policy: Policy, tool: Tool): boolean {
  const subject = { tool: tool.name, group: tool.group, target: { kind: "none" } } as const;
  if (policy.deny.some((rule) => rule.matches(subject))) return false;
  if (tool.group === "read" || policy.ask) return true;
  return policy.allow.some(({ text }) => {
    const name = text.split(":", 1)[0];
    return name === tool.name || name === tool.group;
  });
}
