/** Accounts that earlier responses named, by the key that was used. */
import type { KnownAccount } from "../domain/event.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { Turn } from "../domain/turn.ts";

/**
 * The account of each provider, endpoint and key, by the newest response that named it. Turns without a key, as older
 * versions and played fixtures write them, do not count.
 */
export function knownAccounts(turns: readonly Turn[]): KnownAccount[] {
  const known = new Map<string, KnownAccount>();
  const placeOf = ({ provider, endpoint, key }: KnownAccount) => JSON.stringify([provider, endpoint, key]);
  const add = ({ provider, endpoint, key, account }: Fingerprint) => {
    if (key === undefined || account === null) return;
    const entry = { provider, endpoint, key, account };
    known.delete(placeOf(entry));
    known.set(placeOf(entry), entry);
  };
  for (const turn of turns) {
    if (turn.kind === "model") add(turn.fingerprint);
    for (const event of turn.events) {
      if (event.type !== "history_compaction") continue;
      // A copy from before the checkpoint: accounts in the turns since then are newer.
      for (const entry of event.accounts ?? []) {
        if (!known.has(placeOf(entry))) known.set(placeOf(entry), entry);
      }
    }
  }
  return [...known.values()];
}

/**
 * The account that requests of this provider, endpoint and key belong to; `null` while no response named it, and after
 * a change of the key.
 */
export function knownAccount(
  turns: readonly Turn[],
  target: Pick<Fingerprint, "provider" | "endpoint" | "key">,
): string | null {
  const entry = knownAccounts(turns).find(({ provider, endpoint, key }) =>
    provider === target.provider && endpoint === target.endpoint && key === target.key
  );
  return entry?.account ?? null;
}

/**
 * The account for a played fixture, which has no key: the account of the endpoint's newest response with a key. So a
 * recorded run is folded the same as when it was recorded.
 */
export function playedAccount(
  turns: readonly Turn[],
  target: Pick<Fingerprint, "provider" | "endpoint">,
): string | null {
  const newest = knownAccounts(turns).findLast(({ provider, endpoint }) =>
    provider === target.provider && endpoint === target.endpoint
  );
  return newest?.account ?? null;
}
