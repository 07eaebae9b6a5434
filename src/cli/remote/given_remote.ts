/** The remote of a call. */
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import type { Home } from "../../store/home.ts";
import type { Config } from "../config_file.ts";
import type { Context } from "../context.ts";
import { remoteSetting } from "../settings.ts";

/** Default time limit of one operation of a remote, in milliseconds. */
export const MOST_REMOTE_MS = 60_000;

export interface RemoteSources {
  /** Value of `--remote`. */
  readonly flag: string | undefined;
  readonly config: Pick<Config, "values">;
  /** Time for one operation, in milliseconds. @default {MOST_REMOTE_MS} */
  readonly timeoutMs?: number;
}

/**
 * Opens the remote that a flag, a variable or the configuration names; `null` if none does, and then loads no code of it.
 * `home` is the one that remembers a probed store; `null` for verbs that only read. Throws as `openRemote` does.
 */
export async function remoteOf(
  ports: Ports,
  home: Home | null,
  { flag, config, timeoutMs = MOST_REMOTE_MS }: RemoteSources,
): Promise<ObjectStore | null> {
  const setting = remoteSetting(ports, flag, config);
  if (setting === null) return null;
  const { openRemote } = await import("../../remote/open.ts");
  return await openRemote(ports, { address: setting.value, timeoutMs, ...(home === null ? {} : { home }) });
}

/**
 * Opens the remote of a verb that needs one.
 *
 * @throws {RepriseError} `bad_remote` if none is named; as {@linkcode remoteOf} does.
 */
export async function givenRemote(
  { ports, config }: Context,
  { remote, timeout }: {
    /** `true` for a flag without a value. */
    readonly remote?: string | true | undefined;
    /** Time for one operation, in seconds. */
    readonly timeout: number;
  },
  home: Home | null,
): Promise<ObjectStore> {
  const flag = remote === true ? undefined : remote;
  const store = await remoteOf(ports, home, { flag, config, timeoutMs: timeout * 1000 });
  if (store !== null) return store;
  throw new RepriseError("bad_remote", "Cannot tell which remote to use: none was given", {
    hint: "Give --remote s3://BUCKET/PREFIX, or set REPRISE_REMOTE",
  });
}
