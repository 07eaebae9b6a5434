/** A wire API as the program uses it: requests, streams, errors, matching and rules. */
import type { Item, Omission } from "../domain/event.ts";
import type { ApiFailure } from "../domain/errors.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { FoldedEntry, FoldNeeds } from "../domain/folded.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { VERSION } from "../domain/version.ts";
import type { ApiError, FaultWriter, StreamEvent, StreamReader } from "./stream.ts";
import type { CallArguments } from "./calls.ts";
import type { CanonicalForm } from "./canonical.ts";
import type { ApiRules } from "./rule.ts";
import type { SocketApi } from "./responses/socket/socket.ts";

export const API_NAMES = ["responses", "messages", "chat"] as const;
export type ApiName = (typeof API_NAMES)[number];

/** A key and its header: `Authorization` for `bearer`, the provider's own header for `api_key`. */
export interface ApiKey {
  readonly value: string;
  readonly scheme: "bearer" | "api_key";
}

/**
 * The headers of a request for an event stream. A key is `Authorization: Bearer`, or the API's own `keyHeader`; without
 * one there is no such header.
 */
export function apiHeaders(key: ApiKey | null, keyHeader: string): Record<string, string> {
  const isBearer = key?.scheme === "bearer";
  return {
    ...(key === null ? {} : isBearer ? { authorization: `Bearer ${key.value}` } : { [keyHeader]: key.value }),
    "user-agent": `reprise/${VERSION}`,
    "content-type": "application/json",
    "accept": "text/event-stream",
  };
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

export interface BuiltRequest {
  /** Path below the base URL, such as `/responses`. */
  readonly path: string;
  /** Headers that this request needs in addition to {@linkcode RunApi.headers}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact text of the body. */
  readonly body: string;
  /**
   * Every field of the body except its history, in body order. For every API, the run's pins are the text
   * `instructions` and `tools` in the Responses shape.
   */
  readonly fields: JsonObject;
  /** Number of elements in the history that is sent. */
  readonly items: number;
}

/** Cause of the refusal of a request. `index` points into the request's entries. */
export type RequestRefusal =
  /** Unreadable reasoning: the items that the error names, by id or by place in the input; often none. */
  | { readonly kind: "reasoning"; readonly ids: readonly string[]; readonly index: number | null }
  /** Readable reasoning that the API does not accept at its place: the same. */
  | { readonly kind: "misplaced_reasoning"; readonly ids: readonly string[]; readonly index: number | null }
  /** Thinking that is bound to another conversation; a request can ask the server to drop it (§11). */
  | { readonly kind: "binding"; readonly index: number | null }
  /** A request field that the endpoint does not accept. */
  | { readonly kind: "field"; readonly without: Omission }
  /** Calls and outputs that are not paired, by the ids of the entries that the error names; `null` if it names none. */
  | { readonly kind: "call"; readonly callIds: readonly string[] | null }
  /** One item of the input; `field` if the error is about a member that the item can be sent without. */
  | { readonly kind: "item"; readonly index: number; readonly field: string | null }
  /** Probably reasoning: the error names a sent item or mentions reasoning, but its text is unknown. */
  | { readonly kind: "likely_reasoning"; readonly ids: readonly string[] }
  /** An unknown part of the request: the error names none. */
  | { readonly kind: "unknown" };

export interface FinishedResponse {
  readonly id: string | null;
  /** The model that answered, possibly a dated snapshot of the requested model. */
  readonly model: string | null;
  /** `cut`: the stream ended before its terminal event. */
  readonly status: "completed" | "incomplete" | "failed" | "cut";
  /** The provider's reason for an incomplete response, or for a stop that matters. */
  readonly reason?: string;
  /** True if the server paused: it continues when the same history is sent again (`pause_turn`, §10). */
  readonly paused?: boolean;
  /** True when a message holds a refusal, or a content filter stopped the response. */
  readonly refused: boolean;
  /** Present when `status` is `failed` or `cut`. */
  readonly failure?: ApiFailure;
  /** The provider's usage object, verbatim. */
  readonly usage: JsonObject | null;
  /** Changes that the server made to items that were sent, verbatim (protocol §4.3). */
  readonly inputTransformations?: readonly JsonValue[];
  /** Oddities to report to the user, one sentence each. */
  readonly notices: readonly string[];
}

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
  /** A whole item, verbatim; `fromDeltas` if its content came only in deltas. */
  | {
    readonly kind: "item";
    readonly outputIndex: number;
    readonly item: Item;
    readonly fromDeltas?: true;
  }
  /** The server began its answer again: every item so far is void. */
  | { readonly kind: "reset" }
  /** Exactly once, last. */
  | { readonly kind: "finished"; readonly response: FinishedResponse };

/** Turns the events of one response into updates. Feeding it after `finished` yields nothing. */
export interface Assembler {
  /** True once any part of an item came. */
  readonly hasBegun: boolean;
  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[];
  /** The stream has ended: yields `finished` unless it came already. */
  end(): readonly StreamUpdate[];
}

/** Recognises answers whose recording names neither server nor path. */
export interface Recognition {
  /** Path of a request that is answered with a stream, such as `/v1/responses`. */
  readonly path: string;
  /** True for events that no other API sends. */
  ownsEvent(event: Pick<StreamEvent, "type" | "data">): boolean;
  /** Path of the request that `document` answers; `null` if `document` answers no request of this API. */
  documentPath(document: JsonObject): string | null;
  /** Provider whose servers answer like this; `responses` come from one answer. */
  providerOf(responses: readonly JsonObject[]): ProviderKind;
  /** Returns the time at which a response was created, in milliseconds since the epoch; `null` if it does not say. */
  createdAt(response: JsonObject): number | null;
}

/** A wire API as recording and replay use it. {@linkcode APIS} in `apis.ts` has one value for each. */
export interface Api {
  /** Value of `api` in recorded requests. */
  readonly name: ApiName;
  /** True for the paths of its requests, without query. */
  readonly ownsPath: (pathname: string) => boolean;
  readonly recognition: Recognition;
  readonly stream: StreamReader;
  readonly faults: FaultWriter;
  /** Arguments of the client's calls in its answers. */
  readonly calls: CallArguments;
  readonly canonical: CanonicalForm;
  readonly rules: ApiRules;
  readonly errors: {
    /** Header with the id of a request. */
    readonly idHeader: string;
    /** The JSON body, with `requestId` if the API repeats it there; `null` omits it. */
    body(error: ApiError, requestId: string | null): JsonObject;
  };
  /** Headers of its own that a recording keeps, in lower case. */
  readonly recordedHeaders: {
    readonly request: readonly string[];
    /** Account, version, timing and limits. Replayed sessions identify the owner of reasoning by them. */
    readonly response: RegExp;
  };
  /** The header for keys of the scheme `api_key`. */
  readonly keyHeader: string;
  /** Its messages over a WebSocket; `null` if it has none. */
  readonly socket: SocketApi | null;
}

export interface NamedEntry {
  readonly index: number;
  /** Index in the content of a user message; `null` for the whole entry. */
  readonly part: number | null;
}

/** Piece of a body: of a field, or of an entry. */
export interface BodyPiece {
  readonly text: string;
  /** Text after this piece in a body that ends here. */
  readonly end: string;
  /** A body of the first `least` to `most` entries ends here; no body does if `least` is larger. */
  readonly least: number;
  readonly most: number;
}

export function joinPieces(pieces: Iterable<BodyPiece>): string {
  const all = [...pieces];
  return all.map(({ text }) => text).join("") + (all.at(-1)?.end ?? "");
}

/** A wire API that `run` also uses. */
export interface RunApi extends Api {
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
  /** Returns the reasoning settings that the body of a request asks for. */
  reasoningOf(body: JsonObject): { readonly effort?: string; readonly summary?: string };
  newAssembler(): Assembler;
  /** Cause of the refusal of these entries; `null` if leaving something out cannot help. */
  refusalOf(failure: ApiFailure, entries: readonly FoldedEntry[]): RequestRefusal | null;
  /** The entry whose place in the request a refusal names; `null` if it names none. */
  entryNamed(failure: ApiFailure, entries: readonly FoldedEntry[]): NamedEntry | null;
  /** The account that an answer names, hashed; `null` when it names none. */
  accountOf(headers: Pick<Headers, "get">): string | null;
  /** Rebuilds a body from its recorded {@linkcode BuiltRequest.fields} and a history; the first piece has the fields. */
  piecesOf(fields: JsonObject, entries: readonly FoldedEntry[]): Iterable<BodyPiece>;
}
