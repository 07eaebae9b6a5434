import { openaiResponses } from "../provider/openai/dialect.ts";
import type { FinishedResponse } from "../provider/provider.ts";
import { failureOfResponse } from "../run/failure.ts";
import { openEventStream } from "../transport/exchange.ts";
import { createLiveSend } from "../transport/live.ts";
import type { Context } from "./context.ts";
import { endpointSetting, keySetting, modelSetting, type RequestFlags } from "./run_settings.ts";
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
  const endpoint = endpointSetting(ports, flags, { config, fixture: null });
  const key = keySetting(ports, endpoint);
  const model = modelSetting(ports, flags, { config, fixture: null, manifest: null }).value;
  const built = openaiResponses.buildRequest({
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
      url: `${endpoint.prefix}${built.path}`,
      headers: openaiResponses.headers(key),
      body: built.body,
    },
    signal: AbortSignal.timeout(liveTimeouts(ports).responseTimeoutMs),
    clock: ports.clock,
    random: ports.random,
    classify: (status, headers, body) => openaiResponses.classify(status, headers, body),
  });
  const assembler = openaiResponses.newAssembler();
  let response: FinishedResponse | null = null;
  let reasoning = 0;
  const take = (update: ReturnType<typeof assembler.feed>[number]) => {
    if (update.kind === "finished") response = update.response;
    if (update.kind === "item" && update.item.type === "reasoning") reasoning++;
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
  const organization = stream.headers.get("openai-organization");
  return `${
    finished?.model ?? model
  } answered (${finished?.status}) in ${seconds} s, ${reasoning} reasoning items, ` +
    `organization ${organization === null ? "not named" : "named"}`;
}
