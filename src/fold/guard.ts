import type { Item } from "../domain/event.ts";
import { type Fingerprint, mayBeSameEndpoint } from "../domain/fingerprint.ts";
import type { JsonValue } from "../domain/json.ts";
import { familyOf, modelFacts } from "../domain/models.ts";
import type { DropReason, ModelTurn } from "../domain/turn.ts";

/** How strictly reasoning must fit the next request's model. `none` sends no reasoning at all. */
export type ReplayMode = "exact" | "family" | "none";

/** Where the next request goes, and what of the history may go there. */
export interface FoldTarget {
  /** The account is `null` until a response named it: unknown is no mismatch. */
  readonly fingerprint: Fingerprint;
  readonly model: string;
  readonly replay: ReplayMode;
  /** How many reasoning items from before the last user message are sent at most; all without it. */
  readonly window?: number | null;
  /** The run that the request belongs to: what was left out in it stays out. */
  readonly run?: number;
}

/** What an encrypted item was minted with. */
export type Minted = Pick<ModelTurn, "fingerprint" | "model">;

/** Item types whose payload only the minting provider can read. */
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

/**
 * Why nothing minted with `turn`'s response may go to `target`, or `null` when its origin fits. Only known
 * differences count.
 */
export function originMismatch(turn: Minted, target: FoldTarget): DropReason | null {
  const { fingerprint } = turn;
  if (fingerprint.provider !== target.fingerprint.provider) return "other_provider";
  if (!mayBeSameEndpoint(fingerprint, target.fingerprint)) return "other_endpoint";
  const accounts = [fingerprint.account, target.fingerprint.account];
  if (accounts[0] !== accounts[1] && !accounts.includes(null)) return "other_account";
  return null;
}

/** True when the requested model is the one that was asked or that answered for `turn`, or one of its family. */
export function modelFits(turn: Minted, target: FoldTarget): boolean {
  const minted = [turn.model.asked, turn.model.answered];
  if (minted.includes(target.model)) return true;
  if (target.replay !== "family") return false;
  const family = familyOf(target.model);
  return family !== null && minted.some((model) => model !== null && familyOf(model) === family);
}

/** Why an encrypted item of `turn` stays out by its origin or content alone, or `null` when it may go. */
export function encryptedItemMismatch(item: Item, turn: Minted, target: FoldTarget): DropReason | null {
  if (target.replay === "none") return "replay_off";
  const origin = originMismatch(turn, target);
  if (origin !== null) return origin;
  return target.fingerprint.provider === "anthropic"
    ? thinkingMismatch(item)
    : reasoningMismatch(item, turn, target);
}

/** Any Claude model takes any block: the server drops what it cannot read, and stripping would lose it (§11). */
function thinkingMismatch(item: Item): DropReason | null {
  switch (item.type) {
    case "thinking":
      return isFilled(item.signature) ? null : "unsigned";
    case "redacted_thinking":
      return isFilled(item.data) ? null : "unsigned";
    case "compaction":
      return null;
    default:
      // An item of another api, whatever it carries.
      return "other_provider";
  }
}

function reasoningMismatch(item: Item, turn: Minted, target: FoldTarget): DropReason | null {
  if (item.type !== "reasoning" && item.type !== "compaction") return "other_provider";
  if (!modelFits(turn, target)) return "other_model";
  if (isFilled(item.encrypted_content)) return null;
  // Servers of open models show the reasoning itself and take it back (protocol §2.2, §12).
  const shown = target.fingerprint.provider === "compatible" && Array.isArray(item.content) &&
    item.content.length > 0;
  return shown ? null : "no_encrypted_content";
}

function isFilled(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value !== "";
}

/** True when what `turn`'s model thought is valid only behind the very prefix that it was made behind (§11). */
export function isPrefixBound({ model }: Minted): boolean {
  return [model.answered, model.asked].some((name) =>
    name !== null && modelFacts(name)?.prefixBound === true
  );
}
