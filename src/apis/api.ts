/**
 * A wire API as the program uses it: requests, streams, errors, matching and rules.
 *
 * @module
 */
import type { Item, Omission, Usage } from "../domain/event.ts";
import type { ApiFailure } from "../domain/errors.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { FoldedEntry, FoldNeeds } from "../domain/folded.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { ApiError, FaultWriter, StreamReader } from "./stream.ts";
import type { CanonicalForm } from "./canonical.ts";
import type { ApiRules } from "./rule.ts";

/** Names of the wire APIs. */
export const API_NAMES = ["responses", "messages", "chat"] as const;
/** One of {@linkcode API_NAMES}. */
export type ApiName = (typeof API_NAMES)[number];

/** A key and how it goes out: `bearer` in `Authorization`, `api_key` in the provider's own header. */
export interface ApiKey {
  readonly value: string;
  readonly scheme: "bearer" | "api_key";
}

/** A request before it has the shape of an API. */
export interface RequestSpec {
  readonly model: string;
  /** The system text; left out of the body when empty. */
  readonly instructions: string;
  /** Function tools in the Responses shape: `{type: "function", name, description, parameters, strict}`. */
  readonly tools: readonly JsonObject[];
  readonly entries: readonly FoldedEntry[];
  /** Constant for a family of sessions, at most 64 characters (protocol §7.3). */
  readonly cacheKey: string;
  /** Parts that this endpoint refuses. @default {nothing} */
  readonly without?: ReadonlySet<Omission>;
  readonly effort?: string;
  readonly summary?: string;
  /** Visible and reasoning tokens together. */
  readonly maxOutputTokens?: number;
  /** The `json_schema` format of the answer: `{name, schema, strict}`. */
  readonly outputSchema?: JsonObject;
}

/** A request ready to send. */
export interface BuiltRequest {
  /** To be appended to the base URL, such as `/responses`. */
  readonly path: string;
  /** Headers that this request needs beside those of {@linkcode RunApi.headers}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact text of the body. */
  readonly body: string;
  /**
   * Every field of the body beside its history, in body order; what the run pins stands as the text `instructions`
   * and as `tools` in the Responses shape, whatever the API makes of them.
   */
  readonly fields: JsonObject;
  /** Number of elements in the history that is sent. */
  readonly items: number;
}

/** Cause of the refusal of a request. `index` points into the request's entries. */
export type RequestRefusal =
  /** Reasoning: the items that the error names, by id or by place in the input; often none. */
  | { readonly kind: "reasoning"; readonly ids: readonly string[]; readonly index: number | null }
  /** Thinking that is bound to another conversation: the server can be asked to drop it (§11). */
  | { readonly kind: "binding"; readonly index: number | null }
  /** A field of the request that the endpoint does not take. */
  | { readonly kind: "field"; readonly without: Omission }
  /** A call without its output or an output without its call. */
  | { readonly kind: "call"; readonly callId: string | null }
  /** Something about one item of the input; `field` when that is a member that it can be sent without. */
  | { readonly kind: "item"; readonly index: number; readonly field: string | null }
  /** Probably reasoning: the error names a sent item or speaks of reasoning, in words that are not known. */
  | { readonly kind: "likely_reasoning"; readonly ids: readonly string[] }
  /** Something in the request: the error does not say what. */
  | { readonly kind: "unknown" };

/** The end of a response. */
export interface FinishedResponse {
  readonly id: string | null;
  /** The model that answered, which may be a dated snapshot of the one asked for. */
  readonly model: string | null;
  /** `cut`: the stream ended before its terminal event. */
  readonly status: "completed" | "incomplete" | "failed" | "cut";
  /** Why it is incomplete, or why it stopped where that matters, in the provider's word. */
  readonly reason?: string;
  /** True when the server only paused: the same history goes once more, and it goes on (`pause_turn`, §10). */
  readonly paused?: boolean;
  /** True when a message holds a refusal, or a content filter stopped the response. */
  readonly refused: boolean;
  /** Present when `status` is `failed` or `cut`. */
  readonly failure?: ApiFailure;
  /** The provider's usage object, verbatim. */
  readonly usage: JsonObject | null;
  /** Changes that the server made to items that were sent, verbatim (protocol §4.3). */
  readonly inputTransformations?: readonly JsonValue[];
  /** Oddities that someone may want to know, one sentence each. */
  readonly notices: readonly string[];
}

/** Updates of a stream, in its order. */
export type StreamUpdate =
  /** Visible text; only for the screen. `phase` is `commentary` or `final_answer` where the server says so. */
  | {
    readonly kind: "text_delta";
    readonly outputIndex: number;
    readonly delta: string;
    readonly phase?: string;
  }
  /** Summary or reasoning text; only for the screen. */
  | { readonly kind: "reasoning_delta"; readonly outputIndex: number; readonly delta: string }
  /** A whole item, verbatim. `terminal`: only the terminal event listed it. */
  | {
    readonly kind: "item";
    readonly outputIndex: number;
    readonly item: Item;
    readonly source: "done" | "terminal";
  }
  /** The server began its answer again: every item so far is void. */
  | { readonly kind: "reset" }
  /** Exactly once, last. */
  | { readonly kind: "finished"; readonly response: FinishedResponse };

/** Turns the events of one response into updates. Feeding it after `finished` yields nothing. */
export interface Assembler {
  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[];
  /** The stream has ended: yields `finished` unless it came already. */
  end(): readonly StreamUpdate[];
}

/** A body in pieces: that of the first `n` entries is `opening`, `pieces[0]` to `pieces[n - 1]`, then `closing`. */
export interface BodyPieces {
  /** The fields, in body order, up to where the history begins. */
  opening(fields: JsonObject): string;
  /** One for each entry; empty for an entry that does not go out. */
  readonly pieces: readonly string[];
  /** The end of the body after each entry. */
  readonly closings: readonly string[];
}

/** Recognises answers whose recording names neither server nor path. */
export interface Recognition {
  /** Path of a request that is answered with a stream, such as `/v1/responses`. */
  readonly path: string;
  /** True for events of no other API. */
  ownsEvent(type: string): boolean;
  /** Path of the request that is answered with `document`; `null` for documents of no request of this API. */
  documentPath(document: JsonObject): string | null;
  /** Provider whose servers answer like this; `responses` are those of one answer. */
  providerOf(responses: readonly JsonObject[]): ProviderKind;
  /** When a response was created, in milliseconds since the epoch; `null` if it does not say. */
  createdAt(response: JsonObject): number | null;
}

/** The shape of errors: of a server's body, and the header with the id of a request. */
export interface ErrorShape {
  readonly idHeader: string;
  /** The JSON body; `requestId` goes in where the API repeats it there, `null` leaves it out. */
  body(error: ApiError, requestId: string | null): JsonObject;
}

/** Headers that a recording keeps: names in lower case. */
export interface RecordedHeaders {
  readonly request: readonly string[];
  /** Account, version, timing and limits, by which replayed sessions know the owner of an answer's reasoning. */
  readonly response: RegExp;
}

/** A wire API: everything that recording and replay know of it. One value for each, in {@linkcode APIS} of `apis.ts`. */
export interface Api {
  /** As `api` of a recorded request names it. */
  readonly name: ApiName;
  /** True for the paths of its requests, without query. */
  readonly ownsPath: (pathname: string) => boolean;
  /** `null` if its answers do not tell. */
  readonly recognition: Recognition | null;
  readonly stream: StreamReader;
  readonly faults: FaultWriter;
  /** Canonical form of its requests, for matching; `null` if only the order of members is known not to count. */
  readonly canonical: CanonicalForm | null;
  /** Rules on its requests; `null` if none are known. */
  readonly rules: ApiRules | null;
  /** The shape of its errors. */
  readonly errors: ErrorShape;
  /** Headers of its own that a recording keeps. */
  readonly recordedHeaders: RecordedHeaders;
  /** The header of a key with the scheme `api_key`. */
  readonly keyHeader: string;
}

/** A wire API that `run` speaks too. */
export interface RunApi extends Api {
  /** Path of the request for a checkpoint that the provider makes (§8.1); `null` if the API has no such request. */
  readonly compactionPath: string | null;
  /**
   * The headers of a request; `null` sends no key.
   *
   * @throws {RepriseError} `bad_configuration` when the key cannot be a header value.
   */
  headers(key: ApiKey | null): Record<string, string>;
  /** Demands on a history; {@linkcode foldNeedsOf} of `apis.ts` adds those of a kind of provider. */
  readonly foldNeeds: Omit<FoldNeeds, "takesVisibleReasoning">;
  buildRequest(spec: RequestSpec): BuiltRequest;
  /** Name of the body's field that limits output tokens. */
  readonly outputLimit: string;
  newAssembler(): Assembler;
  /** Cause of the refusal of these entries; `null` if a retry without something cannot help. */
  refusalOf(failure: ApiFailure, entries: readonly FoldedEntry[]): RequestRefusal | null;
  /** The account that an answer names, hashed; `null` when it names none. */
  accountOf(headers: Headers): string | null;
  /** The body again, from its recorded {@linkcode BuiltRequest.fields} and a history. */
  bodyOf(fields: JsonObject, entries: readonly FoldedEntry[]): string;
  /** The same body in pieces; `null` if the entries do not stand in it one after the other. */
  bodyPieces(entries: readonly FoldedEntry[]): BodyPieces | null;
  /** Judges an answer that is not an event stream: any status, any body, JSON or not. */
  classify(status: number, headers: Headers, bodyText: string): ApiFailure;
  /** Token counts from a usage object; what is missing counts as 0. */
  usageOf(usage: JsonObject): Usage;
}
