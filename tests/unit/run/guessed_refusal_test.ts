/** Refusals in words that are not known: one retry without reasoning, and a notice only where that helped. */
import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../../support/responses_server.ts";
import { functionCall, type ScriptedResponse } from "../../support/responses_server/script.ts";
import { httpError } from "../../support/responses_server/faults.ts";
import {
  OTHER_WORDS,
  OTHER_WORDS_UNNAMED,
  reasoningIds,
  reasoningOf,
  refuse,
  UNKNOWN_WORDS,
} from "../../support/responses_server/refusing.ts";
import { type Ran, type RefusedSession, refusedSession } from "./refusing.ts";
import { ECHO } from "./scripted.ts";
import { test } from "../../support/test.ts";

const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);
const DONE = answer([message("Done.")]);

const TOOLS = { tools: [ECHO], knownTools: [ECHO] };

/** Number of reasoning items in each request of a run. */
function counts({ server }: RefusedSession, { requests }: Ran): number[] {
  return server.requests.slice(...requests).map((request) => reasoningOf(request).length);
}

/** Refuses what holds the first reasoning item that there ever was. */
function refusesFirstItem(
  refusal: (id: string) => ScriptedResponse,
  onAnswer: (request: RecordedRequest) => void = () => {},
): Script {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    if (bad !== undefined && reasoningIds(request).includes(bad)) return refusal(bad);
    onAnswer(request);
    return TWO;
  };
}

async function assertSound(session: RefusedSession): Promise<void> {
  assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
  assert.deepEqual(await session.findings(), []);
}

test.long(
  "an item that is named in an unknown message is quarantined, and the next run does not meet the refusal",
  async () => {
    for (const [name, refusal] of Object.entries(OTHER_WORDS)) {
      await refusedSession({ script: refusesFirstItem(refusal), rules: "none" }, async (session) => {
        await session.run("One");
        const second = await session.run("Two");
        assert.equal(second.ended.state, "completed", name);
        assert.deepEqual(counts(session, second), [2, 0], name);
        const [notice] = session.notices();
        assert.deepEqual(notice?.items.map(({ action }) => action), ["quarantined", "quarantined"], name);
        const third = await session.run("Three");
        assert.deepEqual([third.ended.state, counts(session, third)], ["completed", [2]], name);
        await assertSound(session);
      });
    }
  },
);

const UNNAMED = { ...OTHER_WORDS_UNNAMED, ...UNKNOWN_WORDS };
test.long(
  "a refusal that names no item is tried without reasoning in two runs, then never met again",
  async () => {
    for (const [name, refusal] of Object.entries(UNNAMED)) {
      await refusedSession({ script: refusesFirstItem(refusal), rules: "none" }, async (session) => {
        await session.run("One");
        const sent = [];
        for (const words of ["Two", "Three", "Four"]) {
          const ran = await session.run(words);
          assert.equal(ran.ended.state, "completed", name);
          sent.push(counts(session, ran));
        }
        assert.deepEqual(sent, [[2, 0], [4, 0], [4]], name);
        const actions = session.notices().map(({ items }) => items.map(({ action }) => action));
        assert.deepEqual(actions, [
          ["left_out", "left_out"],
          ["quarantined", "quarantined", "left_out", "left_out"],
        ], name);
        await assertSound(session);
      });
    }
  },
);

Deno.test(
  "the notice of a guess is on disk once the retry has worked, not before, and says how to look",
  async () => {
    const seen: number[] = [];
    let opened: RefusedSession | undefined;
    const script = refusesFirstItem(OTHER_WORDS["expired"] as (id: string) => ScriptedResponse, () => {
      if (opened !== undefined) seen.push(opened.notices().length);
    });
    await refusedSession({ script, rules: "none" }, async (session) => {
      await session.run("One");
      opened = session;
      const { events } = await session.run("Two");
      assert.deepEqual([seen, session.notices().length], [[0], 1]);
      const reported = events.flatMap((event) =>
        event.type === "notice" && event.kind === "replay_stripped" ? [event] : []
      );
      assert.equal(reported.length, 1);
      assert.match(reported[0]?.hint ?? "", /"reprise explain /);
      const kinds = session.turns().filter(({ run }) => run === 2).map(({ kind }) => kind);
      assert.deepEqual(
        kinds,
        ["user", "harness", "model", "harness"],
        "before the response that it explains",
      );
    });
  },
);

test.long(
  "a retry in vain leaves no trace: the first refusal counts, and the next run sends everything",
  async () => {
    for (const [name, refusal] of Object.entries({ ...OTHER_WORDS, ...UNNAMED })) {
      let run = 1;
      const script: Script = (request) => {
        if (run !== 2) return TWO;
        const [id] = reasoningIds(request);
        return id === undefined ? httpError(400, { message: "Still bad." }) : refusal(id);
      };
      await refusedSession({ script, rules: "none" }, async (session) => {
        await session.run("One");
        run = 2;
        const second = await session.run("Two");
        assert.equal(second.ended.state, "failed", name);
        assert.deepEqual(counts(session, second), [2, 0], name);
        assert.deepEqual(session.notices(), [], name);
        const error = second.events.find(({ type }) => type === "error");
        assert.ok(error?.type === "error" && !/Still bad/.test(String(error.message)), name);
        assert.match(String(error.hint), /--replay none/, name);
        run = 3;
        const third = await session.run("Three");
        assert.deepEqual([third.ended.state, counts(session, third)], ["completed", [2]], name);
        await assertSound(session);
      });
    }
  },
);

Deno.test("a retry that fails for another reason ends the run with that, and leaves no trace", async () => {
  const failures: readonly [ScriptedResponse, number][] = [
    [httpError(402, { message: "Pay first." }), 9],
    [httpError(401, { message: "Who?", code: "invalid_api_key" }), 8],
    [answer([], { end: { kind: "failed", error: { code: "insufficient_quota", message: "Pay" } } }), 9],
  ];
  for (const [failure, exitCode] of failures) {
    let run = 1;
    const script: Script = (request) => {
      if (run === 1) return TWO;
      return reasoningOf(request).length > 0 ? refuse({ message: "Bad Request" }, "http") : failure;
    };
    await refusedSession({ script, rules: "none" }, async (session) => {
      await session.run("One");
      run = 2;
      const { ended } = await session.run("Two");
      assert.equal(ended.exit_code, exitCode);
      assert.deepEqual(session.notices(), []);
      await assertSound(session);
    });
  }
});

Deno.test("a run tries blindly at most once", async () => {
  let run = 1;
  const script: Script = (request) => {
    if (run === 1) return TWO;
    if (run === 3) return DONE;
    if (reasoningOf(request).length > 0) return refuse({ message: "Bad Request" }, "http");
    return answer([reasoning("again"), functionCall("echo", { text: "a" })]);
  };
  await refusedSession({ script, rules: "none" }, async (session) => {
    await session.run("One", TOOLS);
    run = 2;
    const second = await session.run("Two", TOOLS);
    assert.equal(second.ended.exit_code, 13);
    assert.deepEqual(counts(session, second), [2, 0, 1], "the second step's refusal is not tried again");
    assert.equal(session.notices().length, 1);
    const error = second.events.find(({ type }) => type === "error");
    assert.ok(error?.type === "error");
    assert.match(String(error.hint), /--replay none/);
    run = 3;
    const third = await session.run("Three", { ...TOOLS, replay: "none" });
    assert.deepEqual(counts(session, third), [0], "what the hint says goes through");
  });
});

test.long("a failure that does not come from reasoning is not tried again", async () => {
  const refusals: Readonly<Record<string, ScriptedResponse>> = {
    miss: httpError(400, { message: "No recorded exchange matches", code: "fixture_miss" }),
    context: httpError(400, { message: "maximum context length is 8192 tokens", param: "input" }),
    quota: httpError(400, { message: "No.", code: "insufficient_quota" }),
    billing: httpError(400, { message: "Your credit balance is too low" }),
    policy: httpError(400, { message: "Your reasoning violates our usage policy", code: "invalid_prompt" }),
    filter: httpError(400, { message: "Filtered.", code: "content_filter", param: "input" }),
    model: httpError(404, { message: "No such model", code: "model_not_found" }),
    "model in words": httpError(404, { message: "model 'x' not found" }),
    key: httpError(400, { message: "API key not valid. Please pass a valid API key." }),
    field: httpError(400, { message: "Invalid value for reasoning.", param: "reasoning.effort" }),
    "other status": httpError(405, { message: "encrypted_content too old" }),
    "too large": httpError(413, { message: "encrypted_content too large" }),
  };
  for (const [name, refusal] of Object.entries(refusals)) {
    let run = 1;
    await refusedSession({ script: () => run === 1 ? TWO : refusal, rules: "none" }, async (session) => {
      await session.run("One");
      run = 2;
      const second = await session.run("Two");
      assert.deepEqual(counts(session, second), [2], name);
      assert.equal(second.ended.state, "failed", name);
      assert.deepEqual(session.notices(), [], name);
    });
  }
});

Deno.test("a request without reasoning is not tried again, whatever the refusal says", async () => {
  for (const [name, refusal] of Object.entries(UNNAMED)) {
    await refusedSession({ script: () => refusal(), rules: "none" }, async (session) => {
      const { ended, requests } = await session.run("One");
      assert.deepEqual([ended.state, requests[1] - requests[0]], ["failed", 1], name);
    });
  }
});

Deno.test("if a replay has no recording of the retry, the recorded refusal counts", async () => {
  const refusals = [
    { ...OTHER_WORDS_UNNAMED, ...UNKNOWN_WORDS }["bad request"],
    OTHER_WORDS_UNNAMED["too old"],
  ];
  for (const refusal of refusals) {
    let run = 1;
    await refusedSession({
      script: () => run === 1 ? TWO : (refusal as () => ScriptedResponse)(),
      rules: "none",
    }, async (session) => {
      await session.run("One");
      run = 2;
      const reached = session.sendingTo(session.server);
      let sent = 0;
      const second = await session.run("Two", {
        ...reached,
        send: (request, signal) => {
          sent += 1;
          if (sent === 1) return reached.send(request, signal);
          return Promise.reject(new RepriseError("fixture_miss", "Cannot answer request 2 from the fixture"));
        },
      });
      assert.deepEqual([second.ended.exit_code, sent], [13, 2]);
      assert.deepEqual(session.notices(), []);
    });
  }
});

Deno.test("a guess in the middle of an answer: its call is not run, and the retry answers", async () => {
  let calls = 0;
  const tools = [{ ...ECHO, run: () => Promise.resolve({ status: "ok" as const, output: String(++calls) }) }];
  let refusals = 0;
  const script: Script = ({ input }) => {
    if (input.length === 1) return TWO;
    if (refusals++ > 0) return DONE;
    return answer([reasoning("again"), functionCall("echo", { text: "a" })], {
      end: {
        kind: "failed",
        error: { code: null, message: "The reasoning content could not be decrypted." },
      },
    });
  };
  await refusedSession({ script }, async (session) => {
    await session.run("One", { tools, knownTools: tools });
    const second = await session.run("Two", { tools, knownTools: tools });
    assert.deepEqual([second.ended.state, calls], ["completed", 0]);
    const [refused, retried, ...more] = session.server.requests.slice(...second.requests).map(reasoningIds);
    assert.deepEqual([refused?.length, more.length], [2, 0]);
    assert.ok(!refused?.some((id) => retried?.includes(id)), "no reasoning of the refused request");
    const harness = session.turns().find(({ events }) => events.some(({ type }) => type === "replay_notice"));
    assert.deepEqual(harness?.events.map(({ type }) => type), ["tool_result", "replay_notice"]);
    assert.equal((await session.run("Three", { tools, knownTools: tools })).ended.state, "completed");
    assert.deepEqual(session.server.refusals, [], "the rules accept every request");
    await assertSound(session);
  });
});

Deno.test(
  "a retry that is refused after it brought something: nothing is quarantined, and the session is sound",
  async () => {
    let run = 1;
    let bad = "";
    const script: Script = (request) => {
      if (run !== 2) return TWO;
      const error = {
        code: "invalid_request_error",
        message: `reasoning item ${bad ||= String(reasoningIds(request)[0])} expired`,
      };
      return reasoningOf(request).length > 0
        ? answer([], { end: { kind: "failed", error } })
        : answer([message("Half")], { end: { kind: "failed", error } });
    };
    await refusedSession({ script, rules: "none" }, async (session) => {
      await session.run("One");
      run = 2;
      const second = await session.run("Two");
      assert.deepEqual([second.ended.exit_code, counts(session, second)], [13, [2, 0]]);
      const actions = session.notices().flatMap(({ items }) => items.map(({ action }) => action));
      assert.deepEqual(actions, ["left_out", "left_out"]);
      run = 3;
      assert.deepEqual(counts(session, await session.run("Three")), [2]);
      await assertSound(session);
    });
  },
);

Deno.test("quarantine for a retry that was refused as well is lifted with the end of the run", async () => {
  let run = 1;
  const script: Script = (request) => {
    if (run !== 2) return TWO;
    const id = reasoningIds(request)[0];
    return id === undefined ? refuse({ message: "Still bad." }, "http") : refuse({
      message: `The encrypted content for item ${id} could not be verified.`,
      code: "invalid_encrypted_content",
    }, "http");
  };
  await refusedSession({ script, rules: "none" }, async (session) => {
    await session.run("One");
    run = 2;
    const second = await session.run("Two");
    assert.deepEqual([second.ended.exit_code, counts(session, second)], [13, [2, 0]]);
    assert.deepEqual(session.notices().map(({ reason, items }) => [reason, items[0]?.action]), [
      ["reasoning_refused", "quarantined"],
      ["quarantine_lifted", "lifted"],
    ]);
    run = 3;
    const third = await session.run("Three");
    assert.deepEqual([third.ended.state, counts(session, third)], ["completed", [2]]);
    await assertSound(session);
  });
});
