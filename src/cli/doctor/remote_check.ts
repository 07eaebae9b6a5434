/** The checks of `doctor` for the remote of a call. */
import type { Ports } from "../../domain/ports.ts";
import type { Config } from "../config_file.ts";
import { remoteSetting } from "../settings.ts";
import { remoteOf } from "../remote/given_remote.ts";

/** Describes the remote, without its keys. Throws the errors of a run that cannot use the settings. */
export async function remoteText(ports: Ports, config: Config): Promise<string> {
  const setting = remoteSetting(ports, undefined, config);
  if (setting === null) return "none";
  const { parseRemote } = await import("../../remote/address.ts");
  const { readS3Settings } = await import("../../remote/credentials.ts");
  const { name } = parseRemote(setting.value);
  const { region, endpoint } = readS3Settings(ports);
  const server = endpoint === null ? "AWS" : endpoint.href;
  return `${name} (${setting.source}) at ${server}, region ${region}; keys are set`;
}

/** Asks the remote for its first object. Throws the errors of a run that cannot use it. */
export async function liveRemoteText(ports: Ports, config: Config): Promise<string> {
  const store = await remoteOf(ports, null, { flag: undefined, config });
  if (store === null) return "no remote to ask";
  for await (const _ of store.list("")) return `${store.name} answered: it has objects`;
  return `${store.name} answered: it is empty`;
}
