import assert from "node:assert/strict";
import type { JsonValue } from "../../../../../src/domain/json.ts";
import { type Interaction, interactionsIn, recordingNames } from "../../../../support/recordings.ts";
import { checkResponsesRequest } from "../../../../support/rule_checks.ts";

const HOSTS = ["api.openai.com", "openai.azure.com"];

/** The requests of a recording to OpenAI or Azure, with what they were answered. */
function requestsIn(name: string) {
  return interactionsIn(name).flatMap(({ request, response }) => {
    const { hostname, pathname } = new URL(request.uri);
    const isKnown = HOSTS.some((host) => hostname.endsWith(host)) && pathname.endsWith("/responses");
    const body = isKnown && request.method === "POST" ? requestBody(request) : null;
    const mode = hostname.includes("azure") ? "azure" as const : "openai" as const;
    return body === null ? [] : [{ mode, body, response }];
  });
}

function answeredIn(name: string) {
  return requestsIn(name).filter(({ response }) => response.status?.code === 200);
}

function requestBody({ parsed_body: parsed, body }: Interaction["request"]): JsonValue {
  if (parsed !== undefined) return parsed;
  return typeof body === "string" && body !== "" ? JSON.parse(body) : null;
}

function check({ mode, body }: ReturnType<typeof requestsIn>[number]) {
  return checkResponsesRequest(body, { mode, refuse: ["wire", "types", "docs", "third_party", "derived"] })
    .refusals;
}

const CASSETTES = recordingNames("responses", "messages").filter((name) => name.endsWith(".yaml"));

for (const name of CASSETTES) {
  Deno.test(`rules let through the requests of ${name} that the API answered`, () => {
    assert.deepEqual(
      answeredIn(name).flatMap(check).map(({ rule, body }) => `${rule}: ${body.error.message}`),
      [],
    );
  });
}

Deno.test("recordings hold enough requests that the API answered", () => {
  const { length } = CASSETTES.flatMap(answeredIn);
  assert(length >= 35, `only ${length} requests were found`);
});

Deno.test("rules refuse the recorded request that broke one with the recorded answer", () => {
  const refused = requestsIn("responses/modified_history.yaml").filter(({ response }) =>
    response.status?.code === 400
  );
  assert.equal(refused.length, 1);
  for (const recorded of refused) assert.deepEqual(check(recorded)[0]?.body, recorded.response.parsed_body);
});
