import { type Fingerprint, fingerprintText } from "../../domain/fingerprint.ts";
import type { Item } from "../../domain/event.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn, UserTurn } from "../../domain/turn.ts";
import { foldHistory } from "../../fold/fold.ts";
import type { Folded } from "../../fold/history_fold.ts";
import type { FoldTarget } from "../../fold/guard.ts";
import { needsOlderTurns } from "../../fold/overrides.ts";
import { apiOf, foldNeedsOf } from "../../apis/apis.ts";
import type { BuiltRequest } from "../../apis/api.ts";
import { standingOmissions } from "../../run/refusals.ts";
import { fingerprintOf } from "../../run/setup.ts";
import { toolSchemas } from "../../tools/registry.ts";
import type { Fixture } from "../../fixture/read.ts";
import { keyInForce } from "./api_key.ts";
import type { PostureFlags, RequestFlags } from "../flags.ts";
import { postureOf } from "./permissions.ts";
import { endpointSetting } from "./endpoint.ts";
import { requestIdentity } from "./request_identity.ts";
import { modelSetting, readOutputSchema, reasoningSettings, replaySetting } from "./run_settings.ts";
import type { Config } from "../settings.ts";

/** The request that the next run would send first, and the account of how it was folded. */
export interface NextRequest {
  readonly built: BuiltRequest;
  readonly folded: Folded;
  readonly model: string;
  readonly fingerprint: Fingerprint;
  /** Where it would go. */
  readonly url: string;
  /** Such as `openai:gpt-5.6:1f3a9c02`. */
  readonly fingerprintText: string;
}

/** What a preview is made from. */
export interface PreviewSource {
  readonly ports: Ports;
  readonly flags: RequestFlags & PostureFlags;
  readonly config: Config;
  readonly fixture: Fixture | null;
  /** `null` for a session that does not exist yet. */
  readonly manifest: Manifest | null;
  /** All turns, or those that the next request needs. */
  readonly turns: readonly Turn[];
  /** Reads all turns, for a target that may not be sent the checkpoint that `turns` begin at. */
  readonly allTurns?: () => readonly Turn[];
  readonly instructions: string;
  /** The id that a new session would have; its prompt cache key. */
  readonly family: string;
}

/** Builds the next request; `prompt` is what the user would say, `null` to go on without words. */
export function nextRequest(source: PreviewSource, prompt: readonly Item[] | null): NextRequest {
  const { ports, flags } = source;
  const endpoint = endpointSetting(ports, flags, source);
  const model = modelSetting(ports, flags, source).value;
  const identity = requestIdentity(endpoint, {
    played: source.fixture !== null,
    key: keyInForce(ports, endpoint.provider),
    family: source.manifest?.family ?? source.family,
    turns: source.turns,
  });
  const fingerprint = fingerprintOf({ ...endpoint, ...identity }, identity.account);
  const target: FoldTarget = {
    fingerprint,
    needs: foldNeedsOf(endpoint.provider),
    model,
    replay: replaySetting(ports, flags, source.fixture),
    window: flags.replayWindow ?? null,
  };
  const kept = needsOlderTurns(source.turns, target) ? source.allTurns?.() ?? source.turns : source.turns;
  const turns = prompt === null ? kept : [...kept, userTurn(prompt, kept)];
  const folded = foldHistory(turns, target);
  const built = apiOf(endpoint.provider).buildRequest({
    model,
    instructions: source.instructions,
    tools: toolSchemas(postureOf(flags, source.manifest).offered),
    entries: folded.entries,
    cacheKey: source.manifest?.family ?? source.family,
    without: standingOmissions(source.turns, endpoint, model),
    ...reasoningSettings(ports, flags, source),
    ...(flags.outputSchema === undefined
      ? {}
      : { outputSchema: readOutputSchema(ports, flags.outputSchema) }),
  });
  return {
    built,
    folded,
    model,
    fingerprint,
    url: endpoint.urlOf(built.path),
    fingerprintText: fingerprintText(fingerprint, model),
  };
}

/** Enough of a user turn for the fold, which looks at kind, seq and events only. */
function userTurn(content: readonly Item[], before: readonly Turn[]): UserTurn {
  const seq = (before.at(-1)?.seq[1] ?? 0) + 1;
  return {
    kind: "user",
    seq: [seq, seq],
    events: [{ seq, type: "user_message", content }],
  } as unknown as UserTurn;
}
