/** The items that a request leaves out, each with its reason, as the turn on disk and the request itself show them. */
import assert from "node:assert/strict";
import type { DropReason } from "../../../../src/domain/turn.ts";
import { read } from "../../../support/calls.ts";
import { rawBlock, says, text, thinking } from "../../../support/messages_server/script.ts";
import { type GivenRun, type PlayedRequest, PlayedSession } from "../../../support/played_session.ts";
import { answer, message, reasoning } from "../../../support/responses_server.ts";
import { functionCall, rawItem, type ScriptedResponse } from "../../../support/responses_server/script.ts";
import { httpError } from "../../../support/responses_server/faults.ts";
import { test } from "../../../support/test.ts";

const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
const GREETING: GivenRun = { args: ["Hello?"], answers: [HELLO] };
const NEXT: GivenRun = { args: ["And now?"], answers: [HELLO] };
const CLAUDE = { model: "claude-fable-5-1" };
/** Longer than the checkpoint that replaces it. */
const LONG = "Hello, hello, hello. ".repeat(80).trim();
/** Reasoning whose id the server repeats. */
const REPEATED = rawItem({ id: "rs_same", type: "reasoning", summary: [], encrypted_content: "opaque" });
const WEB_SEARCH = rawItem({
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "hello" },
});
const SHELL_CALL = rawItem({
  id: "sh_1",
  type: "shell_call",
  call_id: "call_s",
  status: "completed",
  action: { commands: ["ls"] },
});

interface Dropped {
  /** The runs before the last one. @default {[GREETING]} */
  readonly before?: readonly GivenRun[];
  /** A verb between the runs and the last one. */
  readonly verb?: readonly string[];
  /** The last run; a function where its answers name an item that an earlier answer issued. */
  readonly last: GivenRun | ((reasoningId: string) => GivenRun);
  /** Items that its last answered request left out. */
  readonly dropped: readonly DropReason[];
  /** The types of the items that this request holds, or of the blocks of a Messages request. */
  readonly sent: string;
}

const WITHOUT_REASONING = "message message message";

/** By the reason that is shown. tests/cli/import_agent_sources_test.ts has the case of `imported`. */
const CASES: Readonly<Record<Exclude<DropReason, "before_checkpoint" | "imported">, Dropped>> = {
  replay_off: {
    last: { ...NEXT, args: ["--replay", "none", "And now?"] },
    dropped: ["replay_off"],
    sent: WITHOUT_REASONING,
  },
  outside_window: {
    last: { ...NEXT, args: ["--replay", "last:0", "And now?"] },
    dropped: ["outside_window"],
    sent: WITHOUT_REASONING,
  },
  other_model: {
    last: { ...NEXT, model: "gpt-5.4-mini" },
    dropped: ["other_model"],
    sent: WITHOUT_REASONING,
  },
  other_endpoint: {
    last: { ...NEXT, baseUrl: "https://eu.api.openai.com/v1" },
    dropped: ["other_endpoint"],
    sent: WITHOUT_REASONING,
  },
  other_provider: {
    last: { args: ["And now?"], says: [says([text("Hello.")])] },
    dropped: ["other_provider"],
    sent: "text text text",
  },
  // The account is known once an answer names it: the first request of the run still holds the reasoning.
  other_account: {
    before: [{ ...GREETING, organization: "org-one" }],
    last: {
      ...NEXT,
      organization: "org-two",
      answers: [answer([reasoning("Looking"), read("a.txt")]), HELLO],
    },
    dropped: ["other_account"],
    sent: "message message message reasoning function_call function_call_output",
  },
  no_encrypted_content: {
    before: [{
      ...GREETING,
      answers: [answer([rawItem({ id: "rs_empty", type: "reasoning", summary: [] }), message("Hello.")])],
    }],
    last: NEXT,
    dropped: ["no_encrypted_content"],
    sent: WITHOUT_REASONING,
  },
  no_following_item: {
    before: [{ ...GREETING, faults: { 1: "cut after 8 events" } }],
    last: NEXT,
    dropped: ["no_following_item"],
    sent: "message message",
  },
  duplicate_id: {
    before: [
      { ...GREETING, provider: "compatible", answers: [answer([REPEATED, message("Hello.")])] },
      { ...NEXT, provider: "compatible", answers: [answer([REPEATED, message("Hello.")])] },
    ],
    last: { args: ["And then?"], provider: "compatible", answers: [HELLO] },
    dropped: ["duplicate_id"],
    sent: "message message message reasoning message message",
  },
  quarantined: {
    last: (id) => ({
      ...NEXT,
      answers: [refuses(`The encrypted content for item ${id} could not be verified.`), HELLO],
    }),
    dropped: ["quarantined"],
    sent: WITHOUT_REASONING,
  },
  refused_in_run: {
    last: { ...NEXT, answers: [refuses("The encrypted content gAAA...DQ== could not be verified."), HELLO] },
    dropped: ["refused_in_run"],
    sent: WITHOUT_REASONING,
  },
  call_refused: {
    last: {
      ...NEXT,
      answers: [
        answer([
          reasoning("Looking"),
          functionCall("read_file", { path: "a.txt", offset: null, limit: null }, { callId: "call_a" }),
        ]),
        httpError(400, { message: "No tool output found for function call call_a.", param: "input" }),
        HELLO,
      ],
    },
    dropped: ["no_following_item", "call_refused", "call_refused"],
    sent: "message reasoning message message",
  },
  call_not_run: {
    before: [{
      args: ["Hello?"],
      answers: [answer([reasoning("Looking"), read("a.txt")], {
        end: { kind: "failed", error: { code: "server_error", message: "The server had an error" } },
      })],
    }],
    last: NEXT,
    dropped: ["no_following_item", "call_not_run", "call_not_run"],
    sent: "message message",
  },
  reasoning_dropped: {
    before: [{ ...GREETING, answers: [answer([reasoning("Searching"), WEB_SEARCH, message("Hello.")])] }],
    last: { ...NEXT, args: ["--replay", "none", "And now?"] },
    dropped: ["replay_off", "reasoning_dropped"],
    sent: WITHOUT_REASONING,
  },
  unanswered_call: {
    before: [{ ...GREETING, answers: [answer([reasoning("Thinking"), SHELL_CALL, message("Hello.")])] }],
    last: NEXT,
    dropped: ["no_following_item", "unanswered_call"],
    sent: WITHOUT_REASONING,
  },
  unsigned: {
    before: [{
      args: ["Hello?"],
      ...CLAUDE,
      says: [says([rawBlock({ type: "thinking", thinking: "Thinking", signature: "" }), text("Hello.")])],
    }],
    last: { args: ["And now?"], ...CLAUDE, says: [says([text("Hello again.")])] },
    dropped: ["unsigned"],
    sent: "text text text",
  },
  omitted: {
    verb: ["omit", "s", "--seq", "2"],
    last: NEXT,
    dropped: ["omitted", "omitted"],
    sent: "message message",
  },
  prefix_changed: {
    before: [
      { args: [LONG], ...CLAUDE, says: [says([thinking("Thinking"), text(LONG)])] },
      { args: ["And now?"], ...CLAUDE, says: [says([thinking("Again"), text("Hello again.")])] },
    ],
    verb: ["compact", "s", "--tail-events", "6"],
    last: { args: ["And then?"], ...CLAUDE, says: [says([text("Hello once more.")])] },
    dropped: ["prefix_changed"],
    sent: "text text text text",
  },
};

for (const [reason, { before = [GREETING], verb, last, dropped, sent }] of Object.entries(CASES)) {
  test.long(`a request leaves out what is ${reason}, and the turn gives that reason`, async () => {
    await using session = await PlayedSession.open({ "a.txt": "alpha\n" });
    for (const run of before) await session.run(run);
    if (verb !== undefined) assert.equal((await session.call(...verb)).exit, 0);
    const [made] = session.events("reasoning");
    const run = typeof last === "function" ? last(String(made?.item.id)) : last;
    const { exit, state, requests } = await session.run(run);
    assert.deepEqual([exit, state], [0, "completed"]);
    assert.deepEqual(session.dropped(), dropped);
    assert.equal(typesOf(requests.at(-1) ?? {}), sent);
    assert.equal((await session.call("fsck", "s", "--requests")).exit, 0);
  });
}

/** Refuses the reasoning of a request. */
function refuses(words: string): ScriptedResponse {
  return httpError(400, { message: words, param: "input", code: "invalid_encrypted_content" });
}

/** The types of all items or blocks of a request, in order. */
function typesOf(request: PlayedRequest): string {
  const items = request.input ?? request.messages?.flatMap(({ content }) => content) ?? [];
  return items.map(({ type }) => type ?? "message").join(" ");
}
