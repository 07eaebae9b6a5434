/**
 * Sessions whose server speaks Messages: promises about them, and what was sent in a run.
 *
 * @module
 */
import assert from "node:assert/strict";
import { messagesApi } from "../../../src/apis/messages/api.ts";
import {
  type MessagesServer,
  type MessagesServerOptions,
  startMessagesServer,
  text,
} from "../../support/messages_server.ts";
import { says } from "../../support/messages_server/script.ts";
import { type Ran, type SessionRuns, sessionRuns } from "./refusing.ts";
import { ECHO } from "./scripted.ts";

/** Its thinking is bound to what came before it. */
export const BOUND = "claude-opus-5-5";
/** Its thinking is good anywhere. */
export const UNBOUND = "claude-opus-5";

/** An answer that ends every loop. */
export const DONE = says([text("Done.")]);

/**
 * A promise about a session of its own; `differing` requests of it no longer fold to what was sent.
 */
export function promise(
  name: string,
  options: MessagesServerOptions,
  body: (session: SessionRuns<MessagesServer>) => Promise<void>,
  { model = BOUND, differing = 0 }: { readonly model?: string; readonly differing?: number } = {},
): void {
  Deno.test(name, async () => {
    await using server = startMessagesServer(options);
    const tools = [ECHO];
    await sessionRuns(server, {
      api: messagesApi,
      provider: "anthropic",
      model,
      tools,
      knownTools: tools,
    }, async (session) => {
      await body(session);
      assert.deepEqual(await session.findings(), []);
      const unlike = session.verdicts().filter((verdict) => verdict !== "same");
      assert.deepEqual(unlike, Array(differing).fill("differs"), "the requests fold again to their bytes");
    });
  });
}

/** The requests of a run. */
export const sentIn = ({ server }: SessionRuns<MessagesServer>, { requests }: Ran) =>
  server.requests.slice(...requests);
