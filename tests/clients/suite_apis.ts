/**
 * The APIs of the suites in `suites/`: OpenAI's two and Anthropic's, each with its own address, with the answer to a
 * question in the question.
 */
import type { Json } from "../support/files.ts";
import { type ScriptedMessage, startChatServer } from "../support/scripted_api/chat.ts";
import { type RecordedMessages, says, startMessagesServer, text } from "../support/scripted_api/messages.ts";
import {
  answer,
  message,
  type RecordedRequest,
  startResponsesServer,
} from "../support/scripted_api/responses.ts";
import { listen } from "../support/scripted_api/server.ts";

/** Running APIs. */
export interface SuiteApis extends AsyncDisposable {
  /** Variables with their base URLs. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests that arrived, such as `POST /v1/responses`, in order. */
  readonly requests: readonly string[];
  /** Keys that arrived at each API. */
  readonly keys: Readonly<Record<"openai" | "anthropic", ReadonlySet<string>>>;
}

/** Starts the APIs. */
export function startSuiteApis(): SuiteApis {
  let polls = 0;
  const said = (question: string) => {
    if (/^Which .*capital of France/.test(question)) return "Paris.";
    return question !== "Is the job done?" ? `You asked: ${question}` : ++polls < 3 ? "Not yet." : "Done.";
  };
  const responses = startResponsesServer({
    script: ({ body }: RecordedRequest) => answer([message(said(questionIn((body as Json).input)))]),
  });
  const messages = startMessagesServer({
    script: ({ body }: RecordedMessages) => says([text(said(questionIn((body as Json).messages)))]),
  });
  const chat = startChatServer(chatStep);
  const requests: string[] = [];
  const keys = { openai: new Set<string>(), anthropic: new Set<string>() };
  const forward = async (incoming: Request, baseUrl: string) => {
    const { method, headers } = incoming;
    const { pathname } = new URL(incoming.url);
    requests.push(`${method} ${pathname}`);
    return await fetch(new URL(pathname, baseUrl), { method, headers, body: await incoming.text() });
  };
  const openai = listen((incoming) => {
    learn(keys.openai, incoming);
    return forward(incoming, incoming.url.endsWith("/chat/completions") ? chat.baseUrl : responses.baseUrl);
  });
  const anthropic = listen((incoming) => {
    learn(keys.anthropic, incoming);
    return forward(incoming, messages.baseUrl);
  });
  return {
    env: { OPENAI_BASE_URL: `${openai.origin}/v1`, ANTHROPIC_BASE_URL: anthropic.origin },
    requests,
    keys,
    async [Symbol.asyncDispose]() {
      await Promise.all([openai.stop(), anthropic.stop()]);
      await Promise.all([responses.stop(), messages.stop(), chat[Symbol.asyncDispose]()]);
    },
  };

  function chatStep(sent: readonly Json[]): ScriptedMessage {
    const results = sent.filter(({ role }) => role === "tool").map(({ content }) => content);
    if (results.length > 0) return { text: `The sums are ${results.join(" and ")}.` };
    const question = questionIn(sent);
    if (!question.startsWith("Add ")) return { text: said(question) };
    return { calls: [{ name: "add", args: { a: 1, b: 2 } }, { name: "add", args: { a: 3, b: 4 } }] };
  }
}

/** Adds the keys of a request. */
function learn(keys: Set<string>, { headers }: Request): void {
  for (const name of ["authorization", "x-api-key"]) {
    const key = headers.get(name)?.replace(/^Bearer /, "");
    if (key !== undefined) keys.add(key);
  }
}

/** Returns the text, or that of the last message. */
function questionIn(messages: unknown): string {
  if (typeof messages === "string") return messages;
  const { content } = (messages as readonly Json[]).at(-1) ?? {};
  if (typeof content === "string") return content;
  return (content as readonly Json[]).map((part) => part.text).join("");
}
