/** The gateway that the tests of this folder share, and its stores. */
import { parseRemote } from "../../src/remote/address.ts";
import { type Lack } from "../support/needs.ts";
import { S3Store } from "../../src/remote/s3.ts";
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

/** Opens `address` on a gateway. */
export function storeOn(
  { endpoint }: Pick<Gateway, "endpoint">,
  address: string,
  more: { readonly secret?: string; readonly timeoutMs?: number; readonly now?: () => number } = {},
): S3Store {
  return new S3Store(parseRemote(address), {
    fetch,
    clock: {
      now: Date.now,
      monotonic: () => performance.now(),
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
    settings: {
      region: "us-east-1",
      endpoint: new URL(endpoint),
      accessKeyId: ACCESS_KEY,
      secretAccessKey: more.secret ?? SECRET_KEY,
      sessionToken: null,
    },
    timeoutMs: more.timeoutMs ?? 10_000,
  });
}
