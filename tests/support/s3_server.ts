/** The parts of S3 that the program uses, on loopback and in memory. Checks no signature. */

/** A server with one bucket, `sessions`. */
export class S3Server implements AsyncDisposable {
  /** Objects by key. */
  readonly objects = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Ages of objects in milliseconds; 0 if absent. */
  readonly ages = new Map<string, number>();
  /** Method and key of each request, in order. */
  readonly requests: string[] = [];
  /** Decides which requests get no answer; called with method and key. A put without an answer is not stored. */
  isMute: (method: string, key: string) => boolean = () => false;
  /** Decides which puts fail, before or after the object is stored. */
  failing: (key: string) => "before" | "after" | null = () => null;
  /** Answers in place of the server; `null` leaves a request to it. */
  instead: (request: Request, key: string) => Response | null = () => null;
  readonly #end = Promise.withResolvers<void>();
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    return this.#answer(request);
  });

  /** The variables that lead the program to this server. */
  get env(): Readonly<Record<string, string>> {
    return {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${this.#server.addr.port}`,
      AWS_ACCESS_KEY_ID: "test-key-id",
      AWS_SECRET_ACCESS_KEY: "test-secret-key",
      REPRISE_REMOTE: "s3://sessions",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.resolve();
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname).replace(/^\/sessions\/?/, "");
    this.requests.push(`${request.method} ${key}`);
    if (this.isMute(request.method, key)) {
      await this.#end.promise;
      return new Response("", { status: 503 });
    }
    const instead = this.instead(request, key);
    if (instead !== null) return instead;
    if (request.method === "GET" && key === "") return this.#list(url.searchParams);
    if (request.method === "GET" || request.method === "HEAD") {
      const body = this.objects.get(key);
      if (body === undefined) return new Response("", { status: 404 });
      const headers = {
        "last-modified": this.#modified(key).toUTCString(),
        "content-length": String(body.length),
      };
      return new Response(request.method === "HEAD" ? null : body, { headers });
    }
    const body = new Uint8Array(await request.arrayBuffer());
    if (request.method === "DELETE") {
      this.objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const failing = this.failing(key);
    if (failing === "before") return new Response("", { status: 503 });
    const isConditional = request.headers.get("if-none-match") === "*";
    if (isConditional && this.objects.has(key)) return new Response("", { status: 412 });
    this.objects.set(key, body);
    return new Response("", { status: failing === "after" ? 503 : 200 });
  }

  #modified(key: string): Date {
    return new Date(Date.now() - (this.ages.get(key) ?? 0));
  }

  #list(query: URLSearchParams): Response {
    const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = keys.map((key) => {
      const size = this.objects.get(key)?.length;
      const modified = this.#modified(key).toISOString();
      return `<Contents><Key>${
        encodeURIComponent(key)
      }</Key><LastModified>${modified}</LastModified><Size>${size}</Size></Contents>`;
    });
    return new Response(
      `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }
}
