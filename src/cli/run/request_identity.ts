import { keyHash } from "../../domain/fingerprint.ts";
import type { Turn } from "../../domain/turn.ts";
import { knownAccount, playedAccount } from "../../fold/accounts.ts";
import type { ApiKey } from "../../apis/api.ts";
import type { Endpoint } from "./endpoint.ts";

/** Key hash and account of a request, as far as the session knows them. */
export interface RequestIdentity {
  /** Absent without a key, and where a fixture is played. */
  readonly keyHash?: string;
  /** `null` while no response of this endpoint named it for this key. */
  readonly account: string | null;
}

/** Finds the account that earlier responses named for the endpoint and the key. */
export function requestIdentity(
  endpoint: Endpoint,
  { played, key, family, turns }: {
    readonly played: boolean;
    readonly key: ApiKey | null;
    /** The session that wrote turn 1. */
    readonly family: string;
    readonly turns: readonly Turn[];
  },
): RequestIdentity {
  if (played) return { account: playedAccount(turns, endpoint) };
  if (key === null) return { account: null };
  const hash = keyHash(family, key.value);
  return { keyHash: hash, account: knownAccount(turns, { ...endpoint, key: hash }) };
}
