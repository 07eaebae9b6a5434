/**
 * A Responses API on 127.0.0.1 for tests: answers by script, checks every request by the API's rules, and
 * remembers what it was sent (protocol §3, §8.1, §13). It compacts on request, without a script.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import type { RuleGrade } from "../../src/apis/rule.ts";
import { type DialectName, DIALECTS } from "./responses_server/dialect.ts";
import { answerEvents } from "./responses_server/events.ts";
import { httpError, unauthorized } from "./responses_server/faults.ts";
import { type IssuedReasoning, Issuer } from "./responses_server/issuer.ts";
import type { ScriptedResponse } from "./responses_server/script.ts";
import { encodeEvents } from "./responses_server/events.ts";
import { type ArrivedRequest, arrivedRequest, bodyOf, listen, streamBody } from "./serving.ts";
import { checkResponsesRequest, type Refusal } from "./rule_checks.ts";

/** The answer of `/responses/compact`: the user's messages unchanged, all else in one blob (protocol §8.1). */
export function compacted(body: JsonValue, issuer: Issuer): ScriptedResponse {
  const { input, model } = isJsonObject(body) ? body : {};
  const responseId = issuer.responseId();
  const said = Array.isArray(input) ? input.filter(isJsonObject).filter(({ role }) => role === "user") : [];
  const kept = said.map(({ content }): JsonObject => ({
    id: issuer.itemId("msg"),
    type: "message",
    status: "completed",
    content: typeof content === "string" ? [{ type: "input_text", text: content }] : content ?? [],
    role: "user",
  }));
  const id = issuer.itemId("cmp");
  const { done } = issuer.seal(id, String(model), responseId);
  const answer = {
    id: responseId,
    object: "response.compaction",
    created_at: 1_790_000_000,
    output: [...kept, { id, type: "compaction", encrypted_content: done }],
    usage: { input_tokens: 156, output_tokens: 190, total_tokens: 346 },
  };
  return {
    kind: "http",
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer),
  };
}

export * from "./responses_server/faults.ts";
export * from "./responses_server/script.ts";
export type { DialectName, IssuedReasoning };

/** One request as it arrived. */
export interface RecordedRequest extends ArrivedRequest {
  /** Members of `body.input`, when it is a list. */
  readonly input: readonly JsonObject[];
}

/** Answers one request after the other; or a function that decides. Refused requests use nothing up. */
export type Script =
  | readonly ScriptedResponse[]
  | ((request: RecordedRequest) => ScriptedResponse | Promise<ScriptedResponse>);

/** Options of a server. */
export interface ServerOptions {
  readonly script: Script;
  /** @default {"openai"} */
  readonly dialect?: DialectName;
  /**
   * By which rules requests are checked; `none` checks nothing.
   *
   * @default {"openai"} or `azure` for those dialects, otherwise `none`
   */
  readonly rules?: "openai" | "azure" | "none";
  /** Grades that refuse: by default all but what is derived or contradicted. */
  readonly refuse?: readonly RuleGrade[];
  /** The accepted key; requests with another key get 401. @default {any key} */
  readonly key?: string | undefined;
  /** @default {"org-test"} */
  readonly organization?: string;
  /** The number before its first id. @default {0} */
  readonly idsFrom?: number;
  /** @default {"proj_test"} */
  readonly project?: string;
  /** `false`: no header names organization and project, as servers of others do. */
  readonly namesAccount?: false;
}

const STRICT: readonly RuleGrade[] = ["wire", "types", "docs", "third_party"];

/** A running server. */
export interface ResponsesServer extends AsyncDisposable {
  /** For clients: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** The rule breaks that were answered, in order. */
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Refusal[];
  /** Encrypted content by item id, as it was sent. */
  readonly blobs: ReadonlyMap<string, IssuedReasoning>;
  /** Ends stalled streams and stops listening. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export function startResponsesServer(options: ServerOptions): ResponsesServer {
  const name = options.dialect ?? "openai";
  const dialect = DIALECTS[name];
  const rules = options.rules ?? (name === "openai" || name === "azure" ? name : "none");
  const organization = options.organization ?? "org-test";
  const issuer = new Issuer(dialect, organization, options.idsFrom);
  const requests: RecordedRequest[] = [];
  const refusals: Refusal[] = [];
  const warnings: Refusal[] = [];
  let answered = 0;

  async function respondTo(request: RecordedRequest): Promise<ScriptedResponse> {
    if (request.method !== "POST" || !/\/responses(\/compact)?$/.test(request.path)) {
      return httpError(404, { message: `Invalid URL (${request.method} ${request.path})` });
    }
    if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`) {
      return unauthorized();
    }
    if (rules !== "none") {
      const reasoningOf = (id: string) => issuer.reasoningOf.get(id);
      const result = checkResponsesRequest(request.body, {
        mode: rules,
        decode: issuer.judge,
        reasoningOf,
        refuse: options.refuse ?? STRICT,
      });
      warnings.push(...result.warnings);
      const [first] = result.refusals;
      if (first !== undefined) {
        refusals.push(first);
        return {
          ...httpError(first.status, { message: "" }),
          body: JSON.stringify(first.body),
        } as ScriptedResponse;
      }
    }
    if (request.path.endsWith("/compact")) return compacted(request.body, issuer);
    if (typeof options.script === "function") return await options.script(request);
    const response = options.script[answered++];
    return response ?? httpError(400, { message: `The script has no answer to request ${request.number}` });
  }

  async function handle(incoming: Request): Promise<Response> {
    const request = await record(incoming, requests.length + 1);
    requests.push(request);
    const headers = {
      "x-request-id": `req_${String(request.number).padStart(8, "0")}`,
      ...(options.namesAccount === false ? {} : {
        "openai-organization": organization,
        "openai-project": options.project ?? "proj_test",
      }),
      "openai-version": "2020-10-01",
      "openai-processing-ms": "1",
    };
    const scripted = await respondTo(request);
    const stream = { ...headers, "content-type": "text/event-stream; charset=utf-8" };
    switch (scripted.kind) {
      case "http":
        return new Response(scripted.body === "" ? null : scripted.body, {
          status: scripted.status,
          headers: { ...headers, ...scripted.headers },
        });
      case "bytes":
        return new Response(bodyOf(scripted.chunks, { then: "close", stopped: server.stopped }), {
          headers: stream,
        });
      case "stream": {
        const body = isJsonObject(request.body) ? request.body : {};
        const answer = answerEvents(scripted.items, scripted.options, { issuer, dialect, body });
        if (body.stream !== true) return Response.json(answer.response, { headers });
        const bytes = encodeEvents(answer.events, dialect, scripted.options);
        const content = streamBody(bytes, scripted.options, server.stopped);
        return new Response(content, { headers: { ...stream, ...scripted.options.headers } });
      }
    }
  }

  const server = listen(handle);
  return {
    baseUrl: `${server.origin}/v1`,
    requests,
    refusals,
    warnings,
    blobs: issuer.blobs,
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  };
}

async function record(incoming: Request, number: number): Promise<RecordedRequest> {
  const arrived = await arrivedRequest(incoming, number);
  const { body } = arrived;
  const input = isJsonObject(body) && Array.isArray(body.input) ? body.input.filter(isJsonObject) : [];
  return { ...arrived, input };
}
