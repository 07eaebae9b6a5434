/**
 * A client as a program of its own, which finds the API by its environment: prints what it reports, or the error that
 * it ends with, and exits with 0 all the same.
 *
 * Arguments: the client's name, and what it changes, as JSON.
 *
 * @module
 */
import type { Change, Client } from "./support.ts";

const CLIENTS: Readonly<Record<string, () => Promise<Client>>> = {
  "openai": async () => (await import("./openai.ts")).streaming,
  "openai, continuing": async () => (await import("./openai_socket.ts")).continuing,
  "openai, warm": async () => (await import("./openai_socket.ts")).warm,
  "openai, whole": async () => (await import("./openai_socket.ts")).whole,
  "openai, lanes": async () => (await import("./openai_socket.ts")).lanes,
  "@openai/agents": async () => (await import("./agents.ts")).streamed,
  "ai": async () => (await import("./ai_sdk.ts")).streamed,
  "@anthropic-ai/sdk": async () => (await import("./anthropic.ts")).accumulating,
};

const [name = "", change = "{}"] = Deno.args;
const load = CLIENTS[name];
if (load === undefined) throw new Error(`There is no client ${name}`);
const client = await load();
const reported = await client(undefined, JSON.parse(change) as Change)
  .then((report) => JSON.stringify(report), String);
await new Blob([`${reported}\n`]).stream().pipeTo(Deno.stdout.writable);
