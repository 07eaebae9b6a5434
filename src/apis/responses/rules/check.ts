/**
 * Finds the refusals that a Responses request would get, for replay servers and tests. A run sends its requests
 * unchecked.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { type CheckResult, gradedResult, type RuleGrade } from "../../rule.ts";
import {
  includeValues,
  malformedText,
  misplacedTrigger,
  samplingFields,
  streamOptions,
  unstoredPreviousResponse,
} from "./body.ts";
import {
  missingItemFields,
  type Mode,
  unknownItemFields,
  unknownItemTypes,
  wrongItemTypes,
} from "./fields.ts";
import {
  type BlobJudge,
  callIdLengths,
  duplicateIds,
  idLengths,
  idPrefixes,
  unreadableBlobs,
  unstoredItems,
} from "./ids.ts";
import { type PlacedItem, placedItems } from "./items.ts";
import {
  type FollowingOf,
  itemsWithoutReasoning,
  type ReasoningOf,
  type ReasoningPairing,
  reasoningWithoutFollowing,
  reasoningWithoutItsFollowing,
  unpairedCalls,
} from "./pairing.ts";
import { type ResponsesRefusal, responsesRuleOf, type ResponsesViolation } from "./rule.ts";

/** Options of the checker. */
export interface ResponsesCheckOptions {
  /** `azure` also refuses an optional `status`. */
  readonly mode: Mode;
  /** Judges encrypted content; without it, encrypted content is not checked. */
  readonly decode?: BlobJudge;
  /** Finds the reasoning that belongs to an id; without it, that rule is not checked. Unused if `positional`. */
  readonly reasoningOf?: ReasoningOf;
  /** Finds the item after a reasoning item; without it, no item is searched by id. Unused if `positional`. */
  readonly followingOf?: FollowingOf;
  /**
   * Strategy that matches reasoning with the item after it.
   *
   * @default {"both"}
   */
  readonly pairing?: ReasoningPairing | undefined;
  /**
   * The grades of knowledge that refuse; rules of other grades only warn.
   *
   * @default {REFUSING_GRADES}
   */
  readonly refuse?: readonly RuleGrade[];
}

/** Checks a request body by every rule of {@linkcode ./rule.ts}. */
export function checkResponsesRequest(
  body: JsonValue,
  options: ResponsesCheckOptions,
): CheckResult<ResponsesRefusal> {
  return gradedResult(responsesViolations(body, options).map(refusalOf), options.refuse);
}

/** Returns every violation in a request body, in the order of the validators. */
export function responsesViolations(
  body: JsonValue,
  options: Omit<ResponsesCheckOptions, "refuse">,
): ResponsesViolation[] {
  const { mode, decode } = options;
  if (!isJsonObject(body)) {
    return [{
      rule: "field_type",
      message: "Invalid body: expected a JSON object.",
      param: null,
      code: "invalid_type",
    }];
  }
  const items = placedItems(body.input);
  return [
    ...malformedText(body),
    ...wrongItemTypes(body.input, items),
    ...unknownItemTypes(items),
    ...unknownItemFields(items, mode),
    ...missingItemFields(items),
    ...includeValues(body),
    ...samplingFields(body),
    ...streamOptions(body),
    ...unstoredPreviousResponse(body),
    ...callIdLengths(items),
    ...idLengths(items),
    ...idPrefixes(items),
    ...duplicateIds(items),
    ...unstoredItems(items, body),
    ...(decode === undefined ? [] : unreadableBlobs(items, body, decode)),
    ...reasoningPairs(items, body, options),
    ...unpairedCalls(items, body),
    ...misplacedTrigger(items),
  ];
}

function reasoningPairs(
  items: readonly PlacedItem[],
  body: JsonObject,
  options: ResponsesCheckOptions,
): ResponsesViolation[] {
  const { pairing = "both", reasoningOf, followingOf } = options;
  const byId = pairing !== "positional";
  return [
    ...(pairing === "by_id" ? [] : reasoningWithoutFollowing(items, body)),
    ...(byId && followingOf !== undefined ? reasoningWithoutItsFollowing(items, body, followingOf) : []),
    ...(byId && reasoningOf !== undefined ? itemsWithoutReasoning(items, reasoningOf) : []),
  ];
}

/** Returns a violation as the API reports it. */
export function refusalOf(
  { rule, message, param, code, status, grade }: ResponsesViolation,
): ResponsesRefusal {
  return {
    status: status ?? 400,
    body: { error: { message, type: "invalid_request_error", param, code } },
    rule,
    grade: grade ?? responsesRuleOf(rule).grade,
  };
}
