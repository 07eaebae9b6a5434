/**
 * Five APIs at once, each a server on this machine with a key of its own, and a client that uses them by their
 * variables.
 */
import { type Json, textsBelow } from "../support/files.ts";
import { type Called, Sandbox } from "../support/reprise.ts";

/** Request as it arrived. */
export interface Arrived {
  readonly target: string;
  /** All headers, as JSON. */
  readonly headers: string;
}

/** API on this machine. It answers with everything it was sent, and redirects `/redirect/PATH` to the next API. */
export interface Upstream {
  readonly variable: string;
  readonly keyVariable: string;
  readonly key: string;
  readonly keyHeader: string;
  /** Base URL. */
  readonly url: string;
  readonly arrived: Arrived[];
}

/** Variable, path of the base URL, key variable and header with the key of each API. */
const ROWS = [
  ["OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY", "authorization"],
  ["ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY", "x-api-key"],
  ["GROQ_BASE_URL", "", "GROQ_API_KEY", "authorization"],
  ["GOOGLE_GEMINI_BASE_URL", "", "GEMINI_API_KEY", "x-goog-api-key"],
  ["ACME_BASE_URL", "/api", "ACME_API_KEY", "authorization"],
] as const;

/** Environment variables of the five keys. */
export const KEY_VARIABLES: readonly string[] = ROWS.map(([, , name]) => name);

/** Sandbox with five APIs. The variable of the last is unknown to the program. */
export class FiveUpstreams extends Sandbox {
  readonly out = `${this.directory}/fixture`;
  readonly log = `${this.directory}/events`;
  readonly upstreams: readonly Upstream[];
  readonly #servers: readonly Deno.HttpServer<Deno.NetAddr>[];

  constructor() {
    super();
    const lists = ROWS.map((): Arrived[] => []);
    const origins: string[] = [];
    this.#servers = ROWS.map((_, index) =>
      Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
        const { pathname, search } = new URL(request.url);
        const headers = JSON.stringify([...request.headers]);
        const body = await request.text();
        lists[index]?.push({ target: `${pathname}${search}`, headers: `${headers}${body}` });
        const redirected = /\/redirect(\/.*)$/.exec(pathname)?.[1];
        if (redirected !== undefined) {
          return Response.redirect(`${origins[(index + 1) % ROWS.length]}${redirected}`, 307);
        }
        return Response.json({ api: index, path: pathname, headers, body });
      })
    );
    origins.push(...this.#servers.map(({ addr }) => `http://127.0.0.1:${addr.port}`));
    this.upstreams = ROWS.map(([variable, path, keyVariable, keyHeader], index) => ({
      variable,
      keyVariable,
      keyHeader,
      key: `canary-${index}-of-${keyVariable.toLowerCase()}-0123456789`,
      url: `${origins[index]}${path}`,
      arrived: lists[index] ?? [],
    }));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.shutdown();
    await super[Symbol.asyncDispose]();
  }

  /** Flag for the API that only `--env` makes known. */
  get envFlag(): readonly string[] {
    const acme = this.upstreams.at(-1);
    return ["--env", `${acme?.variable}=${acme?.url}`];
  }

  /** Keys, and the base URLs of the known APIs. */
  get variables(): Record<string, string> {
    const urls = this.upstreams.slice(0, -1).map(({ variable, url }) => [variable, url] as const);
    return Object.fromEntries([
      ...urls,
      ...this.upstreams.map(({ keyVariable, key }) => [keyVariable, key] as const),
    ]);
  }

  /** Runs the program around a script, whose global `send` sends a request and prints the status and the answer. */
  around(args: readonly string[], script: string): Promise<Called> {
    Deno.writeTextFileSync(`${this.directory}/client.js`, `${CLIENT}\n${script}`);
    const client = [Deno.execPath(), "run", "-A", "--quiet", `${this.directory}/client.js`];
    return this.call([...args, "--events", this.log, "--", ...client], { env: this.variables });
  }

  /** Events of the last call. */
  get events(): Json[] {
    return Deno.readTextFileSync(this.log).trimEnd().split("\n").map((line) => JSON.parse(line));
  }

  /** Every file below the fixture, by path. */
  get files(): Map<string, string> {
    return textsBelow(this.out);
  }
}

const CLIENT = `
const rows = ${JSON.stringify(ROWS)};
const apis = rows.map(([variable, , keyVariable, header]) => {
  const key = Deno.env.get(keyVariable);
  return { url: Deno.env.get(variable), key, headers: { [header]: header === "authorization" ? "Bearer " + key : key } };
});
async function send(api, path, init = {}) {
  const answer = await fetch(api.url + path, { method: "POST", headers: api.headers, body: "{}", redirect: "manual", ...init });
  console.log(answer.status + " " + await answer.text());
}
/** Sends the bytes of a request to the port of an API. */
async function raw(api, lines) {
  const { hostname, port } = new URL(api.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode([...lines, "connection: close", "content-length: 0", "", ""].join("\\r\\n")));
  console.log((await new Response(connection.readable).text()).split("\\r\\n")[0]);
}
`;
