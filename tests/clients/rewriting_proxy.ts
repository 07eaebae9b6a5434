/**
 * A proxy on 127.0.0.1 that rewrites the bodies of requests: what a client would send with an altered history.
 */
import { altered } from "./support.ts";
import { listen, type Listening } from "../support/scripted_api/server.ts";

/** Rewrites the text of a request's body. */
export type Rewrite = (body: string) => string;

/** A running proxy. */
export interface RewritingProxy extends Listening, AsyncDisposable {
  /** Number of bodies that were not the same afterwards. */
  readonly rewritten: number;
}

/** Headers of one connection (RFC 9110 §7.6.1), and those that the runtime sets itself. */
const OWN_HEADERS = ["connection", "content-length", "host", "transfer-encoding"];

/** Starts a proxy in front of `origin`. */
export function startRewritingProxy(origin: string, rewrite: Rewrite): RewritingProxy {
  let rewritten = 0;
  const proxy = listen(async (incoming) => {
    // The proxy speaks no WebSocket; reprise itself answers the same.
    if (incoming.headers.has("upgrade")) return new Response(null, { status: 426 });
    const headers = new Headers(incoming.headers);
    for (const name of OWN_HEADERS) headers.delete(name);
    if (headers.has("content-encoding")) throw new Error("The client compresses its requests");
    const { pathname, search } = new URL(incoming.url);
    const { method } = incoming;
    const before = await incoming.text();
    const after = rewrite(before);
    if (after !== before) rewritten++;
    const body = method === "GET" || method === "HEAD" ? null : after;
    const { status, headers: answered, body: content } = await fetch(`${origin}${pathname}${search}`, {
      method,
      headers,
      body,
    });
    return new Response(content, { status, headers: answered });
  });
  return {
    ...proxy,
    get rewritten() {
      return rewritten;
    },
    [Symbol.asyncDispose]: proxy.stop,
  };
}

/** Changes one character in the middle of the first encrypted content or signature of a history. */
export const tampered: Rewrite = (body) =>
  body.replace(
    /("(?:encrypted_content|signature)":")([^"]{16,})"/,
    (_, before: string, blob: string) => `${before}${altered(blob)}"`,
  );
