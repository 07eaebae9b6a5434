/** Objects whose members hide those of JavaScript, at every place of a request: they are values like any other. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { HOSTILE_OBJECTS, spoilt } from "../../support/hostile_json.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { CHAT } from "./chat_rules.ts";
import { MESSAGES } from "./messages_rules.ts";
import { RESPONSES } from "./responses_rules.ts";
import { exchangeOf, sent, Served } from "./served.ts";

for (const api of [RESPONSES, MESSAGES, CHAT]) {
  const { path, header, headers = {}, valid } = api;
  const body = {
    ...valid,
    tools: [{ type: "function", name: "f", function: { name: "f", parameters: {} } }],
  };
  // A request that was recorded breaks no rule, so that the rules see a recording of the good one alone.
  for (const byRules of [false, true]) {
    withHome(
      `${path}: objects with a member toString ${byRules ? "are judged" : "match"} like any other`,
      async (home) => {
        const bodies = HOSTILE_OBJECTS.flatMap((hostile) => [...spoilt(body, hostile)]);
        assert.ok(bodies.length > 50);
        const request = (body: Json) => sent(body, { path, headers });
        home.fixture("a", (byRules ? [body] : bodies).map((each) => exchangeOf(request(each))), header);
        const flags = ["--repeat", ...(byRules ? [] : ["--rules", "none"])];
        await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
        for (const each of bodies) {
          // Other bytes, so that the canonical form decides.
          const { status, text } = await server.ask(
            request(Object.fromEntries(Object.entries(each).reverse())),
          );
          const known = byRules ? status < 500 && JSON.parse(text).error !== undefined : status === 200;
          assert.ok(known, `${JSON.stringify(each)}: ${text}`);
        }
      },
      test.long,
    );
  }
}
