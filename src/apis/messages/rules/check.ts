/**
 * Finds the refusals that a Messages request would get, for replay servers and tests. A run sends its requests
 * unchecked.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";
import { type CheckResult, gradedResult, type RuleGrade } from "../../rule.ts";
import { isWellFormedBody } from "../../rule.ts";
import {
  cacheBreakpoints,
  maxTokens,
  outputConfig,
  prefill,
  thinkingConfig,
  toolChoice,
  toolNames,
  versionChanges,
  versionHeader,
} from "./config.ts";
import { blockRoles, blockTypes, emptyContent, firstMessage, roles } from "./content.ts";
import { missingMembers, shapedObjects, unknownMembers, wrongMemberTypes } from "./fields.ts";
import { serverPairs, toolPairs, toolUseIds } from "./pairing.ts";
import { messagesRequest } from "./request.ts";
import { type MessagesRefusal, messagesRuleOf, type MessagesViolation } from "./rule.ts";
import { type SignatureJudge, unfitSignatures } from "./signatures.ts";

/** Options of the checker. */
export interface MessagesCheckOptions {
  /** Judges thinking blocks; without it, they are not checked. */
  readonly judge?: SignatureJudge;
  /**
   * The last message may be the assistant's: an older model, or a turn in which the API paused.
   *
   * @default {false}
   */
  readonly allowPrefill?: boolean;
  /**
   * The server does not know `thinking.block_binding`, even with the beta header.
   *
   * @default {false}
   */
  readonly legacyBinding?: boolean;
  /**
   * The grades of knowledge that refuse; rules of other grades only warn.
   *
   * @default {REFUSING_GRADES}
   */
  readonly refuse?: readonly RuleGrade[];
}

/** Checks a Messages request by every rule of {@linkcode ./rule.ts}; names of `headers` in lower case. */
export function checkMessagesRequest(
  body: JsonValue,
  headers: Readonly<Record<string, string>>,
  options: MessagesCheckOptions = {},
): CheckResult<MessagesRefusal> {
  return gradedResult(messagesViolations(body, headers, options).map(refusalOf), options.refuse);
}

/** Returns every violation in a request, in the order of the validators. */
export function messagesViolations(
  body: JsonValue,
  headers: Readonly<Record<string, string>>,
  { judge, allowPrefill = false, legacyBinding = false }: Omit<MessagesCheckOptions, "refuse">,
): MessagesViolation[] {
  if (!isJsonObject(body)) {
    return [{ rule: "body_object", message: "Input should be a valid dictionary" }];
  }
  const request = messagesRequest(body, headers);
  const blocks = request.messages.flatMap((message) => message.blocks);
  const objects = shapedObjects(request, { legacyBinding });
  return [
    ...(isWellFormedBody(body)
      ? []
      : [{ rule: "well_formed", message: "The request body is not valid JSON" } as const]),
    ...versionHeader(request),
    ...missingMembers(objects, request),
    ...wrongMemberTypes(objects, request),
    ...unknownMembers(objects, request),
    ...roles(request),
    ...blockTypes(blocks),
    ...blockRoles(blocks),
    ...versionChanges(request),
    ...maxTokens(request),
    ...thinkingConfig(request),
    ...outputConfig(request),
    ...toolChoice(request),
    ...toolNames(request),
    ...cacheBreakpoints(request),
    ...firstMessage(request),
    ...emptyContent(request),
    ...toolUseIds(blocks),
    ...toolPairs(request),
    ...serverPairs(request),
    ...(judge === undefined ? [] : unfitSignatures(request, judge)),
    ...prefill(request, allowPrefill),
  ];
}

/** Returns a violation as the API reports it. */
export function refusalOf({ rule, message }: MessagesViolation): MessagesRefusal {
  return {
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message } },
    rule,
    grade: messagesRuleOf(rule).grade,
  };
}
