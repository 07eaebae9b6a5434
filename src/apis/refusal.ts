/** Refusals in the words of any API: of pairs, and of unknown causes that a request without reasoning may avoid. */
import { words } from "../domain/text.ts";
import type { ApiFailure } from "../domain/errors.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { codeOfWords, isServerFault } from "./failure.ts";
import type { RequestRefusal } from "./api.ts";
import { wireCallId } from "./names.ts";

/** Statuses with which a server refuses the content of a request. */
const CONTENT_STATUSES: ReadonlySet<number> = new Set([400, 404, 422]);

/** Codes of policy and model refusals, and of a response that is not stored. */
const BARRED_CODE =
  /^(?:previous_response_not_found|deployment_?not_?found|(?:invalid|unknown|unsupported)_model|model_.*)$|policy|moderation|content_filter/i;
/** Texts about policy, credit and quota: several servers send these as plain 400 (protocol §6.3, §11). */
const BARRED_TEXTS: readonly RegExp[] = [
  /(?:usage|content|safety|acceptable.use)(?: management)? polic|content[ _-]filter|\bflagged\b|safety reasons/i,
  /\bquota\b|\bbilling\b|credit balance|spend(?:ing)? limit|insufficient (?:balance|credit|funds)/i,
];
/** Words of keys, rights and models. An error about the reasoning in a request may use them too. */
const ACCESS_TEXTS: readonly RegExp[] = [
  /\bapi[ _-]?key\b|\bunauthori[sz]ed\b|\bnot authenticated\b|\bpermission/i,
  /\bmodels? [`'"]?[\w.:/@-]{1,100}[`'"]? (?:do(?:es)? not exist|(?:is |was )?not (?:found|available|supported)|has been)/i,
  /\binvalid model\b|not a valid model|no models? (?:is )?loaded/i,
];

/** Members that hold a request's history, and members of reasoning that an error may name without their path. */
const HISTORY_FIELDS: ReadonlySet<string> = new Set(words(`
  content encrypted_content input item items messages reasoning_content signature
`));
/** A request field that the text names instead of `param`: quoted, or as the path that texts of Messages begin with. */
const NAMED_FIELDS: readonly RegExp[] = [
  /^(model): /,
  /^invalid [`'"]([A-Za-z_]\w{0,63})/i,
  /\bunsupported value:? [`'"]([A-Za-z_]\w{0,63})(?:\.\w{1,64})*[`'"] does not support\b/i,
  /\b(?:unknown|unsupported|unrecognized|missing required) (?:parameter|argument|field)s?:? [`'"]([A-Za-z_]\w{0,63})/i,
  /^([a-z][a-z_]{1,63})(?:\.[\w-]{1,64}){0,8}: (?:extra inputs|field required|input should|value error|must )/i,
  /^[`'"]?((?:max_(?:output_)?tokens|stop_sequences|stream|system|temperature|tool_choice|tools|top_[kp])\b|thinking(?=\.))/,
];

/** Words of errors that the same request may be spared later. */
const SPEAKS_OF_FAULT =
  /overload|unavailable|capacity|time[sd]?[ -]?out|\b(?:internal|server|network) error|an error occurred|\bretry|try again/i;
const SPEAKS_OF_REASONING = /reasoning|encrypted[ _-]?content|thinking|signature/i;

/** The shortest id to look for in a message: a shorter id could be any word. */
const MIN_ID_LENGTH = 4;

/**
 * True for failures that omitting items never fixes: context, quota, billing, policy, model and authentication.
 * Text about access and models counts only if the error names no sent item
 * and is not about the reasoning in the input.
 */
export function isBarred(failure: ApiFailure, entries: readonly FoldedEntry[]): boolean {
  const said = saidIn(failure.message);
  return isBarredByCode(failure) || BARRED_TEXTS.some((text) => text.test(said)) ||
    ACCESS_TEXTS.some((text) => text.test(said)) && !isAboutReasoning(failure, entries);
}

/** True if a filter or a policy refused the content of a request. */
export function isPolicyRefusal({ message, providerCode, providerType }: ApiFailure): boolean {
  const [policy] = BARRED_TEXTS;
  return policy?.test(saidIn(message)) === true || providerCode === "invalid_prompt" ||
    [providerCode, providerType].some((word) =>
      word !== null && /policy|moderation|content_filter/i.test(word)
    );
}

function isBarredByCode({ providerCode, providerType }: ApiFailure): boolean {
  const known = codeOfWords({ code: providerCode, type: providerType, message: null, param: null });
  return known === "quota_exhausted" || known === "rate_limited" || known === "unauthorized" ||
    known === "context_overflow" ||
    [providerCode, providerType].some((word) => word !== null && BARRED_CODE.test(word));
}

/** True if an error names a sent item, or mentions reasoning and says that it is about the input. */
function isAboutReasoning(failure: ApiFailure, entries: readonly FoldedEntry[]): boolean {
  const { param, message } = failure;
  if (idsNamed(message, entries).length > 0) return true;
  const isAboutInput = /^(?:body\.)?(?:input|messages)\b/.test(param ?? saidIn(message));
  // A model may be called after reasoning.
  const rest = ACCESS_TEXTS.reduce((text, access) => text.replace(access, ""), saidIn(message));
  return isAboutInput && SPEAKS_OF_REASONING.test(rest);
}

/** True if an API refused a request because of its history or for an unknown reason. */
export function isContentRefusal(failure: ApiFailure, entries: readonly FoldedEntry[]): boolean {
  return (mayBeAboutHistory(failure) || isUnclassedInStream(failure)) && !isBarred(failure, entries);
}

/** True when neither the status of a refusal, nor its code, nor a field that it names is about something else. */
export function mayBeAboutHistory(failure: ApiFailure): boolean {
  const { code, status } = failure;
  return code === "request_refused" && (status === null || CONTENT_STATUSES.has(status)) &&
    !isBarredByCode(failure) && !namesOtherField(failure);
}

/**
 * The cause of a failure with unknown text: `likely_reasoning` if it names a sent item or mentions reasoning, `unknown`
 * if an API refused it otherwise, `null` for all other failures. Inside a stream a fault has no other form than a
 * refusal, so that words of a fault count there.
 */
export function guessedRefusal(
  failure: ApiFailure,
  entries: readonly FoldedEntry[],
): Extract<RequestRefusal, { readonly kind: "likely_reasoning" | "unknown" }> | null {
  if (!isContentRefusal(failure, entries)) return null;
  const ids = idsNamed(failure.message, entries);
  if (ids.length > 0 || SPEAKS_OF_REASONING.test(failure.message)) return { kind: "likely_reasoning", ids };
  return isUnclassedInStream(failure) && mayBeFault(failure) ? null : { kind: "unknown" };
}

/**
 * The refusal of the item at `index`, which can be sent without its member `field`. If `field` is `null` and the item
 * is not reasoning, the error may still be about reasoning that belongs to the item.
 */
export function itemRefusal(
  failure: ApiFailure,
  entries: readonly FoldedEntry[],
  { index, field }: { readonly index: number; readonly field: string | null },
): RequestRefusal {
  const kind = entries[index]?.kind ?? "reasoning";
  const guess = field === null && kind !== "reasoning" ? guessedRefusal(failure, entries) : null;
  return guess?.kind === "likely_reasoning" ? guess : { kind: "item", index, field };
}

/** True for an error inside a stream without a known code: it may be a refusal or a fault, so its text decides. */
function isUnclassedInStream(failure: ApiFailure): boolean {
  return failure.code === "provider_failed" && failure.status === null && !isServerFault(failure) &&
    !namesOtherField(failure);
}

/** True if an error inside a stream has no code, which says that it is no known fault, or words of a fault. */
function mayBeFault({ providerCode, providerType, message }: ApiFailure): boolean {
  return providerCode === null && providerType === null || SPEAKS_OF_FAULT.test(saidIn(message));
}

/** True if the error is about a field of the request other than its history. */
function namesOtherField({ param, message }: ApiFailure): boolean {
  const said = saidIn(message);
  const named = param === null
    ? NAMED_FIELDS.map((pattern) => pattern.exec(said)?.[1]).find((name) => name !== undefined)
    : /^(?:body\.)?([A-Za-z_]\w*)/.exec(param)?.[1];
  return named !== undefined && !HISTORY_FIELDS.has(named);
}

/** The provider's own text: the rest after `(HTTP 400, "code"): `. */
function saidIn(message: string): string {
  const lead = message.indexOf("): ");
  return lead < 0 ? message : message.slice(lead + 3);
}

/** The ids of sent items that a message names, each once. */
function idsNamed(message: string, entries: readonly FoldedEntry[]): string[] {
  const sent = entries.flatMap((entry) => {
    const id = "item" in entry ? entry.item.id : undefined;
    return typeof id === "string" && id.length >= MIN_ID_LENGTH ? [id] : [];
  });
  return [...new Set(sent)].filter((id) => namesId(message, id));
}

/** True when `id` occurs in `message`, and not only as a part of a longer id. */
function namesId(message: string, id: string): boolean {
  const isIdCharacter = (character: string | undefined) =>
    character !== undefined && /[A-Za-z0-9_-]/.test(character);
  for (let at = message.indexOf(id); at >= 0; at = message.indexOf(id, at + 1)) {
    if (!isIdCharacter(message[at - 1]) && !isIdCharacter(message[at + id.length])) return true;
  }
  return false;
}

/**
 * Texts of refusals of pairs that go on with the id of a call, or with several. Gateways pass on the texts of the API
 * behind them, so that each API may answer in the words of any other (protocol §6.2, §11, §15.6).
 */
const NAMING: readonly RegExp[] = [
  /no tool (?:output|call) found for /i,
  /\btool_use\b.{0,3}ids were found without .{0,3}tool_result\b.{0,3}blocks/i,
  /unexpected .{0,3}tool_use_id\b.{0,3}found in .{0,3}tool_result\b.{0,3}blocks/i,
  /assistant message with .{0,3}tool_calls\b.{0,3}must be followed by tool messages/i,
  /.{0,3}\btool_call_id\b.{0,3}of [^\s]{1,80} not found in .{0,3}tool_calls\b/i,
  /duplicate value for .{0,3}tool_call_id\b/i,
];
/** Texts that name no call. */
const SILENT: readonly RegExp[] = [
  /messages with role .{0,3}tool\b.{0,3}must be a response to a prece+ding message/i,
  /missing parameter .{0,3}tool_call_id\b/i,
  /not the same number of function calls and responses/i,
];

/**
 * The refusal of pairs in these words; `null` for any other text. Gateways give calls ids of their own, so that a text may
 * name none that was sent.
 */
export function refusedCalls(
  message: string,
  entries: readonly FoldedEntry[],
): Extract<RequestRefusal, { readonly kind: "call" }> | null {
  const naming = NAMING.map((text) => text.exec(message)).find((match) => match !== null) ?? null;
  if (naming === null) {
    return SILENT.some((text) => text.test(message)) ? { kind: "call", callIds: null } : null;
  }
  const sentWords = new Set(
    message.slice(naming.index).split(/[\s,'"`()<>[\]{}=\\]+/).map((word) => word.replace(/[.;:]+$/, "")),
  );
  const sent = entries.flatMap((entry) => "callId" in entry ? [entry.callId] : []);
  const named = sent.filter((id) => sentWords.has(id) || sentWords.has(wireCallId(id)));
  return { kind: "call", callIds: named.length === 0 ? null : [...new Set(named)] };
}
