/** Finds the refusals that a Responses request would get, for replay servers. A run sends its requests unchecked. */
import { BODY_VIOLATIONS } from "../../openai.ts";
import { type ApiRules, validate } from "../../rule.ts";
import { includeValues, misplacedTrigger, samplingFields, streamOptions, unstoredPrevious } from "./body.ts";
import { missingItemFields, unknownItemFields, unknownItemTypes, wrongItemTypes } from "./fields.ts";
import { callIdLengths, duplicateIds, idLengths, idPrefixes, unreadableBlobs, unstoredItems } from "./ids.ts";
import { placedItems } from "./items.ts";
import { KnownBlobs } from "./known_items.ts";
import { itemsWithoutReasoning, lostFollowing, reasoningWithoutFollowing, unpairedCalls } from "./pairing.ts";
import { RESPONSES_RULES } from "./rule.ts";

export const responsesRules: ApiRules<KnownBlobs> = {
  rules: RESPONSES_RULES,
  sets: ["openai", "azure"],
  ownsPath: (pathname) => /\/responses\/?$/.test(pathname),
  headers: [],
  newItems: (nameOf) => new KnownBlobs(nameOf),
  check: (json, _headers, set, known) =>
    validate(json, {
      ...BODY_VIOLATIONS,
      parse: (body) => ({ body, set, items: placedItems(body.input), known }),
      inOrder: [
        wrongItemTypes,
        unknownItemTypes,
        unknownItemFields,
        missingItemFields,
        includeValues,
        samplingFields,
        streamOptions,
        unstoredPrevious,
        callIdLengths,
        idLengths,
        idPrefixes,
        duplicateIds,
        unstoredItems,
        unreadableBlobs,
        reasoningWithoutFollowing,
        lostFollowing,
        itemsWithoutReasoning,
        unpairedCalls,
        misplacedTrigger,
      ],
    }),
};
