/** Finds the refusals that a Responses request would get, for replay servers. A run sends its requests unchecked. */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";
import type { RuleSet } from "../../rule.ts";
import {
  includeValues,
  malformedText,
  misplacedTrigger,
  samplingFields,
  streamOptions,
  unstoredPreviousResponse,
} from "./body.ts";
import { missingItemFields, unknownItemFields, unknownItemTypes, wrongItemTypes } from "./fields.ts";
import {
  type BlobJudge,
  callIdLengths,
  duplicateIds,
  idLengths,
  idPrefixes,
  unreadableBlobs,
  unstoredItems,
} from "./ids.ts";
import { placedItems } from "./items.ts";
import {
  type FollowingOf,
  itemsWithoutReasoning,
  type ReasoningOf,
  reasoningWithoutFollowing,
  reasoningWithoutItsFollowing,
  unpairedCalls,
} from "./pairing.ts";
import type { ResponsesViolation } from "./rule.ts";

/** Items that the server is known to have issued; what is absent is not checked. */
export interface IssuedFacts {
  readonly decode?: BlobJudge;
  readonly reasoningOf?: ReasoningOf;
  readonly followingOf?: FollowingOf;
}

/** Returns every violation in a request body, in the order of the validators. */
export function responsesViolations(
  body: JsonValue,
  set: RuleSet,
  { decode, reasoningOf, followingOf }: IssuedFacts = {},
): ResponsesViolation[] {
  if (!isJsonObject(body)) {
    return [{
      rule: "field_type",
      message: "Invalid body: expected a JSON object.",
      code: "invalid_type",
    }];
  }
  const items = placedItems(body.input);
  return [
    ...malformedText(body),
    ...wrongItemTypes(body.input, items),
    ...unknownItemTypes(items),
    ...unknownItemFields(items, set),
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
    ...reasoningWithoutFollowing(items, body),
    ...(followingOf === undefined ? [] : reasoningWithoutItsFollowing(items, body, followingOf)),
    ...(reasoningOf === undefined ? [] : itemsWithoutReasoning(items, reasoningOf)),
    ...unpairedCalls(items, body),
    ...misplacedTrigger(items),
  ];
}
