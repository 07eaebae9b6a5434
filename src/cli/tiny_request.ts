import { itemKind } from "../domain/item.ts";
import { dialectOf } from "../provider/dialects.ts";
import type { FinishedResponse } from "../provider/provider.ts";
import { failureOfResponse } from "../run/failure.ts";
import { openEventStream } from "../transport/exchange.ts";
import { createLiveSend } from "../transport/live.ts";
import { keySetting } from "./api_key.ts";
import type { Context } from "./context.ts";
import { endpointSetting } from "./endpoint.ts";
import { modelSetting, type RequestFlags } from "./run_settings.ts";
import { liveTimeouts } from "./timeouts.ts";

/** What the API is asked: little enough to cost next to nothing. */
const QUESTION = "Answer with the word ready.";
const MAX_OUTPUT_TOKENS = 64;

/**
 * Sends one tiny request with the settings in force, and says what came back.
 *
 * @throws {ReprError} what a run would end with.
 */
export async function tinyRequest({ ports, config }: Context, flags: RequestFlags): Promise<string> {
  const sources = { config, fixture: null, manifest: null };
  const endpoint = endpointSetting(ports, flags, sources);
  const key = keySetting(ports, endpoint);
  const model = modelSetting(ports, flags, sources).value;
  const dialect = dialectOf(endpoint.provider);
  const built = dialect.buildRequest({
    model,
    instructions: "",
    tools: [],
    entries: [{ kind: "user_message", content: [{ type: "input_text", text: QUESTION }] }],
    cacheKey: "reprise-doctor",
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  });
  const begun = ports.clock.monotonic();
  const stream = await openEventStream({
    send: createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin }),
    request: {
      url: endpoint.urlOf(built.path),
      headers: { ...dialect.headers(key), ...built.headers },
      body: built.body,
    },
    signal: AbortSignal.timeout(liveTimeouts(ports).responseTimeoutMs),
    clock: ports.clock,
    random: ports.random,
    classify: (status, headers, body) => dialect.classify(status, headers, body),
  });
  const assembler = dialect.newAssembler();
  let response: FinishedResponse | null = null;
  let reasoning = 0;
  const take = (update: ReturnType<typeof assembler.feed>[number]) => {
    if (update.kind === "reset") reasoning = 0;
    if (update.kind === "finished") response = update.response;
    if (update.kind === "item" && itemKind(update.item) === "reasoning") reasoning++;
  };
  for await (const batch of stream.events) {
    for (const event of batch) assembler.feed(event).forEach(take);
    if (response !== null) break;
  }
  if (response === null) assembler.end().forEach(take);
  const finished = response as FinishedResponse | null;
  const failure = failureOfResponse(finished);
  if (failure !== null) throw failure;
  const seconds = ((ports.clock.monotonic() - begun) / 1000).toFixed(1);
  const account = dialect.accountOf(stream.headers) === null ? "not named" : "named";
  return `${
    finished?.model ?? model
  } answered (${finished?.status}) in ${seconds} s, ${reasoning} reasoning items, ` +
    `account ${account}`;
}
