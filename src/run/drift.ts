import type { Pins } from "../domain/turn.ts";

/** Names of what differs between the pins of two runs, in a fixed order. */
export function pinDrift(before: Pins, now: Pins): string[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["provider", before.fingerprint.provider, now.fingerprint.provider],
    ["endpoint", before.fingerprint.endpoint, now.fingerprint.endpoint],
    ["model", before.model, now.model],
    ["instructions", before.instructions, now.instructions],
    ["tools", before.tools, now.tools],
    ["permissions", before.permissions.join(","), now.permissions.join(",")],
    ["workspace", before.workspace, now.workspace],
  ];
  return pairs.filter(([, a, b]) => a !== b).map(([name]) => name);
}
