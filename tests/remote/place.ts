/** The gateway that the tests of this folder share, and its objects. */
import { AwsClient } from "aws4fetch";
import { type Lack } from "../support/needs.ts";
import { ACCESS_KEY, Gateway, hasCeph, SECRET_KEY } from "../../scripts/remote/gateway.ts";

/** Lack of a gateway. */
export const LACKS_CEPH: Lack = hasCeph() ? null : "Ceph not installed";

/** Starts a gateway with the bucket `tests` for one test. */
export async function withGateway(body: (gateway: Gateway) => Promise<void>): Promise<void> {
  const gateway = await Gateway.start();
  try {
    await gateway.makeBucket("tests");
    await body(gateway);
  } finally {
    await gateway.stop();
  }
}

/** The variables of a machine with this remote, and a model at `baseUrl`. */
export function environmentOf(
  gateway: Pick<Gateway, "environment">,
  { baseUrl }: { readonly baseUrl: string },
  remote: string,
): Record<string, string> {
  return {
    ...gateway.environment,
    REPRISE_REMOTE: remote,
    OPENAI_API_KEY: "sk-none",
    OPENAI_BASE_URL: baseUrl,
    REPRISE_MODEL: "gpt-5.6",
  };
}

/** The objects below a prefix of the bucket `tests`, with another client than the program's own. */
export class Objects {
  readonly #root: string;
  readonly #prefix: string;
  readonly #client = new AwsClient({
    ...{ accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY, service: "s3", region: "us-east-1" },
  });

  constructor({ endpoint }: Pick<Gateway, "endpoint">, prefix: string) {
    this.#root = `${endpoint}/tests`;
    this.#prefix = `${prefix}/`;
  }

  /** Keys below the prefix that begin so, in order. */
  async keys(start = ""): Promise<string[]> {
    const found: string[] = [];
    for (let page: string[] | null = null; page === null || page.length === 1000;) {
      const query = new URLSearchParams({ "list-type": "2", prefix: this.#prefix + start });
      if (found.length > 0) query.set("start-after", this.#prefix + found.at(-1));
      const text = await (await this.#fetch(`?${query}`)).text();
      page = [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key.slice(this.#prefix.length));
      found.push(...page);
    }
    return found;
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer>> {
    return await (await this.#fetch(`/${this.#prefix}${key}`)).bytes();
  }

  async put(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    await (await this.#fetch(`/${this.#prefix}${key}`, { method: "PUT", body })).body?.cancel();
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await this.#client.fetch(`${this.#root}${path}`, init);
    if (!answer.ok) {
      throw new Error(`${init.method ?? "GET"} ${path}: ${answer.status} ${await answer.text()}`);
    }
    return answer;
  }
}
