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

/** Objects on a gateway below a prefix of the bucket `tests`, read and written by code of its own. */
export class Objects {
  readonly #client = new AwsClient({
    accessKeyId: ACCESS_KEY,
    secretAccessKey: SECRET_KEY,
    region: "us-east-1",
    service: "s3",
  });
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ endpoint }: Pick<Gateway, "endpoint">, prefix: string) {
    this.#bucket = `${endpoint}/tests`;
    this.#prefix = `${prefix}/`;
  }

  /** Keys below the prefix, in order. */
  async keys(): Promise<string[]> {
    const keys: string[] = [];
    for (;;) {
      const after = encodeURIComponent(this.#prefix + (keys.at(-1) ?? ""));
      const query = `list-type=2&prefix=${encodeURIComponent(this.#prefix)}&start-after=${after}`;
      const page = await (await this.#client.fetch(`${this.#bucket}?${query}`)).text();
      const found = [...page.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
      if (found.length === 0) return keys;
      keys.push(...found.map((key) => key.slice(this.#prefix.length)));
    }
  }

  /** The bytes of an object. */
  async bytes(key: string): Promise<Uint8Array<ArrayBuffer>> {
    return await (await this.#client.fetch(`${this.#bucket}/${this.#prefix}${key}`)).bytes();
  }

  async put(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const response = await this.#client.fetch(`${this.#bucket}/${this.#prefix}${key}`, {
      method: "PUT",
      body,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`Cannot put ${key}: status ${response.status}`);
  }

  /** The texts of a session's turns, by number. */
  async turns(session: string): Promise<Map<number, string>> {
    const there = new Map<number, string>();
    for (const key of await this.keys()) {
      if (!key.startsWith(`${session}/turns/`)) continue;
      there.set(Number(key.slice(-11, -5)), new TextDecoder().decode(await this.bytes(key)));
    }
    return there;
  }
}
