import assert from "node:assert/strict";
import { parse } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import { checkRequest } from "../../src/rules/check.ts";

const RECORDINGS = new URL("../../../shared/recordings/", import.meta.url);
const SOURCES = ["llm", "llm-openai-plugin", "openllmetry", "pydantic-ai"];
const ACCEPTING_HOSTS = ["api.openai.com", "openai.azure.com"];

/** Requests to OpenAI and Azure that were answered with 200, by file. */
function acceptedRequests(): { readonly file: string; readonly azure: boolean; readonly body: JsonValue }[] {
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
      const accepted = ACCEPTING_HOSTS.some((host) => uri.hostname.endsWith(host)) &&
        uri.pathname.endsWith("/responses") && response.status.code === 200 && request.method === "POST";
      const body = accepted ? requestBody(request) : null;
      return body === null ? [] : [{ file, azure: uri.hostname.includes("azure"), body }];
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

const present = recordingsExist();
const ABSENT = "ignored: ../shared/recordings is absent";

Deno.test({
  name: `rules let through every recorded request that the API answered${present ? "" : ` (${ABSENT})`}`,
  ignore: !present,
  fn() {
    const requests = acceptedRequests();
    assert(requests.length >= 50, `only ${requests.length} requests were found`);
    const broken = requests.flatMap(({ file, azure, body }) =>
      checkRequest(body, {
        mode: azure ? "azure" : "openai",
        refuse: ["wire", "types", "docs", "third_party", "derived"],
      }).refusals.map(({ rule, body }) => `${file}: ${rule}: ${body.error.message}`)
    );
    assert.deepEqual(broken, []);
  },
});
