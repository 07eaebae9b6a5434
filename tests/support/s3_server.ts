/**
 * The parts of S3 that the program uses, on loopback and in memory. Checks no signature.
 *
 * @module
 */

/** A server with one bucket, `sessions`. */
export class S3Server implements AsyncDisposable {
  /** Objects by key. */
  readonly objects = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Method and key of each request, in order. */
  readonly requests: string[] = [];
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
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname).replace(/^\/sessions\/?/, "");
    this.requests.push(`${request.method} ${key}`);
    if (request.method === "GET" && key === "") return this.#list(url.searchParams);
    if (request.method === "GET") {
      const body = this.objects.get(key);
      return body === undefined ? new Response("", { status: 404 }) : new Response(body);
    }
    const body = new Uint8Array(await request.arrayBuffer());
    if (request.method === "DELETE") {
      this.objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const isConditional = request.headers.get("if-none-match") === "*";
    if (isConditional && this.objects.has(key)) return new Response("", { status: 412 });
    this.objects.set(key, body);
    return new Response("");
  }

  #list(query: URLSearchParams): Response {
    const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = keys.map((key) => {
      return `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.length}</Size></Contents>`;
    });
    return new Response(
      `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }
}
