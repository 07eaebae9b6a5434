/** The network of this process: the runtime's `fetch`, with each call sent as one request. */
import { extraCertificates } from "./authorities.ts";

/** Methods that a server may see twice with no other effect than once (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "PUT"]);

/**
 * Creates a `fetch` that sends each request once, and that trusts the authorities of the environment too. A connection
 * over TLS throws as {@linkcode extraCertificates} does.
 */
export function createFetch(env: (name: string) => string | undefined): typeof globalThis.fetch {
  /** Keeps the connections of all requests over TLS; `null` if no authority is named. */
  let client: Deno.HttpClient | null | undefined;
  return async (input, init) => {
    const url = String(input);
    const once = sentOnce(init);
    if (!url.startsWith("https:")) return await fetch(url, once);
    if (client === undefined) {
      const caCerts = extraCertificates(url, env);
      client = caCerts.length === 0 ? null : Deno.createHttpClient({ caCerts });
    }
    return await fetch(url, client === null ? once : { ...once, client });
  };
}

/**
 * Returns `init` for a request that is sent once. The executable's runtime sends a request again if the server closes
 * the connection before its answer begins, and the API may have done the first one, which is paid for. It keeps no copy
 * of a `Blob`, so it cannot; the length of a `Blob` is known, so the request keeps its `content-length`.
 */
function sentOnce(init: RequestInit = {}): RequestInit {
  const { method = "GET", body = null } = init;
  if (body === null && IDEMPOTENT.has(method)) return init;
  // Without a byte in it, the body has no known length and is sent in chunks.
  return { ...init, body: new Blob(body === null ? [] : [body as BlobPart]) };
}
