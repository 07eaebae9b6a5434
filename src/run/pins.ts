/** Pins of a run, and the differences from the previous run's pins. */
import type { PinChange } from "../schemas/run_events.ts";
import { mayBeSameEndpoint } from "../domain/fingerprint.ts";
import { sha256Hex } from "../domain/hash.ts";
import { defined } from "../domain/json.ts";
import type { Pins } from "../domain/turn.ts";
import { toolSchemas } from "../tools/registry.ts";
import { fingerprintOf, type RequestSettings } from "./next_request.ts";

export interface PinnedSettings extends RequestSettings {
  /** Permissions in canonical order. */
  readonly permissions: readonly string[];
}

/** Texts that pins name by their sha256. */
export function pinnedTexts(
  { instructions, tools }: Pick<RequestSettings, "instructions" | "tools">,
): { readonly instructions: string; readonly tools: string } {
  return { instructions, tools: JSON.stringify(toolSchemas(tools)) };
}

/** Pins of a run in the directory that `workspace` names. */
export function pinsOf(settings: PinnedSettings, workspace: string): Pins {
  const { model, effort, summary, permissions } = settings;
  // Key and account belong to responses.
  const { key: _, ...fingerprint } = fingerprintOf(settings, null);
  const texts = pinnedTexts(settings);
  return {
    fingerprint,
    model,
    ...defined({ effort, summary }),
    instructions: sha256Hex(texts.instructions),
    tools: sha256Hex(texts.tools),
    permissions,
    workspace,
  };
}

const CACHE_RESTARTS = "the prompt cache starts over";

/** Lists the pins that differ between two runs, in a fixed order. */
export function pinChanges(before: Pins, now: Pins): PinChange[] {
  const rows: readonly PinChange[] = [
    {
      pin: "provider",
      before: before.fingerprint.provider,
      now: now.fingerprint.provider,
      effect: `reasoning of the other provider is not sent; ${CACHE_RESTARTS}`,
    },
    {
      pin: "endpoint",
      before: before.fingerprint.endpoint,
      // An older turn may lack the port: then the difference is unknown.
      now: mayBeSameEndpoint(before.fingerprint, now.fingerprint)
        ? before.fingerprint.endpoint
        : now.fingerprint.endpoint,
      effect: `reasoning from the other endpoint is not sent; ${CACHE_RESTARTS}`,
    },
    {
      pin: "model",
      before: before.model,
      now: now.model,
      effect: `reasoning of the other model is not sent; ${CACHE_RESTARTS}`,
    },
    {
      pin: "effort",
      before: before.effort ?? null,
      now: now.effort ?? null,
      effect: `reasoning is still sent, though it was made with another effort; ${CACHE_RESTARTS}`,
    },
    {
      pin: "summary",
      before: before.summary ?? null,
      now: now.summary ?? null,
      effect: "replay and cache do not change; reasoning is summarized in another way",
    },
    {
      pin: "instructions",
      before: before.instructions,
      now: now.instructions,
      effect: `reasoning is still sent, though it was made under other instructions; ${CACHE_RESTARTS}`,
    },
    {
      pin: "tools",
      before: before.tools,
      now: now.tools,
      effect: `reasoning is still sent; ${CACHE_RESTARTS}`,
    },
    {
      pin: "permissions",
      before: before.permissions,
      now: now.permissions,
      effect: "replay and cache do not change, unless other tools are offered",
    },
    {
      pin: "workspace",
      before: before.workspace,
      now: now.workspace,
      effect: "replay and cache do not change; earlier results are about the other directory",
    },
  ];
  return rows.filter((row) => JSON.stringify(row.before) !== JSON.stringify(row.now));
}
