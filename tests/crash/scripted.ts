/** Runs in this process: a played answer for each request, real files, recorded events. */
import * as z from "zod";
import type { Ports } from "../../src/domain/ports.ts";
import { responsesApi } from "../../src/apis/responses/api.ts";
import type { RunEvent } from "../../src/run/events.ts";
import { PermissionGate } from "../../src/run/permission_gate.ts";
import type { RunSetup } from "../../src/run/setup.ts";
import { type RunLimits, Stop } from "../../src/run/outcome.ts";
import type { SessionWriter } from "../../src/store/write/writer.ts";
import { parsePolicy } from "../../src/tools/permission/policy.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createPlayer, type PlayedAnswer } from "../../src/transport/player.ts";
import type { Send } from "../../src/transport/http.ts";
import { Issuer, responseBytes } from "../support/scripted_api/responses.ts";
import type { ScriptedResponse } from "../support/scripted_api/responses_script.ts";

/** The played exchanges of scripted answers. */
export function exchanges(script: readonly ScriptedResponse[]): PlayedAnswer[] {
  const issuer = new Issuer();
  const body = { model: "gpt-5.6", stream_options: { include_obfuscation: false } };
  return script.map((response): PlayedAnswer => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: [responseBytes(response, { issuer, body })],
  }));
}

/** A tool of the read group that takes any arguments. */
export function readTool(name: string, run: Tool["run"]): Tool {
  return {
    name,
    description: name,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    shape: z.looseObject({}) as unknown as Tool["shape"],
    group: "read",
    subject: () => ({ tool: name, group: "read", target: { kind: "none" } }),
    run,
  };
}

/** Returns its argument `text`. */
export const ECHO = readTool("echo", (args) => Promise.resolve({ status: "ok", output: String(args.text) }));

/** A run's setup with everything ordinary, its events, and the bodies that it sent. */
export interface Scripted {
  readonly setup: RunSetup;
  readonly events: RunEvent[];
  readonly bodies: string[];
}

/** Parts of a setup that a test may replace, its limits among them. */
export type SetupOverrides = Partial<RunSetup> & Partial<RunLimits>;

/** Sets up a run of `writer` that is answered by `script`. */
export function scripted(
  ports: Ports,
  writer: SessionWriter,
  options: { readonly script: readonly ScriptedResponse[] } & SetupOverrides,
): Scripted {
  const { script, maxSteps = 50, maxTokens, autoCompact, failOnDenied, ...others } = options;
  const { maxCost, outputPrice, ...overrides } = others;
  const events: RunEvent[] = [];
  const bodies: string[] = [];
  const player = createPlayer(exchanges(script));
  const send: Send = (request, signal) => {
    bodies.push(request.body);
    return player(request, signal);
  };
  const setup: RunSetup = {
    ports,
    writer,
    api: responsesApi,
    send,
    emit: (event) => events.push(event),
    stop: new Stop(),
    provider: "openai",
    urlOf: (path) => `https://api.openai.com/v1${path}`,
    endpoint: "1f3a9c02",
    key: null,
    model: "gpt-5.6",
    instructions: "Be brief.",
    tools: [],
    knownTools: overrides.tools ?? [],
    gate: new PermissionGate(parsePolicy({ allow: [], deny: [], ask: false, tools: new Map() }), null),
    permissions: ["read"],
    playback: null,
    keys: () => Promise.resolve({ bytes: (bytes) => bytes, namesIn: () => [] }),
    resumeFlags: [],
    configRules: [],
    account: null,
    cacheKey: writer.manifest?.family ?? writer.id,
    limits: { maxSteps, maxTokens, maxCost, outputPrice, autoCompact, failOnDenied },
    costOf: null,
    strictDrift: false,
    window: null,
    protectedPaths: [],
    workspaceRoot: "/",
    replay: "exact",
    ...overrides,
  };
  return { setup, events, bodies };
}
