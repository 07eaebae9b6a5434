/**
 * What the fold hands to a provider: which records go into the next request, in order, in no API yet.
 *
 * @module
 */
import type { Item } from "./event.ts";

/** A provider's item, and which of its members are not sent. */
interface ItemEntry {
  readonly item: Item;
  /** Members to leave out: those that the API refused on this item, and an id that needs dropped reasoning. */
  readonly omit?: readonly string[];
}

/** One element of the next request's input. The provider writes it in its own shape. */
export type FoldedEntry =
  | {
    readonly kind: "user_message";
    /** Content parts in the Responses shape. */
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
  }
  | {
    readonly kind: "tool_result";
    readonly callId: string;
    /** `type` of the call's item, which decides the type of the output item where the API has several. */
    readonly callType: string;
    readonly output: string;
    /** Set when the call did not do what it was asked for. */
    readonly isError?: true;
  }
  | ItemEntry & { readonly kind: "provider_item" };
