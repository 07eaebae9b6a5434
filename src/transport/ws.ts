/**
 * The members of npm `ws` that the program uses, with types. Takes longer to load than a short call: import modules that
 * need it dynamically.
 */
// @ts-types="./ws.d.ts"
export { Sender, WebSocket, WebSocketServer } from "ws";
