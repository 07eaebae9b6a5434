/** Reasons why an encrypted item of an earlier response may not go to the next request's endpoint and model. */
import type { Item } from "../domain/event.ts";
import type { FoldNeeds } from "../domain/folded.ts";
import { type Fingerprint, IMPORTED_ENDPOINT, mayBeSameEndpoint } from "../domain/fingerprint.ts";
import type { JsonValue } from "../domain/json.ts";
import { familyOf, modelFacts } from "../domain/models.ts";
import type { DropReason, ModelTurn } from "../domain/turn.ts";

/** Strictness with which reasoning must fit the next request's model. `none` sends no reasoning at all. */
export type ReplayMode = "exact" | "family" | "none";

/** Endpoint and model of the next request, and the limits on the history that goes there. */
export interface FoldTarget {
  /** The account is `null` until a response named it: an unknown account is no mismatch. */
  readonly fingerprint: Fingerprint;
  readonly needs: FoldNeeds;
  readonly model: string;
  readonly replay: ReplayMode;
  /** Most reasoning items from before the last user message that are sent; without it, all are sent. */
  readonly window?: number | null;
  /** The run of the request: items that were left out in it stay out. */
  readonly run?: number;
}

/** Endpoint and model that issued an encrypted item. */
type ResponseOrigin = Pick<ModelTurn, "fingerprint" | "model">;

/** Types of items whose payload only the provider that issued them can read. */
const ENCRYPTED_TYPES: ReadonlySet<string> = new Set([
  "reasoning",
  "compaction",
  "thinking",
  "redacted_thinking",
]);

/** True for items that carry a blob bound to provider, endpoint, account and model (protocol §4.3, §8.3). */
export function isEncryptedItem(item: Item): boolean {
  return ENCRYPTED_TYPES.has(item.type);
}

/** Reason why no item of `turn`'s response may go to `target`; `null` if its origin fits. Only known differences count. */
export function originMismatch(turn: ResponseOrigin, target: FoldTarget): DropReason | null {
  const { fingerprint } = turn;
  if (fingerprint.endpoint === IMPORTED_ENDPOINT) return "imported";
  if (fingerprint.provider !== target.fingerprint.provider) return "other_provider";
  if (!mayBeSameEndpoint(fingerprint, target.fingerprint)) return "other_endpoint";
  const accounts = [fingerprint.account, target.fingerprint.account];
  if (accounts[0] !== accounts[1] && !accounts.includes(null)) return "other_account";
  return null;
}

/** True if the requested model is the model that `turn` asked or that answered, or one of its family. */
function modelFits(turn: ResponseOrigin, target: FoldTarget): boolean {
  const models = [turn.model.asked, turn.model.answered];
  if (models.includes(target.model)) return true;
  if (target.replay !== "family") return false;
  const family = familyOf(target.model);
  return family !== null && models.some((model) => model !== null && familyOf(model) === family);
}

/** Reason why an encrypted item of `turn` stays out by its origin or content alone; `null` if it may go. */
export function encryptedItemMismatch(
  item: Item,
  turn: ResponseOrigin,
  target: FoldTarget,
): DropReason | null {
  if (target.replay === "none") return "replay_off";
  const origin = originMismatch(turn, target);
  if (origin !== null) return origin;
  const { needs } = target;
  // An item of another API, whatever its payload.
  if (!Object.hasOwn(needs.payloads, item.type)) return "other_provider";
  if (!needs.carriesReasoningAcrossModels && !modelFits(turn, target)) return "other_model";
  const payload = needs.payloads[item.type] ?? null;
  if (payload === null || isFilled(item[payload])) return null;
  const isVisible = Array.isArray(item.content) && item.content.length > 0;
  return needs.takesVisibleReasoning && isVisible ? null : needs.noPayload;
}

function isFilled(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value !== "";
}

/** True if thinking of this response's model is valid only after its original prefix (§11). */
export function isPrefixBound({ model }: ResponseOrigin): boolean {
  return [model.answered, model.asked].some((name) =>
    name !== null && modelFacts(name)?.prefixBound === true
  );
}
