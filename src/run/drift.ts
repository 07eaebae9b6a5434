import { mayBeSameEndpoint } from "../domain/fingerprint.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Pins } from "../domain/turn.ts";

/** One pin that differs from the run before, and what that does. */
export interface Drift {
  readonly pin:
    | "provider"
    | "endpoint"
    | "model"
    | "effort"
    | "summary"
    | "instructions"
    | "tools"
    | "permissions"
    | "workspace";
  readonly before: JsonValue;
  readonly now: JsonValue;
  /** What it does to the replay of reasoning and to the provider's prompt cache. */
  readonly effect: string;
}

const CACHE_ANEW = "the prompt cache starts anew";

/** What differs between the pins of two runs, in a fixed order. */
export function pinDrift(before: Pins, now: Pins): Drift[] {
  const rows: readonly Drift[] = [
    {
      pin: "provider",
      before: before.fingerprint.provider,
      now: now.fingerprint.provider,
      effect: `reasoning of the other provider is not sent; ${CACHE_ANEW}`,
    },
    {
      pin: "endpoint",
      before: before.fingerprint.endpoint,
      // An older turn may lack the port: then it is unknown whether it differs.
      now: mayBeSameEndpoint(before.fingerprint, now.fingerprint)
        ? before.fingerprint.endpoint
        : now.fingerprint.endpoint,
      effect: `reasoning from the other endpoint is not sent; ${CACHE_ANEW}`,
    },
    {
      pin: "model",
      before: before.model,
      now: now.model,
      effect: `reasoning of the other model is not sent; ${CACHE_ANEW}`,
    },
    {
      pin: "effort",
      before: before.effort ?? null,
      now: now.effort ?? null,
      effect: `reasoning is still sent, though it was made with another effort; ${CACHE_ANEW}`,
    },
    {
      pin: "summary",
      before: before.summary ?? null,
      now: now.summary ?? null,
      effect: "replay and cache stay as they are; reasoning is summarized in another way",
    },
    {
      pin: "instructions",
      before: before.instructions,
      now: now.instructions,
      effect: `reasoning is still sent, though it was made under other instructions; ${CACHE_ANEW}`,
    },
    {
      pin: "tools",
      before: before.tools,
      now: now.tools,
      effect: `reasoning is still sent; ${CACHE_ANEW}`,
    },
    {
      pin: "permissions",
      before: before.permissions,
      now: now.permissions,
      effect: "replay and cache stay as they are, unless other tools are offered",
    },
    {
      pin: "workspace",
      before: before.workspace,
      now: now.workspace,
      effect: "replay and cache stay as they are; earlier results speak of the other directory",
    },
  ];
  return rows.filter((row) => JSON.stringify(row.before) !== JSON.stringify(row.now));
}
