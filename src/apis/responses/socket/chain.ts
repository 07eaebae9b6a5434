/**
 * Resolves `previous_response_id`: remembers the input and the output of each response on a connection (protocol §8.5).
 */
import { objectOf, withMembers } from "../../../domain/exact_json.ts";
import { isItem } from "../../../domain/item.ts";
import { type JsonObject, type JsonValue, stringMember } from "../../../domain/json.ts";
import { renderProviderItem } from "../items.ts";
import { readResponsesEvent } from "../stream.ts";
import type { CreateMessage } from "./messages.ts";

/** Resolution of a request's `previous_response_id`; `unknown` if the connection has no such response. */
export type ChainState = "full" | "continued" | "unknown";

/** A request of a connection, and the response that later requests may continue. */
export interface ChainedRequest {
  readonly state: ChainState;
  /** Body of the HTTP equivalent, with the whole input unless `state` is `unknown`. */
  readonly body: JsonObject;
  /** Id of its response, after its last event; `null` before, and for a response that failed. */
  readonly responseId: string | null;
  /** True if its response failed: `previous_response_id` then names no response of the connection any more. */
  readonly failed: boolean;
  /** Takes the next event of its response. */
  take(event: JsonObject): void;
}

/** Items that one request and its response added to those of the response that it continues. */
interface Link {
  readonly before: Link | null;
  readonly items: readonly JsonValue[];
}

/** The responses of a connection. The items of a long session are in memory once. */
export class ResponseChain {
  readonly #links = new Map<string, Link>();

  open({ previous, body }: CreateMessage): ChainedRequest {
    const before = previous === null ? null : this.#links.get(previous) ?? null;
    const input = inputOf(body.input);
    const state: ChainState = previous === null ? "full" : before === null ? "unknown" : "continued";
    const done = new Map<number, JsonValue>();
    const request = {
      state,
      body: before === null ? body : withWholeInput(body, [...itemsOf(before), ...input]),
      responseId: null as string | null,
      failed: false,
      take: (json: JsonObject) => {
        const event = readResponsesEvent(json);
        if (event.kind === "item" && event.whole && event.item !== undefined) {
          done.set(event.place ?? done.size, event.item);
        }
        if (event.kind === "error" || event.kind === "end" && event.failed) {
          request.failed = true;
          if (previous !== null) this.#links.delete(previous);
        } else if (event.kind === "end") {
          const id = stringMember(event.response ?? {}, "id") ?? null;
          // The last event may lack its output.
          const output = event.items.length > 0
            ? event.items
            : [...done].sort(([a], [b]) => a - b).map(([, item]) => item);
          const sentBack = output.map((item) => isItem(item) ? renderProviderItem(item) : item);
          request.responseId = id;
          if (id !== null) this.#links.set(id, { before, items: [...input, ...sentBack] });
        }
      },
    };
    return request;
  }
}

function itemsOf(last: Link): JsonValue[] {
  const links: Link[] = [];
  for (let link: Link | null = last; link !== null; link = link.before) links.unshift(link);
  return links.flatMap(({ items }) => items);
}

/** A text is short for one message of the user. */
function inputOf(input: JsonValue | undefined): readonly JsonValue[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input : [];
}

function withWholeInput(body: JsonObject, input: readonly JsonValue[]): JsonObject {
  const kept = objectOf(Object.entries(body).filter(([name]) => name !== "previous_response_id"));
  return withMembers(kept, { input });
}
