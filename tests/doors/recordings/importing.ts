/** Imports of sources that a test gives as text or bytes. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { framed } from "./answers.ts";
import type { RecordingHome } from "./home.ts";
import { exchangesOf, headerOf, type ReadExchange } from "./recording_files.ts";

export const BASE = "https://api.openai.com/v1";
export const ASKED = { model: "gpt-5.6", input: "café" };
export const ANSWER = {
  ...{ id: "resp_1", object: "response", status: "completed", output: [] },
  usage: { input_tokens: 1 },
};
export const HEADERS = { date: ["Sat, 21 Nov 2026 20:18:00 GMT"], "content-type": ["application/json"] };
export const STREAM = framed([{ type: "response.created" }, { type: "response.completed" }]);

/** A cassette as vcrpy writes one: `!!binary` where bytes are given. */
export function cassette(
  ...changes: readonly { readonly request?: Json; readonly response?: Json }[]
): string {
  const interactions = changes.map(({ request, response }) => ({
    request: {
      method: "POST",
      uri: `${BASE}/responses`,
      headers: { "user-agent": ["a test"] },
      body: JSON.stringify(ASKED),
      ...request,
    },
    response: {
      status: { code: 200, message: "OK" },
      headers: HEADERS,
      body: { string: JSON.stringify(ANSWER) },
      ...response,
    },
  }));
  return stringify({ interactions, version: 1 }, { customTags: ["binary"] });
}

/** A list of exchanges in JSON. */
export const listOf = (...exchanges: readonly Json[]) =>
  JSON.stringify({ recordedAt: "2026-06-04T13:58:58.914Z", exchanges });
export const answered = (value: Json, headers: Json = { "content-type": "application/json" }) => ({
  ...{ status: 200, headers },
  body: { type: typeof value === "string" ? "text" : "json", value },
});

/** A fixture that an import wrote. */
export interface Imported {
  readonly path: string;
  readonly header: Json;
  readonly exchanges: readonly ReadExchange[];
}

function clear(home: RecordingHome): void {
  Deno.mkdirSync(`${home.directory}/to`, { recursive: true });
  Deno.removeSync(`${home.directory}/to`, { recursive: true });
}

/** Imports a file into the folder `to`; returns the report, and the fixtures by their folders. */
export async function imported(
  home: RecordingHome,
  content: string | Uint8Array,
  options: { name?: string; flags?: string[]; env?: Record<string, string> } = {},
) {
  const { name = "source", flags = [], env = {} } = options;
  clear(home);
  home.file(name, content);
  const { imported: [report] } = await home.json(["import", name, "to", ...flags], { env });
  const fixtures: Imported[] = report.fixtures.map(({ path }: Json) => {
    const at = `${home.directory}/${path}`;
    return { path, header: headerOf(at), exchanges: exchangesOf(at) };
  });
  const [{ exchanges, header } = assert.fail()] = fixtures;
  return { report, fixtures, exchanges, header };
}

/** Asserts that a file is refused as `bad_import`, and that nothing of it stays. */
export async function refused(
  home: RecordingHome,
  content: string | Uint8Array,
  says: RegExp,
  hint?: RegExp,
  ...flags: string[]
): Promise<void> {
  clear(home);
  home.file("source", content);
  await home.refused(["import", "source", "to", ...flags], "bad_import", says, hint);
  assert.throws(() => Deno.statSync(`${home.directory}/to`), Deno.errors.NotFound);
}

export const gzip = { headers: { ...HEADERS, "content-encoding": ["gzip"] } };

export const url = { method: "POST", url: `${BASE}/responses`, headers: {} };

/** Network chunks as req_llm writes them. */
export const chunked = (chunks: readonly string[]) =>
  JSON.stringify({
    request: { ...url, body: { b64: btoa('{"model":"gpt-5.6"}') } },
    response: { status: 200, headers: { "content-type": ["text/event-stream"] }, body: null },
    chunks: chunks.map((piece) => ({ b64: btoa(piece) })),
  });
