/**
 * Keys that this process holds: those of its environment, that of the API, and those of its remote. A command that may run
 * can read them from the environment of this process.
 */
import type { ApiKey } from "../../apis/api.ts";
import type { Ports } from "../../domain/ports.ts";
import { ValueScan } from "../../fixture/secrets/scan.ts";
import { Scrubber } from "../../fixture/secrets/scrubber.ts";
import type { KeyFinder } from "../../run/tool_keys.ts";
import { secretEnvironment } from "../secret_environment.ts";

/** Finds the keys; `key` is the one in force, and `notSecret` names variables whose values are not secret. */
export async function ownKeys({ ports, key, hasRemote, notSecret = [] }: {
  readonly ports: Ports;
  readonly key: ApiKey | null;
  readonly hasRemote: boolean;
  readonly notSecret: readonly string[] | undefined;
}): Promise<KeyFinder> {
  const { values } = secretEnvironment(notSecret);
  const scrubber = new Scrubber({ values, shapes: false });
  if (key !== null) scrubber.learn("the API key", key.value);
  if (hasRemote) {
    const { readS3Settings } = await import("../../remote/credentials.ts");
    const { accessKeyId, secretAccessKey, sessionToken } = readS3Settings(ports);
    for (const value of [accessKeyId, secretAccessKey, sessionToken ?? ""]) {
      scrubber.learn("a key of the remote", value);
    }
  }
  const scan = new ValueScan(scrubber.values);
  return { bytes: (bytes) => scrubber.bytes(bytes), namesIn: (bytes) => scan.namesIn(bytes) };
}
