/**
 * A Messages API on 127.0.0.1 for tests: answers by script, checks every request by the API's rules, signs its
 * thinking, and remembers what it was sent (protocol §9–11, §13).
 */
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { modelFacts } from "../../src/domain/models.ts";
import { mergedTurns, type MessagesRequest, messagesRequest } from "../../src/apis/messages/rules/request.ts";
import type { RuleGrade } from "../../src/apis/rule.ts";
import { messagesEvents } from "./messages_server/events.ts";
import { canonical, type IssuedThinking, MessagesIssuer } from "./messages_server/issuer.ts";
import { apiError, type ScriptedAnswer, unauthorized } from "./messages_server/script.ts";
import { encodeMessagesEvents } from "./messages_server/events.ts";
import { type ArrivedRequest, arrivedRequest, bodyOf, listen, streamBody } from "./serving.ts";
import { checkMessagesRequest, type Refusal } from "./rule_checks.ts";

export * from "./messages_server/script.ts";
export type { IssuedThinking };

/** One request as it arrived. */
export interface RecordedMessages extends ArrivedRequest {
  /** All blocks of its messages, in order. */
  readonly blocks: readonly JsonObject[];
}

/** Answers one request after the other; or a function that decides. Refused requests use nothing up. */
export type MessagesScript =
  | readonly ScriptedAnswer[]
  | ((request: RecordedMessages) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Options of a server. */
export interface MessagesServerOptions {
  readonly script: MessagesScript;
  /** Grades that refuse: by default all but what is derived or contradicted. */
  readonly refuse?: readonly RuleGrade[];
  /** The accepted key; requests with another key get 401. @default {any key} */
  readonly key?: string;
  /** @default {"wrkspc_test"} */
  readonly workspace?: string;
  /**
   * The models whose thinking is bound to what came before it.
   *
   * @default the models for which `modelFacts` says so
   */
  readonly boundModels?: readonly string[];
  /** Does not know `thinking.block_binding`, even with the beta header. */
  readonly legacyBinding?: true;
  /** Takes a last message of the assistant, as older models do; after `pause_turn` every server takes it. */
  readonly allowPrefill?: true;
}

const STRICT: readonly RuleGrade[] = ["wire", "types", "docs", "third_party"];

/** A running server. */
export interface MessagesServer extends AsyncDisposable {
  /** For clients: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedMessages[];
  /** The rule breaks that were answered, in order. */
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly Refusal[];
  /** The issued thinking blocks. */
  readonly issued: readonly IssuedThinking[];
  /** Ends stalled streams and stops listening. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export function startMessagesServer(options: MessagesServerOptions): MessagesServer {
  const { boundModels, legacyBinding = false, script } = options;
  const issuer = new MessagesIssuer((model) =>
    boundModels?.includes(model) ?? modelFacts(model)?.prefixBound === true
  );
  const requests: RecordedMessages[] = [];
  const refusals: Refusal[] = [];
  const warnings: Refusal[] = [];
  /** Ends of the turns in which the API paused. */
  const paused: string[] = [];
  let answered = 0;

  async function respondTo(arrived: RecordedMessages, request: MessagesRequest): Promise<ScriptedAnswer> {
    if (arrived.method !== "POST" || !arrived.path.endsWith("/messages")) {
      return apiError(404, "not_found_error", "Not Found");
    }
    if (options.key !== undefined && keyOf(arrived) !== options.key) return unauthorized();
    const checked = checkMessagesRequest(arrived.body, arrived.headers, {
      judge: issuer.judge,
      legacyBinding,
      allowPrefill: options.allowPrefill === true || goesOn(request, paused),
      refuse: options.refuse ?? STRICT,
    });
    warnings.push(...checked.warnings);
    const [first] = checked.refusals;
    if (first !== undefined) {
      refusals.push(first);
      const { type, message } = first.body.error;
      return apiError(first.status, type, message);
    }
    if (typeof script === "function") return await script(arrived);
    return script[answered++] ??
      apiError(400, "invalid_request_error", `The script has no answer to request ${arrived.number}`);
  }

  async function handle(incoming: Request): Promise<Response> {
    const arrived = await record(incoming, requests.length + 1);
    requests.push(arrived);
    const requestId = `req_${String(arrived.number).padStart(8, "0")}`;
    const headers = {
      "request-id": requestId,
      "anthropic-workspace-id": options.workspace ?? "wrkspc_test",
    };
    const stream = { ...headers, "content-type": "text/event-stream; charset=utf-8" };
    const body = isJsonObject(arrived.body) ? arrived.body : {};
    const request = messagesRequest(body, arrived.headers);
    const scripted = await respondTo(arrived, request);
    switch (scripted.kind) {
      case "error":
        return Response.json({ type: "error", error: scripted.error, request_id: requestId }, {
          status: scripted.status,
          headers: { ...headers, ...scripted.headers },
        });
      case "bytes":
        return new Response(bodyOf(scripted.chunks, { then: "close", stopped: server.stopped }), {
          headers: stream,
        });
      case "stream": {
        const { events, message } = messagesEvents(scripted.blocks, scripted.options, request, issuer);
        if (message.stop_reason === "pause_turn") paused.push(endOf(message.content));
        if (body.stream !== true) return Response.json(message, { headers });
        const named = events.map((event) =>
          event.type === "error" ? { ...event, request_id: requestId } : event
        );
        const bytes = encodeMessagesEvents(named, scripted.options.delivery);
        return new Response(streamBody(bytes, scripted.options, server.stopped), {
          headers: { ...stream, ...scripted.options.headers },
        });
      }
    }
  }

  const server = listen(handle);
  return {
    baseUrl: `${server.origin}/v1`,
    requests,
    refusals,
    warnings,
    issued: issuer.issued,
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  };
}

async function record(incoming: Request, number: number): Promise<RecordedMessages> {
  const arrived = await arrivedRequest(incoming, number);
  const { messages } = messagesRequest(isJsonObject(arrived.body) ? arrived.body : {}, {});
  return { ...arrived, blocks: messages.flatMap(({ blocks }) => blocks.map(({ block }) => block)) };
}

/** Both headers are taken (protocol §9). */
function keyOf({ headers }: RecordedMessages): string | undefined {
  return headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
}

/** True when the last message ends as a turn did in which the API paused. */
function goesOn({ messages }: MessagesRequest, paused: readonly string[]): boolean {
  const last = mergedTurns(messages).at(-1);
  if (last?.role !== "assistant") return false;
  const sent = endOf(last.blocks.map(({ block }) => block));
  return paused.some((end) => end !== "" && sent.endsWith(end));
}

/** The blocks without thinking, which a client may have to leave out. */
function endOf(content: JsonObject[string]): string {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return blocks.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking").map(canonical).join(
    ",",
  );
}
