/**
 * The Responses API over a WebSocket (protocol §8.5): each request and each event is one text message. A request and its
 * events have an HTTP equivalent, so that all code that reads requests and answers works on both.
 */
import { ResponseChain } from "./chain.ts";
import { SocketConversation } from "./conversation.ts";
import { Lanes } from "./lanes.ts";
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

export type SocketApi = typeof responsesSocket;

export const responsesSocket = {
  /** True for the path of the upgrade and of its requests over HTTP. */
  ownsPath: (pathname: string) => /\/responses\/?$/.test(pathname),
  readMessage,
  createMessage,
  readEvent: readSocketEvent,
  sseEvent,
  eventMessage,
  errorMessage,
  inLane,
  previousNotFound,
  newConversation: () => new SocketConversation(),
  emptyResponse,
  newChain: () => new ResponseChain(),
  newLanes: <Request>() => new Lanes<Request>(),
};
