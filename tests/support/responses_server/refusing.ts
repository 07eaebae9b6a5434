import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import type { RecordedRequest } from "../responses_server.ts";
import { httpError } from "./faults.ts";
import { answer, type ScriptedResponse } from "./script.ts";

/** Error of the API about a request, in the words of protocol §6.2. */
export interface RefusalText {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  /** @default {400} */
  readonly status?: number;
}

/** Places of the error: before any stream, or inside one after HTTP 200 (protocol §3.5). */
export const REFUSAL_SHAPES = ["http", "failed", "error", "error_then_failed"] as const;
/** One of {@linkcode REFUSAL_SHAPES}. */
export type RefusalShape = (typeof REFUSAL_SHAPES)[number];

/** A refusal as an answer. Inside a stream neither `param` nor a missing `code` is carried, only the words. */
export function refuse(text: RefusalText, shape: RefusalShape): ScriptedResponse {
  const { status = 400, message, param, code } = text;
  if (shape !== "http") return answer([], { end: { kind: shape, error: { code: code ?? null, message } } });
  return httpError(status, {
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  });
}

/** The reasoning items of a request. */
export function reasoningOf({ input }: Pick<RecordedRequest, "input">): JsonObject[] {
  return input.filter(({ type }) => type === "reasoning");
}

/** The ids of those. */
export function reasoningIds(request: Pick<RecordedRequest, "input">): string[] {
  return reasoningOf(request).map(({ id }) => String(id));
}

/** A refusal as servers made with FastAPI send it: `{"detail": …}`, a text or a list of problems. */
export function refuseInDetail(status: number, detail: JsonValue): ScriptedResponse {
  const headers = { "content-type": "application/json" };
  return { kind: "http", status, headers, body: JSON.stringify({ detail }) };
}

/** Refusals of the item `id` in words that are in no documentation. */
export const OTHER_WORDS: Readonly<Record<string, (id: string) => ScriptedResponse>> = {
  "expired": (id) => refuse({ message: `reasoning item ${id} expired` }, "http"),
  "expired, in a failed stream": (id) => refuse({ message: `reasoning item ${id} expired` }, "failed"),
  "expired, in an error event": (id) =>
    refuse({ message: `Item ${id} expired.`, code: "item_expired" }, "error"),
  "unprocessable": (id) => refuse({ message: `Item ${id} is too old.`, param: "input", status: 422 }, "http"),
  "as detail": (id) => refuseInDetail(400, `reasoning item ${id} expired`),
  "as a list of details": (id) =>
    refuseInDetail(422, [{
      type: "value_error",
      loc: ["body", "input"],
      msg: `Value error, ${id} is unknown`,
    }]),
};

/** Refusals that speak of reasoning and name no item. */
export const OTHER_WORDS_UNNAMED: Readonly<Record<string, () => ScriptedResponse>> = {
  "too old": () => refuse({ message: "encrypted_content too old" }, "http"),
  "not decrypted": () =>
    refuse({ message: "The reasoning content could not be decrypted.", param: "input" }, "http"),
  "not decrypted, in a stream": () =>
    refuse({ message: "The reasoning content could not be decrypted." }, "error_then_failed"),
  "as detail": () => refuseInDetail(404, "Encrypted content not found"),
};

/** Refusals that say nothing of reasoning. */
export const UNKNOWN_WORDS: Readonly<Record<string, () => ScriptedResponse>> = {
  "bad request": () => refuse({ message: "Bad Request" }, "http"),
  "not found": () => refuse({ message: "Item not found.", param: "input", status: 404 }, "http"),
  "unprocessable": () => refuseInDetail(422, "Unprocessable Entity"),
  "in a stream": () => refuse({ message: "Invalid input.", code: "invalid_request_error" }, "failed"),
  "by an unknown code in a stream": () => refuse({ message: "Gone.", code: "stale_blob" }, "failed"),
  "by an unknown code in an error event": () => refuse({ message: "Gone.", code: "stale_blob" }, "error"),
  "about another item": () =>
    refuse({ message: "Invalid 'input[0]'.", param: "input[0]", code: "invalid_value" }, "http"),
};
