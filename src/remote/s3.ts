/** Object store on S3, or on a server with the same API. */
import { AwsClient } from "aws4fetch";
import { encodeUtf8, readCapped } from "../domain/bytes.ts";
import { asRepriseError, RepriseError } from "../domain/errors.ts";
import type { Clock, Ports } from "../domain/ports.ts";
import { counted } from "../domain/text.ts";
import { MAX_BLOB_BYTES } from "../store/blobs.ts";
import { MAX_TURN_BYTES } from "../store/read/turn_file.ts";
import { certificateError } from "../transport/failure.ts";
import type { RemoteAddress } from "./address.ts";
import type { S3Settings } from "./credentials.ts";
import { parseKey } from "./keys.ts";
import type { ListedObject, ObjectStore, PutAnswer, StoredObject } from "./object_store.ts";
import { isPage, isUnavailable, s3Code, s3Error } from "./s3_error.ts";
import { parseListing } from "./s3_listing.ts";

interface S3Options {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly env: Ports["env"];
  readonly settings: S3Settings;
  /** Time for one operation, with its repetitions, in milliseconds. */
  readonly timeoutMs: number;
}

/** Pause before the first repetition, in milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
/** Largest answer that is not an object, in bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Longest key of S3, in bytes of UTF-8. */
const MOST_KEY_BYTES = 1024;
/** Largest objects by the kind of their key, in bytes. */
const MOST_BYTES = { turn: MAX_TURN_BYTES, blob: MAX_BLOB_BYTES, removed: 4096 } as const;
/**
 * Times that an answer must come before it is believed if it says that bucket or endpoint are wrong. A store in trouble, or
 * a proxy before it, gives such an answer once; a wrong configuration, always.
 */
const BELIEVED = 3;
/** Time that a single attempt may take, so that a lost connection leaves time for another one. */
const ATTEMPT_PART = 1 / 2;

interface Asked {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

interface AttemptOptions {
  /** By the monotonic clock. */
  readonly deadline: number;
  readonly maxBytes?: number | undefined;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** A bucket and a prefix on S3. */
export class S3Store implements ObjectStore {
  readonly name: string;
  readonly #address: RemoteAddress;
  readonly #options: S3Options;
  readonly #client: AwsClient;
  /** URL of the bucket, with a slash at the end. */
  readonly #base: string;

  constructor(address: RemoteAddress, options: S3Options) {
    const { settings } = options;
    this.name = address.name;
    this.#address = address;
    this.#options = options;
    this.#client = new AwsClient({
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey,
      ...(settings.sessionToken === null ? {} : { sessionToken: settings.sessionToken }),
      region: settings.region,
      service: "s3",
      retries: 0,
    });
    this.#base = bucketUrl(address.bucket, settings);
  }

  deadline(): number {
    return this.#options.clock.monotonic() + this.#options.timeoutMs;
  }

  async waitAfter(attempt: number, deadline: number): Promise<boolean> {
    const { clock } = this.#options;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
    if (clock.monotonic() + pauseMs >= deadline) return false;
    await clock.sleep(pauseMs);
    return true;
  }

  async get(
    key: string,
    deadline = this.deadline(),
    maxBytes = mostBytes(key),
  ): Promise<StoredObject | null> {
    const options = { deadline, maxBytes };
    const { status, headers, bytes } = await this.#read({ method: "GET", key }, options);
    if (status === 404) return null;
    const [now, then] = [headers.get("date"), headers.get("last-modified")].map((at) => Date.parse(at ?? ""));
    const ageMs = (now as number) - (then as number);
    return { bytes, ageMs: Number.isFinite(ageMs) ? Math.max(0, ageMs) : 0 };
  }

  async size(key: string, deadline = this.deadline()): Promise<number | null> {
    const { status, headers } = await this.#read({ method: "HEAD", key }, { deadline });
    const length = headers.get("content-length");
    if (status === 404) return null;
    // A proxy may leave the length out.
    return length === null ? (await this.get(key, deadline))?.bytes.length ?? null : Number(length);
  }

  async putNew(key: string, bytes: Uint8Array, deadline = this.deadline()): Promise<PutAnswer> {
    const asked = { method: "PUT", key, body: bytes, headers: { "if-none-match": "*" } } as const;
    for (let attempt = 1;; attempt++) {
      const answer = await this.#attempt(asked, { deadline }).catch(noAnswer);
      if ("why" in answer || isUnavailable(answer)) return "unknown";
      if (answer.status === 412 || answer.status === 409) return "taken";
      const refusal = this.#refusalIn(answer, asked, `put ${this.#shown(key)}`);
      if (refusal === null) return "stored";
      if (attempt === timesOf(refusal) || !await this.waitAfter(attempt, deadline)) throw refusal;
    }
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#read({ method: "PUT", key, body: bytes });
  }

  async *list(
    prefix: string,
    { after }: { readonly after?: string } = {},
  ): AsyncIterable<ListedObject> {
    const full = this.#address.prefix;
    const deadline = this.deadline();
    let from: Readonly<Record<string, string>> = after === undefined ? {} : { "start-after": full + after };
    const seen = new Set<string>();
    for (;;) {
      const query = { "list-type": "2", "encoding-type": "url", prefix: full + prefix, ...from };
      const page = await this.#readAs({ method: "GET", key: "", query }, ({ bytes }) => {
        return parseListing(bytes) ?? badAnswer(this.name, "its list of objects cannot be read");
      }, { deadline }).catch((error) => {
        throw seen.size > 0 && asRepriseError(error).code === "remote_unreachable"
          ? this.#endless(seen.size, error)
          : error;
      });
      for (const { isText, ...object } of page.objects) {
        if (!isText) yield { ...object, isReachable: false };
        else if (!object.key.startsWith(full + prefix)) {
          throw badAnswer(
            this.name,
            `it lists ${JSON.stringify(object.key)}, which is outside of what was asked`,
          );
        } else yield { ...object, key: object.key.slice(full.length), isReachable: isReachable(object.key) };
      }
      if (page.next === null) return;
      if (seen.has(page.next)) throw badAnswer(this.name, "its list of objects does not end");
      seen.add(page.next);
      from = { "continuation-token": page.next };
    }
  }

  async remove(key: string, deadline = this.deadline()): Promise<void> {
    await this.#read({ method: "DELETE", key }, { deadline });
  }

  /** Sends a request that may be repeated, until it has an answer that says something. */
  #read(asked: Asked, options: Partial<AttemptOptions> = {}): Promise<Answer> {
    return this.#readAs(asked, (answer) => answer, options);
  }

  /** As {@linkcode #read}; `parse` returns the error for an answer that cannot be used. */
  async #readAs<T>(
    asked: Asked,
    parse: (answer: Answer) => T | RepriseError,
    { deadline = this.deadline(), maxBytes }: Partial<AttemptOptions> = {},
  ): Promise<T> {
    const tried = `${VERBS[asked.method]} ${this.#shown(asked.key)}`;
    for (let [attempt, refusals] = [1, 0];; attempt++) {
      const answer = await this.#attempt(asked, { deadline, maxBytes }).catch(noAnswer);
      let refusal: RepriseError | null = null;
      if (!("why" in answer) && !isUnavailable(answer)) {
        const isMissing = answer.status === 404 && asked.method !== "PUT" && asked.key !== "" &&
          s3Code(answer) !== "NoSuchBucket";
        const found = (isMissing ? null : this.#refusalIn(answer, asked, tried)) ?? parse(answer);
        if (!(found instanceof RepriseError)) return found;
        refusal = found;
        if (++refusals === timesOf(refusal)) throw refusal;
      }
      if (!await this.waitAfter(attempt, deadline)) throw refusal ?? this.#unreachable(tried, answer);
    }
  }

  /** Sends a request once. Rejects if no whole answer comes. */
  async #attempt(
    { method, key, query = {}, headers = {}, body }: Asked,
    { deadline, maxBytes = MAX_ANSWER_BYTES }: AttemptOptions,
  ): Promise<Answer> {
    const leftMs = Math.max(1, deadline - this.#options.clock.monotonic());
    // The same text as the key, whatever its characters mean in a URL.
    const path = key.split("/").map(encodeURIComponent).join("/");
    const url = new URL(this.#base + (key === "" ? "" : this.#address.prefix + path));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const time = AbortSignal.timeout(
      Math.ceil(body === undefined || body.length < 1e6 ? leftMs * ATTEMPT_PART : leftMs),
    );
    const init = {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    };
    const signed = await this.#client.sign(url, { ...init, aws: {} });
    const response = await this.#options.fetch(signed.url, {
      ...init,
      headers: signed.headers,
      redirect: "manual",
      signal: time,
    }).catch((error) => {
      throw certificateError(url, error, this.#options.env) ?? error;
    });
    const { status, body: content } = response;
    const isObject = status === 200 && key !== "";
    const most = isObject ? maxBytes : MAX_ANSWER_BYTES;
    const bytes = content === null ? new Uint8Array() : await readCapped(content, most);
    if (bytes === null) {
      throw isObject
        ? this.#tooLong(key, most)
        : badAnswer(this.name, `it answers with more than ${most} bytes`);
    }
    return { status, headers: response.headers, bytes };
  }

  #refusalIn(answer: Answer, { method, key }: Asked, tried: string): RepriseError | null {
    const isSuccess = answer.status >= 200 && answer.status < 300;
    // A blob may be a page, and its name proves its content.
    const mayBePage = method !== "PUT" && parseKey(key)?.kind === "blob";
    if (isSuccess && (mayBePage || !isPage(answer))) return null;
    return s3Error(answer, { tried, remote: this.name, now: this.#options.clock.now() });
  }

  #tooLong(key: string, most: number): RepriseError {
    return new RepriseError(
      "session_damaged",
      `Cannot read ${this.#shown(key)}: it has more than ${most} bytes`,
      {
        hint: `Remove this object; then "reprise repair" in a home that has the session puts it there again`,
        details: { remote: this.name, session: parseKey(key)?.id ?? null },
      },
    );
  }

  #unreachable(tried: string, answer: Answer | NoAnswer): RepriseError {
    const last = "why" in answer ? answer.why : `it answers with status ${answer.status}`;
    const seconds = this.#options.timeoutMs / 1000;
    return new RepriseError("remote_unreachable", `Cannot ${tried} within ${seconds} seconds: ${last}`, {
      hint: "Try again; nothing that was acknowledged is lost",
      details: { remote: this.name },
    });
  }

  #endless(pages: number, cause: unknown): RepriseError {
    const seconds = this.#options.timeoutMs / 1000;
    return new RepriseError(
      "remote_unreachable",
      `Cannot read ${this.name} within ${seconds} seconds: its list of objects did not end after ${
        counted(pages, "page")
      }`,
      {
        hint:
          "If so many objects are there, give a longer --timeout, or use a prefix of its own for sessions",
        details: { remote: this.name, pages },
        cause,
      },
    );
  }

  #shown(key: string): string {
    return key === "" ? this.name : `${this.name}/${key}`;
  }
}

const VERBS = { GET: "read", HEAD: "look at", PUT: "put", DELETE: "remove" } as const;

/** URL of a bucket: a path of a given server, a host of its own on AWS. */
function bucketUrl(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== null) return `${endpoint.href.replace(/\/+$/, "")}/${bucket}/`;
  // A certificate of AWS covers no names with dots before its own.
  return bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}/`
    : `https://${bucket}.s3.${region}.amazonaws.com/`;
}

/**
 * True for a whole key that a request can name. A URL resolves the parts `.` and `..` in every spelling, and servers
 * refuse control characters.
 */
function isReachable(key: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/(?:^|\/)\.{1,2}(?:\/|$)|[\0-\x1f\x7f]/.test(key) && encodeUtf8(key).length <= MOST_KEY_BYTES;
}

/** Times that an error must come. Refused keys are not sent again. */
function timesOf({ code }: RepriseError): number {
  return code === "remote_denied" ? 1 : BELIEVED;
}

/** An attempt without a whole answer. */
interface NoAnswer {
  readonly why: string;
}

/** Errors of the network are no answer; other errors are thrown. */
function noAnswer(error: unknown): NoAnswer {
  if (error instanceof RepriseError) throw error;
  if (error instanceof DOMException) return { why: "no answer came" };
  if (error instanceof TypeError || error instanceof Deno.errors.Http) {
    // The runtime puts the cause last, after the URL.
    return { why: `no answer came (${error.message.split(": ").at(-1)})` };
  }
  throw asRepriseError(error);
}

/** The length that an object with this key may have. */
function mostBytes(key: string): number {
  const kind = parseKey(key)?.kind;
  return kind === undefined ? MAX_ANSWER_BYTES : MOST_BYTES[kind];
}

function badAnswer(name: string, why: string): RepriseError {
  return new RepriseError("bad_remote", `Cannot use ${name}: ${why}`, {
    hint: "Check that the endpoint is a server with the API of S3",
  });
}
