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

/** Effects of a changed pin, in the order of the report. */
const EFFECTS = {
  provider: `reasoning of the other provider is not sent; ${CACHE_RESTARTS}`,
  endpoint: `reasoning from the other endpoint is not sent; ${CACHE_RESTARTS}`,
  model: `reasoning of the other model is not sent; ${CACHE_RESTARTS}`,
  effort: `reasoning is still sent, though it was made with another effort; ${CACHE_RESTARTS}`,
  summary: "replay and cache do not change; reasoning is summarized in another way",
  instructions: `reasoning is still sent, though it was made under other instructions; ${CACHE_RESTARTS}`,
  tools: `reasoning is still sent; ${CACHE_RESTARTS}`,
  permissions: "replay and cache do not change, unless other tools are offered",
  workspace: "replay and cache do not change; earlier results are about the other directory",
};
const PIN_NAMES = Object.keys(EFFECTS) as (keyof typeof EFFECTS)[];

/** Lists the pins that differ between two runs, in a fixed order. */
export function pinChanges(before: Pins, now: Pins): PinChange[] {
  // An older turn may lack the port: then a difference is unknown.
  const isSame = mayBeSameEndpoint(before.fingerprint, now.fingerprint);
  const valuesOf = ({ fingerprint: { provider, endpoint }, effort, summary, ...others }: Pins) => ({
    ...others,
    provider,
    endpoint: isSame ? before.fingerprint.endpoint : endpoint,
    effort: effort ?? null,
    summary: summary ?? null,
  });
  const [old, next] = [valuesOf(before), valuesOf(now)];
  return PIN_NAMES.map((pin) => ({ pin, before: old[pin], now: next[pin], effect: EFFECTS[pin] }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.now));
}
