/** Ports on the real disk with a fixed clock, and small drafts of turns. */
import type { EventDraft } from "../../src/domain/event.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import type { Files, Ports, ProcessFacts } from "../../src/domain/ports.ts";
import type { Pins, TurnDraft } from "../../src/domain/turn.ts";
import { denoFiles, hasOpenFile, processIdentity } from "../../src/store/deno_files.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";

const encoder = new TextEncoder();

/** The instructions and tool schemas that every test session pins. */
export const INSTRUCTIONS = encoder.encode("You are a careful agent.");
export const TOOLS = encoder.encode("[]");

/** Pins that name {@linkcode INSTRUCTIONS} and {@linkcode TOOLS}. */
export function pinsFor(workspace = "/workspace"): Pins {
  return {
    fingerprint: { provider: "openai", endpoint: "1f3a9c02", account: null },
    model: "gpt-5.6",
    instructions: sha256Hex(INSTRUCTIONS),
    tools: sha256Hex(TOOLS),
    permissions: ["read"],
    workspace,
  };
}

/** This process on a host of its own; its other facts are the real ones, or those of `overrides`. */
export function testProcess(overrides: Partial<ProcessFacts> = {}): ProcessFacts {
  return {
    pid: Deno.pid,
    host: "test-host",
    user: Deno.uid(),
    identityOf: processIdentity,
    hasOpen: hasOpenFile,
    ...overrides,
  };
}

/** Ports on the real disk; the clock advances a second with each look, randomness is seeded. */
export function testPorts(overrides: Partial<Ports> = {}): Ports {
  let instant = Date.UTC(2026, 10, 21, 20, 18, 0);
  let state = 1;
  return {
    clock: {
      now: () => (instant += 1000),
      monotonic: () => performance.now(),
      sleep: (milliseconds, signal) =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
          });
        }),
    },
    random: () => (state = (state * 48271) % 2147483647) / 2147483647,
    env: () => undefined,
    process: testProcess(),
    files: denoFiles,
    fetch: globalThis.fetch,
    workingDirectory: () => Deno.cwd(),
    workspacePin: (directory) => directory,
    ...overrides,
  };
}

/** Ports whose files go through `files`. */
export function portsOn(files: Files): Ports {
  return testPorts({ files });
}

/** Puts the blobs that {@linkcode pinsFor} names. */
export function putPinned(writer: SessionWriter): void {
  writer.putBlob(INSTRUCTIONS);
  writer.putBlob(TOOLS);
}

/** A user turn. */
export function userDraft(text: string, run = 1): TurnDraft {
  return {
    kind: "user",
    run,
    pins: pinsFor(),
    events: [{ type: "user_message", content: [{ type: "input_text", text }] }],
  };
}

/** A completed response with those events and a usage. */
export function modelDraft(events: readonly EventDraft[], run = 1): TurnDraft {
  return {
    kind: "model",
    run,
    model: { asked: "gpt-5.6", answered: "gpt-5.6-2026-08-01" },
    fingerprint: { provider: "openai", endpoint: "1f3a9c02", account: "7be1000000000000" },
    response: { id: "resp_1", status: "completed" },
    request: {
      body_sha256: sha256Hex("body"),
      fold: 1,
      fields: { model: "gpt-5.6", instructions: { blob: sha256Hex(INSTRUCTIONS) } },
      guard: { sent: 0, dropped: [] },
    },
    events: [...events, { type: "provider_usage", usage: { input_tokens: 1, output_tokens: 1 } }],
  };
}

/** A call of `read_file`. */
export function call(callId: string): EventDraft {
  return {
    type: "tool_call",
    item: { id: "fc_1", type: "function_call", call_id: callId, name: "read_file", arguments: "{}" },
  };
}

/** The result of the call with that seq. */
export function result(callId: string, callSeq: number): EventDraft {
  return {
    type: "tool_result",
    call_id: callId,
    call_seq: callSeq,
    tool: "read_file",
    status: "ok",
    output: "content",
  };
}

/** A reasoning item. */
export function reasoning(id: string): EventDraft {
  return {
    type: "reasoning",
    item: { id, type: "reasoning", summary: [], encrypted_content: "gAAAA" },
  };
}

/** An assistant message. */
export function answer(text: string): EventDraft {
  return {
    type: "assistant_message",
    item: { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text }] },
  };
}

/** The turn that ends a run. */
export function endDraft(run = 1): TurnDraft {
  return {
    kind: "harness",
    run,
    events: [{
      type: "run_ended",
      run,
      state: "completed",
      exit_code: 0,
      usage: { input_tokens: 10, cached_tokens: 2, output_tokens: 5, reasoning_tokens: 3 },
    }],
  };
}
