/**
 * Opens a remote by its address.
 *
 * @module
 */
import { sha256Hex } from "../domain/hash.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "../store/home.ts";
import { FILE_MODE } from "../store/layout.ts";
import { parseRemote } from "./address.ts";
import { readS3Settings } from "./credentials.ts";
import type { ObjectStore } from "./object_store.ts";
import { probe } from "./probe.ts";
import { S3Store } from "./s3.ts";

/** Options of {@linkcode openRemote}. */
export interface OpenRemoteOptions {
  /** The address, such as `s3://bucket/prefix`. */
  readonly address: string;
  /** Time for one operation, in milliseconds. */
  readonly timeoutMs: number;
  /** The home that remembers a probed store; without it, nothing is written and the store is not probed: for readers. */
  readonly home?: Home;
}

/**
 * Opens the store; the first time that a home writes to it, probes it.
 *
 * @throws {RepriseError} `bad_remote`; as {@linkcode probe} does.
 */
export async function openRemote(ports: Ports, options: OpenRemoteOptions): Promise<ObjectStore> {
  const address = parseRemote(options.address);
  const settings = readS3Settings(ports);
  const { clock, fetch } = ports;
  const store = new S3Store(address, { fetch, clock, settings, timeoutMs: options.timeoutMs });
  const { home } = options;
  if (home === undefined) return store;
  const name = sha256Hex(`${settings.endpoint?.href ?? settings.region} ${address.name}`).slice(0, 16);
  const path = `${home.path}/remote-${name}`;
  if (ports.files.facts(path) !== null) return store;
  await probe(store, ports.random);
  try {
    ports.files.createExclusive(path, FILE_MODE).close();
  } catch {
    // It is probed again the next time.
  }
  return store;
}
