import assert from "node:assert/strict";
import { parse } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../../src/domain/json.ts";
import { checkResponsesRequest } from "../../../../../src/apis/responses/rules/check.ts";
import { test } from "../../../../support/test.ts";

const RECORDINGS = new URL("../../../../../../shared/recordings/", import.meta.url);
const SOURCES = ["llm", "llm-openai-plugin", "openllmetry", "pydantic-ai"];
const HOSTS = ["api.openai.com", "openai.azure.com"];

/** A recorded request to OpenAI or Azure, and what it was answered. */
interface Recorded {
  readonly file: string;
  readonly azure: boolean;
  readonly body: JsonValue;
  readonly status: number;
  readonly answer: JsonValue;
}

function recordedRequests(): Recorded[] {
  return SOURCES.flatMap((source) =>
    [...Deno.readDirSync(new URL(`${source}/`, RECORDINGS))]
      .filter(({ name }) => name.endsWith(".yaml")).map(({ name }) => `${source}/${name}`).sort()
  ).flatMap((file) => {
    const cassette = parse(
      Deno.readTextFileSync(new URL(file.split("/").map(encodeURIComponent).join("/"), RECORDINGS)),
    );
    return (cassette.interactions as JsonObject[]).flatMap(({ request, response }) => {
      if (!isJsonObject(request) || !isJsonObject(response) || !isJsonObject(response.status)) return [];
      const uri = new URL(String(request.uri));
      const ours = HOSTS.some((host) => uri.hostname.endsWith(host)) && uri.pathname.endsWith("/responses");
      const body = ours && request.method === "POST" ? requestBody(request) : null;
      if (body === null) return [];
      const azure = uri.hostname.includes("azure");
      return [{
        file,
        azure,
        body,
        status: Number(response.status.code),
        answer: response.parsed_body ?? null,
      }];
    });
  });
}

function requestBody(request: JsonObject): JsonValue {
  if (request.parsed_body !== undefined) return request.parsed_body;
  return typeof request.body === "string" && request.body !== "" ? JSON.parse(request.body) : null;
}

function recordingsExist(): boolean {
  try {
    return Deno.statSync(RECORDINGS).isDirectory;
  } catch {
    return false;
  }
}

function check({ body, azure }: Recorded) {
  return checkResponsesRequest(body, {
    mode: azure ? "azure" : "openai",
    refuse: ["wire", "types", "docs", "third_party", "derived"],
  }).refusals;
}

const present = recordingsExist();
const WHERE = present ? "" : " (ignored: ../shared/recordings is absent)";

test.long({
  name: `rules let through every recorded request that the API answered${WHERE}`,
  ignore: !present,
  fn() {
    const accepted = recordedRequests().filter(({ status }) => status === 200);
    assert(accepted.length >= 50, `only ${accepted.length} requests were found`);
    const broken = accepted.flatMap((recorded) =>
      check(recorded).map(({ rule, body }) => `${recorded.file}: ${rule}: ${body.error.message}`)
    );
    assert.deepEqual(broken, []);
  },
});

test.long({
  name: `rules refuse the recorded request that broke one with the recorded answer${WHERE}`,
  ignore: !present,
  fn() {
    const refused = recordedRequests().filter(({ file }) => file.includes("thinking_with_modified_history"))
      .filter(({ status }) => status === 400);
    assert.equal(refused.length, 1);
    for (const recorded of refused) assert.deepEqual(check(recorded)[0]?.body, recorded.answer);
  },
});
