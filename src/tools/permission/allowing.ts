import type { CallSubject } from "../tool.ts";
import { judgePermission, parsePolicy, type Policy } from "./policy.ts";
import { commandLine } from "./shell_words.ts";

/**
 * The narrowest value of `--allow` that would allow a denied call: this command or path, else its group. `null` if a
 * deny rule decides, which no value overrules.
 */
export function allowingValue(policy: Policy, subject: CallSubject): string | null {
  const { tool, group, target } = subject;
  // A path with these characters would be a pattern for other paths too.
  const narrow = target.kind === "path" && !/[*?{}]/.test(target.path)
    ? [`${group}:${target.path}`]
    : target.kind === "command" && target.argv !== null
    ? [`${group}:${commandLine(target.argv)}`]
    : [];
  const tools = new Map([[tool, group]]);
  const found = [...narrow, group].find((text) => {
    try {
      const { allow } = parsePolicy({ allow: [text], deny: [], ask: false, tools });
      return judgePermission({ ...policy, allow, ask: false }, subject, false).decision === "allow";
    } catch {
      // Not every path or command can be written as a pattern.
      return false;
    }
  });
  return found ?? null;
}
