import { itemKind } from "../../domain/item.ts";
import { counted } from "../../domain/text.ts";
import { apiOf } from "../../apis/apis.ts";
import { askOnce } from "../../run/ask_once.ts";
import { createLiveSend } from "../../transport/live.ts";
import { keySetting } from "../run/api_key.ts";
import type { Context } from "../context.ts";
import { endpointSetting } from "../run/endpoint.ts";
import type { RequestFlags } from "../flags.ts";
import { modelSetting } from "../run/run_settings.ts";
import { liveTimeouts } from "../run/timeouts.ts";

/** What the API is asked: little enough to cost next to nothing. */
const QUESTION = "Answer with the word ready.";
const MAX_OUTPUT_TOKENS = 64;

/**
 * Sends one tiny request with the settings in force, and says what came back.
 *
 * @throws {RepriseError} what a run would end with.
 */
export async function tinyRequest({ ports, config }: Context, flags: RequestFlags): Promise<string> {
  const sources = { config, fixture: null, manifest: null };
  const endpoint = endpointSetting(ports, flags, sources);
  const key = keySetting(ports, endpoint);
  const model = modelSetting(ports, flags, sources).value;
  const api = apiOf(endpoint.provider);
  const built = api.buildRequest({
    model,
    instructions: "",
    tools: [],
    entries: [{ kind: "user_message", content: [{ type: "input_text", text: QUESTION }] }],
    cacheKey: "reprise-doctor",
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  });
  const begun = ports.clock.monotonic();
  const { items, response, account } = await askOnce({
    ports,
    api,
    send: createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin }),
    urlOf: (path) => endpoint.urlOf(path),
    key,
    signal: AbortSignal.timeout(liveTimeouts(ports).responseTimeoutMs),
  }, built);
  const reasoning = items.filter((item) => itemKind(item) === "reasoning").length;
  const seconds = ((ports.clock.monotonic() - begun) / 1000).toFixed(1);
  return `${response.model ?? model} answered (${response.status}) in ${seconds} s, ${
    counted(reasoning, "reasoning item")
  }, ` +
    `account ${account === null ? "not named" : "named"}`;
}
