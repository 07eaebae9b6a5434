/** Opens a remote by its address. */
import { encodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "../store/home.ts";
import { FILE_MODE } from "../store/layout.ts";
import { parseRemote } from "./address.ts";
import { readS3Settings } from "./credentials.ts";
import type { ObjectStore } from "./object_store.ts";
import { S3Store } from "./s3.ts";

/**
 * Opens the store; the first time that a home writes to it, probes it.
 *
 * @throws {RepriseError} `bad_remote`; as {@linkcode probeStore} does.
 */
export async function openRemote(ports: Ports, options: {
  /** The address, such as `s3://bucket/prefix`. */
  readonly address: string;
  /** Time for one operation, in milliseconds. */
  readonly timeoutMs: number;
  /** The home that remembers a probed store; without it, nothing is written and the store is not probed: for readers. */
  readonly home?: Home;
}): Promise<ObjectStore> {
  const address = parseRemote(options.address);
  const settings = readS3Settings(ports);
  const { clock, env, fetch } = ports;
  const store = new S3Store(address, { fetch, clock, env, settings, timeoutMs: options.timeoutMs });
  const { home } = options;
  if (home === undefined) return store;
  const name = sha256Hex(`${settings.endpoint?.href ?? settings.region} ${address.name}`).slice(0, 16);
  const path = `${home.path}/remote-${name}`;
  if (ports.files.facts(path) !== null) return store;
  await probeStore(store, ports.random);
  try {
    ports.files.createExclusive(path, FILE_MODE).close();
  } catch {
    // It is probed again the next time.
  }
  return store;
}

const TRIES = 3;

/**
 * Finds stores that ignore `If-None-Match`, on which two machines could both believe that a turn is theirs: puts one
 * object twice, and removes it. That the second put is refused cannot prove that two puts at the same moment are
 * decided as one: that is the store's own promise.
 *
 * @throws {RepriseError} `remote_unsafe` if the store took both; `remote_unreachable` if it did not answer; as
 * {@linkcode ObjectStore} does.
 */
async function probeStore(store: ObjectStore, random: () => number): Promise<void> {
  const deadline = store.deadline();
  for (let attempt = 1;; attempt++) {
    const key = `.probe-${Math.floor(random() * 2 ** 48).toString(16).padStart(12, "0")}`;
    const first = await store.putNew(key, encodeUtf8("first\n"), deadline);
    const second = first === "stored" ? await store.putNew(key, encodeUtf8("second\n"), deadline) : "unknown";
    if (first !== "taken") await removeProbe(store, key, deadline);
    if (second === "taken") return;
    if (second === "stored") {
      throw new RepriseError(
        "remote_unsafe",
        `Cannot use ${store.name}: it ignores the header If-None-Match`,
        {
          hint:
            "Use a store with conditional writes: without them two machines could overwrite each other's turns",
          details: { remote: store.name },
        },
      );
    }
    if (attempt === TRIES) throw unreachable(store.name, "it answers no conditional put");
  }
}

/** Waits for a store that does not answer, until the deadline. */
async function removeProbe(store: ObjectStore, key: string, deadline: number): Promise<void> {
  try {
    await store.remove(key, deadline);
  } catch (error) {
    if (!(error instanceof RepriseError && error.code === "remote_unreachable")) throw error;
    throw unreachable(store.name, "it does not answer");
  }
}

function unreachable(remote: string, why: string): RepriseError {
  return new RepriseError("remote_unreachable", `Cannot use ${remote}: ${why}`, {
    hint: "Try again, or check AWS_ENDPOINT_URL and AWS_REGION",
    details: { remote },
  });
}
