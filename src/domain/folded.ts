/**
 * Entries of the next request's input, in order and independent of any API's shape; and the rules of an API for them.
 */
import type { Item } from "./event.ts";

/** Rules of a wire API for the history in a request. */
export interface FoldNeeds {
  /** The API refuses a history that ends with the model's own text: a short user message asks it to continue. */
  readonly needsUserLast: boolean;
  /** Reasoning of one model goes to any other: the server leaves out what that model cannot read. */
  readonly carriesReasoningAcrossModels: boolean;
  /** Hosted items go without the reasoning before them. */
  readonly keepsItemsWithoutReasoning: boolean;
  /** Reasoning that servers of open models show goes back without an encrypted payload. */
  readonly takesVisibleReasoning: boolean;
  /**
   * Member with the payload that only the server can read, by the type of each such item that the API takes back;
   * `null` for a type that goes whatever it holds.
   */
  readonly payloads: Readonly<Record<string, string | null>>;
  /** The only endpoint that accepts calls whose arguments are no JSON object; `null` if the API has no such calls. */
  readonly rawArgumentsAt: string | null;
  /** Reason why an item without its payload is left out. */
  readonly noPayload: "unsigned" | "no_encrypted_content";
}

interface ItemEntry {
  readonly item: Item;
  /** Members to leave out: those that the API refused on this item, and an id that needs dropped reasoning. */
  readonly omit?: readonly string[];
}

/** One element of the next request's input. The provider writes it in its own shape. */
export type FoldedEntry =
  | {
    readonly kind: "user_message";
    /** Content parts in the Responses shape, and attached files (`attachment.ts`). */
    readonly content: readonly Item[];
  }
  | ItemEntry & {
    readonly kind: "assistant_message";
    /** True directly after sent reasoning of the same response: the message then keeps its `msg_` id. */
    readonly keepId: boolean;
  }
  | ItemEntry & { readonly kind: "reasoning" }
  /** A `function_call`, `custom_tool_call` or `tool_use` item. */
  | ItemEntry & {
    readonly kind: "tool_call";
    /** The call id to send: the provider's own, with a suffix where a session repeats one. */
    readonly callId: string;
    /** True if the arguments are no JSON object and the server accepts only an object. */
    readonly repaired?: true;
  }
  | {
    readonly kind: "tool_result";
    readonly callId: string;
    /** `type` of the call's item, which decides the type of the output item where the API has several. */
    readonly callType: string;
    readonly output: string;
    readonly isError?: true;
  }
  | ItemEntry & { readonly kind: "provider_item" };

/** Changes that the fold makes so that the API accepts a request. */
export const FOLD_REPAIRS = [
  "orphan_answered",
  "call_id_renamed",
  "result_without_call",
  "duplicate_result",
  // The output of a result is sent shortened, after `compact`.
  "result_elided",
  // `omit` took out a message, a part of it or a result: a note replaces it.
  "content_omitted",
  // The API refused the pairing of a call: it is sent as text of the user, with its result.
  "call_as_text",
] as const;
