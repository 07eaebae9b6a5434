/**
 * The remote of a verb that needs one.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { openRemote } from "../../remote/open.ts";
import type { Home } from "../../store/home.ts";
import type { Context } from "../context.ts";
import { remoteSetting } from "../settings.ts";

/**
 * Opens the remote that a flag, a variable or the configuration names. `home` is the one that remembers a probed store;
 * `null` for verbs that only read.
 *
 * @throws {RepriseError} `bad_remote` if none is named; as {@linkcode openRemote} does.
 */
export async function givenRemote(
  { ports, config }: Context,
  flags: { readonly remote?: string | undefined; readonly timeout: number },
  home: Home | null,
): Promise<ObjectStore> {
  const address = remoteSetting(ports, flags.remote, { config, isPlayed: false });
  if (address === null) {
    throw new RepriseError("bad_remote", "Cannot tell which remote to use: none was given", {
      hint: "Give --remote s3://BUCKET/PREFIX, or set REPRISE_REMOTE",
    });
  }
  const timeoutMs = flags.timeout * 1000;
  return await openRemote(ports, home === null ? { address, timeoutMs } : { address, timeoutMs, home });
}
