/** Scripted APIs that refuse an item of a request: Responses over HTTP and over a WebSocket, and Messages. */
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import {
  apiError,
  type MessagesServer,
  says,
  startMessagesServer,
  text,
  thinking,
  toolUse,
} from "../support/scripted_api/messages.ts";
import {
  answer,
  httpError,
  message,
  reasoning,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import { rawItem, refuseInDetail } from "../support/scripted_api/responses_script.ts";
import { startResponsesSocket } from "../support/scripted_api/socket.ts";
import { KEY } from "./harness.ts";

/** A refusal of either API. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Members of OpenAI's errors only. */
  readonly param?: string;
  readonly code?: string;
  /** True for the shape of servers of FastAPI, where the API allows it. */
  readonly inDetail?: true;
}

/** Decides what an API does. */
export interface Behaviour {
  /** Matches the JSON of the refused content. */
  readonly bad: RegExp;
  /** The refusal; `place` names the content as the API does. */
  readonly refusal: (place: string) => Refusal;
  /** True if the first prompt with "Read" is answered with a call. */
  readonly calls: boolean;
}

/** A running API. */
export interface RefusingApi extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** JSON of the history of the newest request. */
  newest(): string;
}

const CALL = { name: "read_file", input: { path: "a.txt", offset: null, limit: null }, id: "call_b12345" };

const CALL_ITEM = {
  type: "function_call",
  call_id: CALL.id,
  name: CALL.name,
  arguments: JSON.stringify(CALL.input),
  status: "completed",
};

/** The place of refused content in a list of items or messages; `null` without any. */
function placeOf(list: readonly JsonObject[], bad: RegExp): readonly [number, number] | null {
  const at = list.findIndex((one) => bad.test(JSON.stringify(one)));
  if (at < 0) return null;
  const content = list[at]?.content;
  const part = Array.isArray(content) ? content.findIndex((one) => bad.test(JSON.stringify(one))) : 0;
  return [at, part];
}

/** True once, for a history that ends with the prompt that asks for a call. */
function onceFor({ calls }: Behaviour): (last: unknown) => boolean {
  let isDone = !calls;
  return (last) => {
    if (isDone || !JSON.stringify(last).includes("Read")) return false;
    return isDone = true;
  };
}

function responses(behaviour: Behaviour) {
  const asksForCall = onceFor(behaviour);
  return ({ input }: { readonly input: readonly JsonObject[] }) => {
    const place = placeOf(input, behaviour.bad);
    if (place === null) {
      return answer([
        reasoning("Thinking"),
        asksForCall(input.at(-1)) ? rawItem(CALL_ITEM) : message("Hello."),
      ]);
    }
    const { status, inDetail = false, ...error } = behaviour.refusal(
      `input[${place[0]}].content[${place[1]}]`,
    );
    if (!inDetail) return httpError(status, error);
    const loc = ["body", "input", place[0], "content", place[1]];
    return refuseInDetail(status, [{ type: "value_error", loc, msg: error.message }]);
  };
}

function messages(behaviour: Behaviour): Parameters<typeof startMessagesServer>[0]["script"] {
  const asksForCall = onceFor(behaviour);
  return ({ body }) => {
    const list = messagesIn(body);
    const place = placeOf(list, behaviour.bad);
    if (place !== null) {
      const { status, message } = behaviour.refusal(`messages.${place[0]}.content.${place[1]}`);
      const type = status === 413 ? "request_too_large" : "invalid_request_error";
      return apiError(status, type, message);
    }
    const { name, input, id } = CALL;
    return says([
      thinking("Thinking"),
      asksForCall(list.at(-1)) ? toolUse(name, input, { id }) : text("Hello."),
    ]);
  };
}

function messagesIn(body: unknown): JsonObject[] {
  return isJsonObject(body) && Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
}

const OPENAI = { OPENAI_API_KEY: KEY, REPRISE_MODEL: "gpt-5.6" };

/** Starts each API with a behaviour. */
export const REFUSING_APIS = {
  "Responses": (behaviour: Behaviour): Promise<RefusingApi> => {
    const server = startResponsesServer({ script: responses(behaviour), key: KEY, rules: "none" });
    return Promise.resolve({
      env: { ...OPENAI, OPENAI_BASE_URL: server.baseUrl },
      newest: () => JSON.stringify(server.requests.at(-1)?.input),
      [Symbol.asyncDispose]: () => server.stop(),
    });
  },
  "Responses over a WebSocket": async (behaviour: Behaviour): Promise<RefusingApi> => {
    const server = await startResponsesSocket({ script: responses(behaviour) });
    return {
      env: { ...OPENAI, OPENAI_BASE_URL: server.baseUrl, REPRISE_TRANSPORT: "ws" },
      newest: () => JSON.stringify(server.requests.at(-1)?.input),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  "Messages": (behaviour: Behaviour): Promise<RefusingApi> => {
    const server: MessagesServer = startMessagesServer({ script: messages(behaviour), key: KEY });
    return Promise.resolve({
      env: {
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: server.baseUrl.replace(/\/v1$/, ""),
        REPRISE_PROVIDER: "anthropic",
        REPRISE_MODEL: "claude-opus-4-6",
      },
      newest: () => JSON.stringify(messagesIn(server.requests.at(-1)?.body)),
      [Symbol.asyncDispose]: () => server.stop(),
    });
  },
} as const;
