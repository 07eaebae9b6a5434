import { agentsError, streamed, whole } from "./agents.ts";
import { MISSES, refusals, responsesApi } from "./script.ts";
import { type Client, conversationTests } from "./support.ts";

const RUNS: readonly (readonly [name: string, client: Client])[] = [["streamed", streamed], ["whole", whole]];

for (const [name, client] of RUNS) {
  conversationTests({
    name: `@openai/agents, a run with a tool, ${name}`,
    client,
    provider: "openai",
    api: responsesApi,
    requests: 3,
    read: agentsError,
    refusals: (recorded) => refusals(recorded, (words) => `400 ${words}`),
    misses: MISSES,
  });
}
