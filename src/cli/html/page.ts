/**
 * The content of a page, as the page embeds it: one JSON document that its script draws on demand.
 *
 * @module
 */

/** One page: a session or a fixture. */
export interface Page {
  readonly kind: "session" | "fixture";
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Findings about the page as a whole, such as damaged files. */
  readonly warnings: readonly string[];
  /** Runs of a session, recordings of a fixture. */
  readonly groups: readonly Group[];
  /** Turns or exchanges, in the order of the page. */
  readonly entries: readonly Entry[];
  /** Requests in the order in which they were sent. */
  readonly requests: readonly RequestPoint[];
}

/** One line of the page's head. */
export interface Fact {
  readonly name: string;
  readonly text: string;
  /** An ISO time in place of `text`, which the page shows in local time. */
  readonly at?: string;
}

/** Entries that belong together. */
export interface Group {
  readonly name: string;
  /** Such as the terminal state of a run. */
  readonly state: string;
  readonly tone: Tone;
  /** Index of its first entry. */
  readonly first: number;
  /** The prompt of a run, cut. */
  readonly about: string;
}

/** The colour of an outcome. */
export type Tone = "good" | "bad" | "plain";

/** A turn or an exchange. */
export interface Entry {
  /** The fragment of its link, such as `turn-12`. */
  readonly id: string;
  /** Such as `Turn 12`. */
  readonly name: string;
  readonly kind: string;
  /** Such as the model that answered. */
  readonly about: string;
  /** ISO time; `null` if unknown. */
  readonly at: string | null;
  /** Milliseconds since the entry before it; `null` if that says nothing. */
  readonly took: number | null;
  readonly group: number;
  readonly tone: Tone;
  /** First and last `seq`; `null` outside of sessions. */
  readonly seq: readonly [number, number] | null;
  readonly blocks: readonly Block[];
}

/** Text that was rendered to inert HTML, or plain text if it is too long for that. */
export type Rich = { readonly html: string } | { readonly text: string };

/** One piece of an entry. `seq` is the fragment of its link, `seq-N`. */
export type Block =
  & { readonly seq?: number }
  & (
    | { readonly type: "message"; readonly who: string; readonly body: Rich }
    | { readonly type: "reasoning"; readonly summary: Rich | null; readonly blob: BlobFate | null }
    | ({ readonly type: "call" } & Call)
    /** A result whose call is not in the same page. */
    | { readonly type: "result"; readonly tool: string; readonly result: CallResult }
    | { readonly type: "checkpoint"; readonly about: string; readonly body: Rich; readonly details: string }
    | { readonly type: "fork"; readonly about: string; readonly body: Rich | null }
    | { readonly type: "note"; readonly text: string; readonly tone: Tone; readonly to?: string }
    | { readonly type: "usage"; readonly request: number }
    | { readonly type: "image"; readonly name: string; readonly src: string }
    | { readonly type: "events"; readonly rows: readonly (readonly string[])[] }
    /** Anything else, as text. */
    | { readonly type: "raw"; readonly name: string; readonly text: string }
  );

/** The opaque part of a reasoning item, and the requests that it went into. */
export interface BlobFate {
  /** Length in characters. */
  readonly length: number;
  /** First 16 hex digits of its sha256; `null` if there is no opaque part. */
  readonly sha256: string | null;
  readonly fate: readonly FateSpan[];
}

/** Requests in a row that treated an item alike. */
export interface FateSpan {
  /** Turns of the first and the last of these requests. */
  readonly turns: readonly [number, number];
  /** `null` if it was sent. */
  readonly dropped: string | null;
}

/** A call of a tool. */
export interface Call {
  readonly tool: string;
  /** The arguments, unless `diff` shows them. */
  readonly args: string;
  readonly path: string | null;
  /** Lines of a change, each after `+`, `-`, a space, or `@` for left out lines; `null` if it is no edit. */
  readonly diff: string | null;
  readonly decision: { readonly text: string; readonly tone: Tone } | null;
  readonly result: CallResult | null;
}

/** The result of a call. */
export interface CallResult {
  readonly seq: number | null;
  readonly status: string;
  readonly tone: Tone;
  readonly text: string;
  /** The blob with the whole output; `null` if `text` is whole. */
  readonly whole: string | null;
  /** Milliseconds until the results of its batch were saved; `null` if unknown. */
  readonly took: number | null;
}

/** One request, for the charts. */
export interface RequestPoint {
  /** Index of its entry. */
  readonly entry: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  /** US dollars; `null` if the price is unknown. */
  readonly cost: number | null;
  /** Comparison with the request before it; `null` if there is none, or if it cannot be built again. */
  readonly prefix: { readonly extends: true } | {
    readonly extends: false;
    readonly byte: number;
    /** The first item of the input that differs; `null` if they differ before it. */
    readonly item: number | null;
  } | null;
}
