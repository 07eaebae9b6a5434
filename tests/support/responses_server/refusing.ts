import type { JsonObject } from "../../../src/domain/json.ts";
import type { RecordedRequest } from "../responses_server.ts";
import { httpError } from "./faults.ts";
import { answer, type ScriptedResponse } from "./script.ts";

/** What the API says against a request, in the words of protocol §6.2. */
export interface RefusalText {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  /** @default {400} */
  readonly status?: number;
}

/** How it says it: before any stream, or inside one after HTTP 200 (protocol §3.5). */
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
