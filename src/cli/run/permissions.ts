/** Permissions of a run, from flags, configuration and session. */
import { asRepriseError, RepriseError } from "../../domain/errors.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { parsePolicy, type Policy, policyFromText, policyText } from "../../tools/permission/policy.ts";
import { ALL_TOOLS } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Config } from "../config_file.ts";
import type { PermissionFlags } from "../flags.ts";

/**
 * The permissions that flags and configuration give.
 *
 * @throws {RepriseError} `usage` for an invalid pattern; `bad_configuration` if the configuration has it.
 */
export function policySetting({ allow = [], deny = [], ask }: PermissionFlags, config: Config): Policy {
  const given = parsePolicy({ allow, deny, ask: ask === true });
  const configured = configuredPolicy(config);
  return {
    ...given,
    allow: [...configured.allow, ...given.allow],
    deny: [...configured.deny, ...given.deny],
  };
}

/**
 * The permissions that the configuration gives.
 *
 * @throws {RepriseError} `bad_configuration` for an invalid pattern.
 */
export function configuredPolicy({ allow, deny }: Pick<Config, "allow" | "deny">): Policy {
  try {
    return parsePolicy({ allow, deny, ask: false });
  } catch (error) {
    const { message, hint } = asRepriseError(error);
    const text = `Cannot use a rule of the configuration: ${message}`;
    throw new RepriseError("bad_configuration", text, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

export interface Permissions {
  readonly policy: Policy;
  /** Lines in canonical order, as the pins keep them. */
  readonly text: readonly string[];
  /** The tools in the request: those that a rule or a person may allow. */
  readonly offered: readonly Tool[];
}

/**
 * Adds the denials of the session's last run to a policy. Allowances have to be given again, because files of a session
 * must not extend permissions.
 */
export function permissionsOf(given: Policy, manifest: Manifest | null): Permissions {
  const kept = manifest === null ? [] : policyFromText(manifest.pins.permissions).deny;
  const policy: Policy = { ...given, deny: [...given.deny, ...kept] };
  const offered = ALL_TOOLS.filter((tool) => mayRun(policy, tool));
  return { policy, text: policyText(policy), offered };
}

function mayRun(policy: Policy, tool: Tool): boolean {
  const subject = { tool: tool.name, group: tool.group, target: { kind: "none" } } as const;
  if (policy.deny.some((rule) => rule.matches(subject))) return false;
  if (tool.group === "read" || policy.ask) return true;
  return policy.allow.some(({ text }) => {
    const name = text.split(":", 1)[0];
    return name === tool.name || name === tool.group;
  });
}
