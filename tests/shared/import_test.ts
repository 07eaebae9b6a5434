/** Imports every file of ../shared, and compares the bodies with those that Python extracts from the same files. */
import assert from "node:assert/strict";
import { exchangesOf, headerOf, type ReadExchange } from "../doors/recordings/recording_files.ts";
import { lacksProgram, lacksPython, needing } from "../support/needs.ts";
import { Sandbox } from "../support/reprise.ts";

const SHARED = new URL("../../../shared", import.meta.url).pathname;
const SCRIPT = new URL("exchanges_in.py", import.meta.url).pathname;

/** Files that are refused, with the reason. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  // Extracts of the files beside them.
  "chat/test_parsed_refused_completion.yaml.decoded.json": /it is JSON, but no object$/,
  "llm/test_responses_basic_non_streaming.yaml.decoded.json": /it is JSON, but no object$/,
  "llm/test_responses_round_trips_encrypted_reasoning.yaml.decoded.json": /it is JSON, but no object$/,
  "llm/test_responses_tool_use.yaml.decoded.json": /it is JSON, but no object$/,
  "openllmetry/test_responses_reasoning.yaml.decoded.json": /it is JSON, but no object$/,
  "openllmetry/test_responses_tool_calls.yaml.decoded.json": /it is JSON, but no object$/,
  // The last brace of its first line is missing.
  "vercel-ai/parallel-tool-call-wrapper.1.chunks.txt": /line 1 is not JSON$/,
  "round-4/har-empty-200.har": /the body of the response of entry 1 \(.*\) is not in the file$/,
  // Requests to compare.
  "round-4/pairs.json": /it is JSON, but no /,
  "zstd_cut.yaml": /the response of interaction 1 is damaged: its encoding zstd cannot be undone$/,
};

/** Body of a message as Python reads it. */
type Body =
  | { readonly base64: string }
  | { readonly json: unknown }
  | { readonly events: readonly unknown[] }
  | null;

/** Exchange as Python reads it, or the events of a list. */
type Extracted =
  | { readonly lines: readonly string[] }
  | {
    readonly method: string;
    /** `null` if the file does not say. */
    readonly url: string | null;
    readonly request: Body;
    readonly status?: number;
    readonly encoding: string;
    readonly response: Body;
  };

interface Report {
  readonly imported: readonly { readonly file: string; readonly fixtures: readonly { path: string }[] }[];
  readonly refused: readonly { readonly file: string; readonly message: string }[];
  readonly exit_code: number;
}

for (const [folder, least] of [["recordings", 114], ["cases", 24]] as const) {
  Deno.test({
    ...needing(
      `every file of ../shared/${folder} imports with the bodies that Python finds in it, or is refused by name`,
      isFolder(`${SHARED}/${folder}`) ? null : `../shared/${folder} is absent`,
      await lacksPython("yaml"),
      lacksProgram("zstd"),
    ),
    fn: async () => {
      await using sandbox = new Sandbox();
      const placeholders = ["<OLLAMA_API_BASE>", "**REDACTED**"].map((name) =>
        `${name}=https://placeholder.example/v1`
      );
      const urls = [...placeholders, "https://placeholder.example"];
      const args = ["--json", "--keep-cut", ...urls.flatMap((url) => ["--upstream", url])];
      const { stdout } = await sandbox.call(
        ["fixture", "import", `${SHARED}/${folder}`, `${sandbox.directory}/to`, ...args],
      );
      const { imported, refused } = JSON.parse(stdout) as Report;
      for (const { file, message } of refused) {
        const why = REFUSED[file.slice(`${SHARED}/${folder}/`.length)];
        assert(why?.test(message) === true, message);
      }
      assert(imported.length >= least, `${imported.length} were imported`);
      const extracted = await extractedFrom(imported.map(({ file }) => file));
      for (const [index, { file, fixtures }] of imported.entries()) {
        await compare(extracted[index] ?? assert.fail(file), fixtures.map(({ path }) => path), file);
      }
    },
  });
}

async function extractedFrom(files: readonly string[]): Promise<(readonly Extracted[] | null)[]> {
  const { code, stdout, stderr } = await new Deno.Command("/usr/bin/python3", { args: [SCRIPT, ...files] })
    .output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Compares in the order of the source; the exchanges of one host are in one fixture. */
async function compare(
  extracted: readonly Extracted[],
  fixtures: readonly string[],
  file: string,
): Promise<void> {
  const waiting = fixtures.map((path) => ({
    origin: new URL(headerOf(path).base_url).origin,
    exchanges: exchangesOf(path),
  }));
  const next = (origin: string | null): ReadExchange =>
    waiting.find((fixture) => origin === null || fixture.origin === origin)?.exchanges.shift() ??
      assert.fail(file);
  for (const each of extracted) {
    if ("lines" in each) {
      const bodies = waiting.flatMap(({ exchanges }) => exchanges.splice(0));
      const text = bodies.map(({ text }) => text).join("");
      assert.deepEqual([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data), each.lines, file);
      continue;
    }
    const url = each.url === null || each.url.startsWith("**")
      ? null
      : new URL(each.url.replace(/^[^/]*<[^>]+>|^https:\/\/[^/]*<[^/]*/, "https://placeholder.example"));
    const { request, response, body, sent } = next(url?.origin ?? null);
    assert.equal(request.method, each.method, file);
    if (url !== null) {
      assert(request.path.endsWith(`${url.pathname}${url.search}`), `${file}: ${request.path}`);
    }
    if (each.status !== undefined) assert.equal(response.status, each.status, file);
    await same(body, each.response, each.encoding, file);
    if (each.request !== null && !("base64" in each.request && each.request.base64 === "")) {
      await same(new TextEncoder().encode(sent ?? ""), each.request, "", file);
    }
  }
  assert(
    waiting.every(({ exchanges }) => exchanges.length === 0),
    `${file}: more exchanges than in the source`,
  );
}

/** Bytes are equal; a parsed body is equal by its value. */
async function same(kept: Uint8Array, source: Body, encoding: string, file: string): Promise<void> {
  if (source === null) return assert.equal(kept.length, 0, file);
  if ("json" in source) {
    return assert.deepEqual(JSON.parse(new TextDecoder().decode(kept)), source.json, file);
  }
  if ("events" in source) {
    const data = [...new TextDecoder().decode(kept).matchAll(/^data: (.*)$/gm)].map(([, text = ""]) => text);
    const events = source.events.map((each) => typeof each === "string" ? each : JSON.stringify(each));
    return assert.deepEqual(data, events, file);
  }
  const bytes = Uint8Array.from(atob(source.base64), (character) => character.charCodeAt(0));
  assert.deepEqual(kept, encoding === "zstd" ? await unpacked(bytes) : bytes, file);
}

async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  const command = new Deno.Command("zstd", { args: ["-dc"], stdin: "piped", stdout: "piped" });
  await using process = command.spawn();
  const writer = process.stdin.getWriter();
  await writer.write(bytes);
  await writer.close();
  return (await process.output()).stdout;
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
