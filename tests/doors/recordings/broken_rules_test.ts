/** Rules of the three APIs, as a client of `serve` meets them. */
import assert from "node:assert/strict";
import { type Broken, brokenRules, documented, type RuledApi } from "./broken_rules.ts";
import { sent } from "./served.ts";
import { CHAT } from "./chat_rules.ts";
import {
  assistant,
  HEADERS,
  MESSAGES,
  request,
  result,
  results,
  secret,
  thought as thinking,
  use,
  user as person,
} from "./messages_rules.ts";
import { call, RESPONSES, result as output, stateless, thought, user } from "./responses_rules.ts";

const APIS: readonly (readonly [RuledApi, readonly Broken[]])[] = [
  [{
    name: "responses",
    path: "/v1/responses",
    header: {},
    recorded: [stateless([user, thought, call, output])],
  }, RESPONSES],
  [{
    name: "messages",
    path: "/v1/messages",
    headers: HEADERS,
    header: { provider: "anthropic", base_url: "https://api.anthropic.com" },
    recorded: [
      sent(request([person, assistant(thinking, secret, use), results(result)]), { headers: HEADERS }),
    ],
  }, MESSAGES],
  [
    { name: "chat", path: "/v1/chat/completions", header: {}, recorded: [{ model: "m", messages: [] }] },
    CHAT,
  ],
];

for (const [api, broken] of APIS) {
  brokenRules(api, broken);

  Deno.test(`${api.name}: each rule that docs/rules.md checks is shown by a request`, () => {
    const shown = new Set(broken.map(({ rule }) => rule));
    const missing = [...documented(api.name)].filter(([rule, does]) =>
      does !== "does not check" && !shown.has(rule)
    );
    assert.deepEqual(missing, []);
  });
}
