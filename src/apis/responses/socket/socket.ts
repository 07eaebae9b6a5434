/** The Responses API over a WebSocket (protocol §8.5). */
import type { SocketApi } from "../../socket.ts";
import { ResponsesChain } from "./chain.ts";
import { ResponsesConversation } from "./conversation.ts";
import { ResponsesLanes } from "./lanes.ts";
import {
  createMessage,
  emptyResponse,
  errorMessage,
  eventMessage,
  inLane,
  previousNotFound,
  readMessage,
  readSocketEvent,
  sseEvent,
} from "./messages.ts";

export const responsesSocket: SocketApi = {
  ownsPath: (pathname) => /\/responses\/?$/.test(pathname),
  readMessage,
  createMessage,
  readEvent: readSocketEvent,
  sseEvent,
  eventMessage,
  errorMessage,
  inLane,
  previousNotFound,
  newConversation: () => new ResponsesConversation(),
  emptyResponse,
  newChain: () => new ResponsesChain(),
  newLanes: () => new ResponsesLanes(),
};
