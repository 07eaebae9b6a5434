/** The checks of `doctor` for the remote of a call. */
import type { Ports } from "../../domain/ports.ts";
import type { Config } from "../config_file.ts";
import { remoteSetting } from "../settings.ts";
import { remoteOf } from "./given_remote.ts";

/** A call of `doctor`. */
export interface CheckedRemote {
  readonly flag: string | undefined;
  readonly config: Pick<Config, "values">;
  /** True if a fixture is played: then no remote is used. */
  readonly isPlayed: boolean;
}

/** Describes the remote, without its keys. Throws the errors of a run that cannot use the settings. */
export async function remoteText(ports: Ports, { flag, config, isPlayed }: CheckedRemote): Promise<string> {
  const setting = remoteSetting(ports, flag, { config, isPlayed });
  if (setting === null) return isPlayed ? "none: a fixture is played without one" : "none";
  const { parseRemote } = await import("../../remote/address.ts");
  const { readS3Settings } = await import("../../remote/credentials.ts");
  const { name } = parseRemote(setting.value);
  const { region, endpoint } = readS3Settings(ports);
  const server = endpoint === null ? "AWS" : endpoint.href;
  return `${name} (${setting.source}) at ${server}, region ${region}; keys are set`;
}

/** Asks the remote for its first object. Throws the errors of a run that cannot use it. */
export async function liveRemoteText(ports: Ports, remote: CheckedRemote): Promise<string> {
  const store = remote.isPlayed ? null : await remoteOf(ports, null, remote);
  if (store === null) return "no remote to ask";
  for await (const _ of store.list("")) return `${store.name} answered: it has objects`;
  return `${store.name} answered: it is empty`;
}
