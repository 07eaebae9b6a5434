/** The WebSocket client of the `openai` package as its users use it: one connection, a tool loop on it. */
import { ResponsesWS } from "openai/resources/responses/ws";
import type { ResponseInput, ResponsesServerEvent } from "openai/resources/responses/responses";
import { bodyOf, clientAt, loop, type Step } from "./openai.ts";
import type { Change, Client, Thrown } from "./support.ts";

/** Use of the connection: the whole history each time, or new items only, also after a request without any. */
type Use = "whole" | "continuing" | "warm";

/** Sends the whole history with each request. */
export const whole = client("whole");
/** Sends new items only. */
export const continuing = client("continuing");
/** Sends new items only, after a warm-up with the tools and the instructions alone. */
export const warm = client("warm");

function client(use: Use): Client {
  return async (origin, change) => {
    const socket = new ResponsesWS(clientAt(origin));
    try {
      return await loop((_, change) => stepsOf(socket, use, change))(origin, change);
    } finally {
      socket.close();
    }
  };
}

function stepsOf(socket: ResponsesWS, use: Use, change: Change): Step {
  let previous: { readonly previous_response_id?: string } = {};
  let isWarm = use !== "warm";
  return async (body, added) => {
    if (!isWarm) {
      const { id } = (await ask(socket, { ...bodyOf([], change), generate: false })).response;
      previous = { previous_response_id: id };
      isWarm = true;
    }
    const input = "previous_response_id" in previous ? added : body.input;
    const asked = await ask(socket, { ...body, input, ...previous });
    if (use !== "whole") previous = { previous_response_id: asked.response.id };
    return asked;
  };
}

type Body = ReturnType<typeof bodyOf> & { readonly input: ResponseInput; readonly generate?: boolean };

/** Sends a message and hears its answer. The package reports an error event as an event and as an error. */
function ask(socket: ResponsesWS, body: Body): ReturnType<Step> {
  const heard: ResponsesServerEvent[] = [];
  return new Promise((resolve, reject) => {
    const listen = (event: ResponsesServerEvent) => {
      heard.push(event);
      if (event.type === "error") reject(event);
      if (event.type !== "response.completed") return;
      socket.off("event", listen);
      resolve({ response: event.response, heard });
    };
    socket.on("event", listen);
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`The connection closed with ${code}`)));
    socket.send({ type: "response.create", ...body });
  });
}

/** Converts an error event. */
export function socketError(event: unknown): Thrown {
  if (event instanceof Error) throw event;
  const { status, error: { type, code, param, message } } = event as {
    readonly status: number;
    readonly error: Omit<Thrown, "status">;
  };
  return { status, type, code, param, message };
}
