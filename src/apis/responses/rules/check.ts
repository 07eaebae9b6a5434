/** Finds the refusals that a Responses request would get, for replay servers. A run sends its requests unchecked. */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";
import { malformedText, NOT_AN_OBJECT } from "../../openai_violations.ts";
import type { RuleSet } from "../../rule.ts";
import {
  includeValues,
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

/** Yields every violation in a request body, those of each validator in turn. */
export function* responsesViolations(
  body: JsonValue,
  set: RuleSet,
  { decode, reasoningOf, followingOf }: IssuedFacts = {},
): Generator<readonly ResponsesViolation[]> {
  if (!isJsonObject(body)) {
    yield [NOT_AN_OBJECT];
    return;
  }
  const items = placedItems(body.input);
  yield* malformedText(body);
  yield wrongItemTypes(body.input, items);
  yield unknownItemTypes(items);
  yield unknownItemFields(items, set);
  yield missingItemFields(items);
  yield includeValues(body);
  yield samplingFields(body);
  yield streamOptions(body);
  yield unstoredPreviousResponse(body);
  yield callIdLengths(items);
  yield idLengths(items);
  yield idPrefixes(items);
  yield duplicateIds(items);
  yield unstoredItems(items, body);
  yield decode === undefined ? [] : unreadableBlobs(items, body, decode);
  yield reasoningWithoutFollowing(items, body);
  yield followingOf === undefined ? [] : reasoningWithoutItsFollowing(items, body, followingOf);
  yield reasoningOf === undefined ? [] : itemsWithoutReasoning(items, reasoningOf);
  yield unpairedCalls(items, body);
  yield misplacedTrigger(items);
}
