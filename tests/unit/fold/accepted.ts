import assert from "node:assert/strict";
import { familyOf } from "../../../src/domain/models.ts";
import type { BlobJudge } from "../../../src/apis/responses/rules/ids.ts";
import { checkResponsesRequest } from "../../../src/apis/responses/rules/check.ts";
import type { ReasoningPairing } from "../../../src/apis/responses/rules/pairing.ts";
import type { RandomCase } from "./random_history.ts";
import { RULE_GRADES } from "../../../src/apis/rule.ts";

const PAIRINGS: readonly ReasoningPairing[] = ["positional", "by_id"];

/** Fails unless the API's rules let a case's request through, in both modes of pairing. */
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
  for (const pairing of PAIRINGS) {
    const { refusals } = checkResponsesRequest({ ...body, store: false }, {
      mode: "azure",
      refuse: RULE_GRADES,
      pairing,
      decode,
      reasoningOf: (id) => reasoningOf.get(id),
      followingOf: (id) => followingOf.get(id),
    });
    assert.deepEqual(refusals.map((refusal) => refusal.body.error.message), [], pairing);
  }
}
