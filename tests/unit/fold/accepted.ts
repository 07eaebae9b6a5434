import assert from "node:assert/strict";
import { familyOf } from "../../../src/domain/models.ts";
import type { BlobJudge } from "../../../src/apis/responses/rules/ids.ts";
import type { MixedCase } from "./mixed_history.ts";
import type { RandomCase } from "./random_history.ts";
import { checkMessagesRequest, checkResponsesRequest, RULE_GRADES } from "../../support/rule_checks.ts";

/** Fails unless the API's rules let a case's request through. */
export function requireAccepted(text: string, { target, reasoningOf, followingOf }: RandomCase): void {
  const body = JSON.parse(text);
  const { endpoint, account } = target.fingerprint;
  const decode: BlobJudge = ({ id, encrypted_content }) => {
    const [madeAt, madeFor, model = "", madeId] = encrypted_content.split("|");
    if (madeAt !== endpoint || (id !== undefined && madeId !== id)) return "undecodable";
    if (madeFor !== "?" && account !== null && madeFor !== account) return "other_organization";
    const family = target.replay === "family" ? familyOf(model) : null;
    return model === target.model || family !== null && family === familyOf(target.model)
      ? "ok"
      : "other_model";
  };
  const { refusals } = checkResponsesRequest({ ...body, store: false }, {
    mode: "azure",
    refuse: RULE_GRADES,
    decode,
    reasoningOf: (id) => reasoningOf.get(id),
    followingOf: (id) => followingOf.get(id),
  });
  assert.deepEqual(refusals.map((refusal) => refusal.error.message), []);
}

/** Fails unless the rules of the target's API let a case's request through. */
export function requireAcceptedAnywhere(text: string, { turns, target }: MixedCase): void {
  const body = JSON.parse(text);
  const { provider } = target.fingerprint;
  if (provider === "anthropic") {
    const headers = { "anthropic-version": "2026-10-21" };
    const newest = turns.findLast(({ kind }) => kind === "model");
    // Only a response that its server paused may be the end of a history.
    const allowPrefill = newest?.kind === "model" && newest.response.paused === true;
    const { refusals } = checkMessagesRequest(body, headers, { refuse: RULE_GRADES, allowPrefill });
    assert.deepEqual(refusals, []);
    return;
  }
  const mode = provider === "azure" ? "azure" : "openai";
  const { refusals } = checkResponsesRequest(body, { mode, refuse: RULE_GRADES });
  // A server may get its own inventions back, and a compatible one the reasoning that it showed instead of a blob.
  const own = ["unknown_item_type", "unknown_parameter"];
  if (provider === "compatible") own.push("reasoning_not_stored");
  assert.deepEqual(refusals.filter(({ rule }) => !own.includes(rule)), []);
}
