/** Heads of requests, as clients, pages, proxies and attackers send them, with the status and what is reported. */

/** A request as bytes; `\n` is CRLF, `PORT` the port. */
export interface RawRow {
  readonly request: string;
  readonly status: number;
  /** Type or code of the event. @default {played} */
  readonly event?: string | null;
}

const HOST = "Host: 127.0.0.1:PORT";
const get = (lines: string, target = "/v1/models") => `GET ${target} HTTP/1.1\n${lines}\n\n`;
const post = (lines: string, body = "") => `POST /v1/models HTTP/1.1\n${HOST}\n${lines}\n\n${body}`;
const played = (request: string): RawRow => ({ request, status: 200 });
const refused = (status: number, event: string, request: string): RawRow => ({ request, status, event });
const wrongHost = (host: string) => refused(421, "host_refused", get(`Host: ${host}`));
const page = (lines: string) => refused(403, "origin_refused", get(`${HOST}\n${lines}`));
const ambiguous = (lines: string, body = "1\n\n") => refused(400, "head_refused", post(lines, body));

const listed = (what: string, values: string, row: (value: string) => RawRow) =>
  Object.fromEntries(values.split(" | ").map((value) => [`${what} ${value}`, row(value)]));
const HOSTS = " | evil.example:PORT | 127.0.0.1 | 127.0.0.1:1 | 127.0.0.2:PORT | 0.0.0.0:PORT | " +
  "localhost.evil.example:PORT | evil-localhost:PORT | localhost.:PORT | 2130706433:PORT | evil@127.0.0.1:PORT | " +
  "127.0.0.1:PORT/x | 127.0.0.1:PORT, evil.example | 127.0.0.1:PORT\nHost: evil.example";
const TARGETS =
  "http://evil.example/ | http://127.0.0.1:1/ | https://127.0.0.1:PORT/ | http://a@127.0.0.1:PORT/";
const broken = (body: string) => refused(400, "body_broken", post("Transfer-Encoding: chunked", body));

const MANY = Array.from({ length: 100 }, (_, index) => `x-${index}: 1`).join("\n");

/** By a sentence. */
export const HEADS: Readonly<Record<string, RawRow>> = {
  "the address": played(get(HOST)),
  "the name in capitals": played(get("Host: LocalHost:PORT")),
  "the address of IPv6": played(get("Host: [::1]:PORT")),
  "HTTP/1.0 with a host": played(`GET /v1/models HTTP/1.0\n${HOST}\n\n`),
  "the server's own origin as target": played(get(HOST, "http://127.0.0.1:PORT/v1/models")),
  "dot segments": played(get(HOST, "/v1/a/../%2e/models")),
  "another protocol to upgrade to": played(get(`${HOST}\nConnection: close, Upgrade\nUpgrade: h2c`)),
  "no host": refused(421, "host_refused", "GET / HTTP/1.1\n\n"),
  "HTTP/1.0 without a host": refused(421, "host_refused", "GET / HTTP/1.0\n\n"),
  ...listed("the host", HOSTS, wrongHost),
  "another site's page": page("Origin: https://evil.example"),
  "a page of this very origin": page("Origin: http://127.0.0.1:PORT"),
  "a page without an origin": page("Origin: null"),
  "an image of a page": page("Sec-Fetch-Site: cross-site"),
  "a page of another port": page("Sec-Fetch-Site: same-site"),
  "a preflight": refused(403, "origin_refused", `OPTIONS / HTTP/1.1\n${HOST}\nOrigin: http://localhost\n\n`),
  ...listed("the target", TARGETS, (target) => refused(421, "target_refused", get(HOST, target))),
  "our origin as target, another host": {
    ...wrongHost("evil.example"),
    request: get("Host: evil.example", "http://127.0.0.1:PORT/"),
  },
  "a tunnel": refused(405, "method_refused", `CONNECT 127.0.0.1:PORT HTTP/1.1\n${HOST}\n\n`),
  "a tunnel to elsewhere": refused(
    421,
    "host_refused",
    "CONNECT evil.example:443 HTTP/1.1\nHost: evil.example:443\n\n",
  ),
  "an echo": refused(405, "method_refused", `TRACE / HTTP/1.1\n${HOST}\n\n`),
  "bytes that are no path": refused(400, "head_refused", get(HOST, "/\u00e9")),
  "two lengths": ambiguous("Content-Length: 1\nContent-Length: 2"),
  "a list of lengths": ambiguous("Content-Length: 1, 1"),
  "a signed length": ambiguous("Content-Length: +1"),
  "a length and chunks": ambiguous("Content-Length: 1\nTransfer-Encoding: chunked"),
  "another transfer encoding": ambiguous("Transfer-Encoding: gzip, chunked"),
  "chunks twice": ambiguous("Transfer-Encoding: chunked\nTransfer-Encoding: chunked"),
  "a space before a colon": ambiguous("X : 1"),
  "a bare CR": ambiguous("X: a\rb"),
  "a folded line": ambiguous(" X: folded"),
  "a chunk without a size": broken("x\n\n"),
  "a negative chunk": broken("-1\n\n"),
  "a chunk longer than its size": broken("1\nabc\n0\n\n"),
  "a chunk's size with a prefix": broken("0x1\na\n0\n\n"),
  "HTTP/2": refused(400, "head_refused", "PRI * HTTP/2.0\n\nSM\n\n"),
  "more than 128 KiB": refused(431, "headers_too_large", `GET / HTTP/1.1\nX: ${"x".repeat(128 * 1024)}`),
  "more than 100 headers": refused(431, "headers_too_large", get(`${HOST}\n${MANY}`)),
};
