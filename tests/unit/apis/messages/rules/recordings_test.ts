import assert from "node:assert/strict";
import { interactionsIn, recordingNames } from "../../../../support/recordings.ts";
import { OLD_VERSION } from "./refused_requests.ts";
import { checkMessagesRequest } from "../../../../support/rule_checks.ts";

Deno.test("Messages rules let through every recorded request that the API answered", () => {
  const recorded = recordingNames("messages").filter((name) => name.endsWith(".yaml")).flatMap((name) =>
    interactionsIn(name).filter(({ request }) => new URL(request.uri).hostname === "api.anthropic.com")
      .map(({ request, response }) => ({ name, body: request.parsed_body ?? null, response }))
  );
  assert(recorded.length >= 6, `only ${recorded.length} requests were found`);
  assert(recorded.every(({ response }) => response.status?.code === 200));
  // The recordings keep no headers of their own; they were made under the older version.
  const broken = recorded.flatMap(({ name, body }) =>
    checkMessagesRequest(body, OLD_VERSION, {
      refuse: ["wire", "types", "docs", "third_party", "derived", "uncertain"],
    }).refusals.map(({ rule, body }) => `${name}: ${rule}: ${body.error.message}`)
  );
  assert.deepEqual(broken, []);
});
