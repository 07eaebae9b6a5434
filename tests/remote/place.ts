/** The gateway that the tests of this folder share, and its objects. */
import { AwsClient } from "aws4fetch";
import { type Lack, needing } from "../support/needs.ts";
import { Sandbox } from "../support/reprise.ts";
import {
  answer,
  message,
  reasoning,
  type ResponsesServer,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import { ACCESS_KEY, Gateway, hasCeph, SECRET_KEY } from "../../scripts/remote/gateway.ts";

/** A gateway, a model that answers at once, and a directory for homes. */
export interface Place {
  readonly gateway: Gateway;
  readonly model: ResponsesServer;
  readonly sandbox: Sandbox;
}

/** Registers a test with a gateway that has the bucket `tests`. */
export function withGateway(
  name: string,
  body: (place: Place, test: Deno.TestContext) => Promise<void>,
  ...lacks: readonly Lack[]
): void {
  const fn = async (test: Deno.TestContext) => {
    await using sandbox = new Sandbox();
    const model = startResponsesServer({ script: () => answer([reasoning("Thinking."), message("Done.")]) });
    const gateway = await Gateway.start();
    try {
      await gateway.makeBucket("tests");
      await body({ gateway, model, sandbox }, test);
    } finally {
      await gateway.stop();
      await model.stop();
    }
  };
  Deno.test({ ...needing(name, hasCeph() ? null : "Ceph not installed", ...lacks), fn });
}

/** The variables of a machine with this remote. */
export function environmentOf({ gateway, model }: Place, remote: string): Record<string, string> {
  return {
    ...gateway.environment,
    REPRISE_REMOTE: remote,
    OPENAI_API_KEY: "sk-none",
    OPENAI_BASE_URL: model.baseUrl,
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
