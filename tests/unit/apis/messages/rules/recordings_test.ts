import assert from "node:assert/strict";
import { parse } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../../src/domain/json.ts";
import { checkMessagesRequest } from "../../../../../src/apis/messages/rules/check.ts";
import { OLD_VERSION } from "./refused_requests.ts";
import { test } from "../../../../support/test.ts";

const SOURCE = new URL("../../../../../../shared/recordings/pydantic-ai/", import.meta.url);

/** The recorded requests to Anthropic; each was answered with 200. */
function recordedRequests(): { file: string; body: JsonValue; status: number }[] {
  return [...Deno.readDirSync(SOURCE)].map(({ name }) => name).filter((name) => name.endsWith(".yaml")).sort()
    .flatMap((file) => {
      const cassette = parse(Deno.readTextFileSync(new URL(encodeURIComponent(file), SOURCE)));
      return (cassette.interactions as JsonObject[]).flatMap(({ request, response }) => {
        if (!isJsonObject(request) || !isJsonObject(response) || !isJsonObject(response.status)) return [];
        if (new URL(String(request.uri)).hostname !== "api.anthropic.com") return [];
        return [{ file, body: request.parsed_body ?? null, status: Number(response.status.code) }];
      });
    });
}

function recordingsExist(): boolean {
  try {
    return Deno.statSync(SOURCE).isDirectory;
  } catch {
    return false;
  }
}

const present = recordingsExist();

test.long({
  name: `Messages rules let through every recorded request that the API answered${
    present ? "" : " (ignored: ../shared/recordings is absent)"
  }`,
  ignore: !present,
  fn() {
    const recorded = recordedRequests();
    assert(recorded.length >= 7, `only ${recorded.length} requests were found`);
    assert(recorded.every(({ status }) => status === 200));
    // The recordings keep no headers of their own; they were made under the older version.
    const broken = recorded.flatMap(({ file, body }) =>
      checkMessagesRequest(body, OLD_VERSION, {
        refuse: ["wire", "types", "docs", "third_party", "derived", "uncertain"],
      }).refusals.map(({ rule, body }) => `${file}: ${rule}: ${body.error.message}`)
    );
    assert.deepEqual(broken, []);
  },
});
