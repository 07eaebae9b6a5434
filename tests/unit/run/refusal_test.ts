/** Refused requests: repaired once, recorded on disk, and not sent again (protocol §6.2). */
import assert from "node:assert/strict";
import type { EventType, SessionEvent } from "../../../src/domain/event.ts";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../../support/responses_server.ts";
import {
  reasoningIds,
  reasoningOf,
  REFUSAL_SHAPES,
  type RefusalShape,
  type RefusalText,
  refuse,
} from "../../support/responses_server/refusing.ts";
import { type RefusedSession, refusedSession } from "./refusing.ts";
import { test } from "../../support/test.ts";

/** Two reasoning items and an answer: one of the two will be what the API refuses. */
const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);

type TextOf = (request: RecordedRequest, id: string) => RefusalText;

/** The texts that name an item, by id or by place. */
const NAMED: Readonly<Record<string, TextOf>> = {
  "without its following item": (_, id) => ({
    message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    param: "input",
  }),
  "cannot be decrypted": (_, id) => ({
    message: `The encrypted content for item ${id} could not be verified. ` +
      "Reason: Encrypted content could not be decrypted or parsed.",
    code: "invalid_encrypted_content",
  }),
  "of another organization": (_, id) => ({
    message: `The encrypted content for item ${id} could not be verified. ` +
      "Reason: Encrypted content organization_id did not match the target organization.",
    code: "invalid_encrypted_content",
  }),
  "not persisted, as 404": (_, id) => ({ ...notPersisted(id), status: 404 }),
  "not persisted, as 400": (_, id) => notPersisted(id),
  "duplicate": (_, id) => ({
    message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
    param: "input",
  }),
  // Names no id but a place, whose members are all on the whitelist.
  "unknown parameter of a reasoning item": (request, id) => {
    const param = `input[${placeOf(request, id)}].status`;
    return { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
  },
  "wrong prefix": (request, id) => {
    const param = `input[${placeOf(request, id)}].id`;
    return { message: `Invalid '${param}': 'x'. Expected an ID that begins with 'rs'.`, param };
  },
};

/** Those of an item that is readable, but not accepted where it is: no other item is the worse for it. */
const MISPLACED: ReadonlySet<string> = new Set([
  "without its following item",
  "duplicate",
  "unknown parameter of a reasoning item",
  "wrong prefix",
]);

/** The texts that name none, or one that was not sent. */
const UNNAMED: Readonly<Record<string, TextOf>> = {
  "older text with a shortened blob": () => ({
    message: "The encrypted content gAAA...DQ== could not be verified.",
    code: "invalid_encrypted_content",
  }),
  "older text without a code": () => ({
    message: "The encrypted content gAAA...DQ== could not be verified.",
  }),
  "required reasoning that was never sent": () => ({
    message: "Item 'msg_0' of type 'message' was provided without its required 'reasoning' item: 'rs_0'.",
    param: "input",
  }),
  "of another organization, without an item": () => ({
    message: "Encrypted content organization_id did not match the target organization.",
    code: "invalid_encrypted_content",
  }),
};

function notPersisted(id: string): RefusalText {
  return {
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
      "Try again with `store` set to true, or remove this item from your input.",
    param: "input",
  };
}

function placeOf({ input }: RecordedRequest, id: string): number {
  return input.findIndex((item) => item.id === id);
}

/** Answers everything but requests that hold the first reasoning item that there ever was. */
function refusesFirstItem(text: TextOf, shape: RefusalShape, onAnswer: () => void = () => {}): Script {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    if (bad !== undefined && reasoningIds(request).includes(bad)) return refuse(text(request, bad), shape);
    onAnswer();
    return TWO;
  };
}

function counts(session: RefusedSession, [from, to]: readonly [number, number]): number[] {
  return session.server.requests.slice(from, to).map((request) => reasoningOf(request).length);
}

function eventsOf(session: RefusedSession, type: EventType): SessionEvent[] {
  return session.turns().flatMap(({ events }) => events.filter((event) => event.type === type));
}

for (const shape of REFUSAL_SHAPES) {
  test.long(`a refusal that names an item is repaired once and never happens again (${shape})`, async () => {
    for (const [name, text] of Object.entries(NAMED)) {
      let session: RefusedSession | undefined;
      const onDisk: unknown[][] = [];
      const script = refusesFirstItem(text, shape, () => {
        if (session !== undefined) onDisk.push(session.notices());
      });
      await refusedSession({ script, rules: "none" }, async (opened) => {
        await opened.run("One");
        session = opened;
        const second = await opened.run("Two");
        assert.equal(second.ended.state, "completed", name);
        assert.deepEqual(
          counts(opened, second.requests),
          [2, 0],
          `${name}: once more, without any reasoning`,
        );
        assert.equal(onDisk[0]?.length, 1, `${name}: the notice is on disk before the retry`);
        const retry = opened.server.requests[second.requests[1] - 1];
        assert.ok(
          retry?.input.every((item) => item.id === undefined),
          `${name}: no item ids without reasoning`,
        );
        const [notice] = opened.notices();
        const other = MISPLACED.has(name) ? "left_out" : "quarantined";
        assert.deepEqual(notice?.items.map(({ action }) => action), ["quarantined", other], name);
        assert.match(String(notice?.error?.message), /^The (API|provider)/, name);
        const third = await opened.run("Three");
        assert.deepEqual(
          counts(opened, third.requests),
          [MISPLACED.has(name) ? 3 : 2],
          `${name}: the new ones go, and the other one if it is not of the same origin`,
        );
        assert.equal(third.ended.state, "completed", name);
        assert.deepEqual(await opened.findings(), [], name);
      });
    }
  });

  test.long(
    `a refusal that names none is tried again in the next run, then quarantined (${shape})`,
    async () => {
      for (const [name, text] of Object.entries(UNNAMED)) {
        await refusedSession({ script: refusesFirstItem(text, shape), rules: "none" }, async (opened) => {
          await opened.run("One");
          const sent = [];
          for (const words of ["Two", "Three", "Four"]) {
            const { ended, requests } = await opened.run(words);
            assert.equal(ended.state, "completed", name);
            sent.push(counts(opened, requests));
          }
          assert.deepEqual(sent, [[2, 0], [4, 0], [4]], name);
          const actions = opened.notices().map(({ items }) => items.map(({ action }) => action));
          assert.deepEqual(actions, [
            ["left_out", "left_out"],
            ["quarantined", "quarantined", "left_out", "left_out"],
          ], name);
          assert.deepEqual(await opened.findings(), [], name);
        });
      }
    },
  );
}

Deno.test("an accepted request in between clears the suspicion", async () => {
  const refusedRuns = [2, 4];
  let run = 0;
  const text = UNNAMED["older text with a shortened blob"] as TextOf;
  const script: Script = (request) =>
    refusedRuns.includes(run) && reasoningOf(request).length > 0 ? refuse(text(request, ""), "http") : TWO;
  await refusedSession({ script, rules: "none" }, async (session) => {
    for (run = 1; run <= 5; run++) assert.equal((await session.run("Go")).ended.state, "completed");
    const actions = session.notices().flatMap(({ items }) => items.map(({ action }) => action));
    assert.deepEqual(new Set(actions), new Set(["left_out"]));
    assert.equal(reasoningOf(session.server.requests.at(-1) as RecordedRequest).length, 8);
  });
});

Deno.test("refusals under another key silence nothing for the key that made it", async () => {
  let run = 0;
  const text = UNNAMED["older text with a shortened blob"] as TextOf;
  const script: Script = (request) =>
    [2, 3, 5, 6].includes(run) && reasoningOf(request).length > 0 ? refuse(text(request, ""), "http") : TWO;
  await refusedSession({ script, rules: "none", namesAccount: false }, async (session) => {
    const [own, other] = ["1".repeat(16), "2".repeat(16)];
    const sentBy = async (keyHash: string) => {
      run += 1;
      const { ended, requests: [first] } = await session.run("Go", { keyHash });
      assert.equal(ended.state, "completed");
      return reasoningIds(session.server.requests[first] as RecordedRequest);
    };
    assert.deepEqual(await sentBy(own), []);
    const before = await sentBy(other);
    assert.equal(before.length, 2);
    assert.equal((await sentBy(other)).length, 4, "what was left out once is tried again");
    const actions = session.notices().map(({ items }) => items[0]?.action);
    assert.deepEqual(actions, ["left_out", "quarantined"], "two runs under one key are proof");
    assert.equal((await sentBy(own)).length, 6, "back on its own key everything goes out again");
    assert.ok((await sentBy(other)).every((id) => !before.includes(id)), "and not under the other one");
    // A first refusal under the own key is no second one: the other key's do not count for it.
    await sentBy(own);
    assert.deepEqual(
      new Set(session.notices().at(-1)?.items.map(({ action }) => action)),
      new Set(["left_out"]),
    );
    assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
    assert.deepEqual(await session.findings(), []);
  });
});

Deno.test(
  "a quarantine on one loopback port does not count on another, where an item may be from either",
  async () => {
    let run = 0;
    const script: Script = (request) => {
      const [id] = reasoningIds(request);
      return run === 2 && id !== undefined
        ? refuse((NAMED["cannot be decrypted"] as TextOf)(request, id), "http")
        : answer([reasoning("one"), message("Done.")]);
    };
    await refusedSession({ script, rules: "none" }, async (session) => {
      const older = { endpoint: "99999999" };
      const [here, there] = [{ endpoint: "11111111", portless: "99999999" }, {
        endpoint: "22222222",
        portless: "99999999",
      }];
      const sentTo = async (hashes: { endpoint: string; portless?: string }) => {
        run += 1;
        const { requests } = await session.run("Go", hashes);
        return reasoningIds(session.server.requests[requests[1] - 1] as RecordedRequest);
      };
      await sentTo(older);
      assert.deepEqual(await sentTo(here), []);
      const item = (await sentTo(there))[0];
      assert.ok(item !== undefined, "nothing shows that it is not from there");
      assert.ok(!(await sentTo(here)).includes(item));
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
    });
  },
);

Deno.test("a response that failed is no acceptance: what it was refused for stays suspected", async () => {
  let run = 0;
  const text = UNNAMED["older text with a shortened blob"] as TextOf;
  const script: Script = (request) => {
    if (reasoningOf(request).length === 0) return TWO;
    if (run === 2) return refuse(text(request, ""), "http");
    if (run === 3) {
      return answer([message("Half")], {
        end: { kind: "failed", error: { code: "server_error", message: "Broken" } },
      });
    }
    return run === 4 ? refuse(text(request, ""), "http") : TWO;
  };
  await refusedSession({ script, rules: "none" }, async (session) => {
    for (run = 1; run <= 4; run++) await session.run("Go");
    assert.deepEqual(session.notices().at(-1)?.items.slice(0, 2).map(({ action }) => action), [
      "quarantined",
      "quarantined",
    ]);
  });
});

Deno.test("a window does not replace refused reasoning by older reasoning", async () => {
  const text = UNNAMED["older text with a shortened blob"] as TextOf;
  let run = 0;
  const script: Script = (request) =>
    run === 3 && reasoningOf(request).length > 0 ? refuse(text(request, ""), "http") : TWO;
  await refusedSession({ script, rules: "none" }, async (session) => {
    for (run = 1; run <= 2; run++) await session.run("Go");
    const { ended, requests } = await session.run("Go", { window: 1 });
    assert.equal(ended.state, "completed");
    assert.deepEqual(counts(session, requests), [1, 0]);
    assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
  });
});

Deno.test("nothing is tried a third time: a second refusal ends the run", async () => {
  const text = UNNAMED["older text with a shortened blob"] as TextOf;
  let run = 0;
  const script: Script = (request) => run === 2 ? refuse(text(request, ""), "http") : TWO;
  await refusedSession({ script, rules: "none" }, async (session) => {
    run = 1;
    await session.run("One");
    run = 2;
    const { ended, requests } = await session.run("Two");
    assert.deepEqual([ended.state, ended.exit_code], ["failed", 13]);
    assert.deepEqual(counts(session, requests), [2, 0]);
    assert.equal(session.notices().length, 1);
  });
});

Deno.test("two different refusals are repaired one after the other, and each only once", async () => {
  let run = 0;
  const script: Script = (request) => {
    if (run === 1) return TWO;
    const { include } = request.body as { include?: unknown };
    return include !== undefined
      ? refuse({ message: "Encrypted content is not supported with this model." }, "http")
      : refuse((UNNAMED["older text without a code"] as TextOf)(request, ""), "http");
  };
  await refusedSession({ script, rules: "none" }, async (session) => {
    run = 1;
    await session.run("One");
    run = 2;
    const { ended, requests } = await session.run("Two");
    assert.deepEqual([ended.exit_code, requests[1] - requests[0]], [13, 3]);
    const sent = session.server.requests.slice(...requests).map((request) => [
      (request.body as { include?: unknown }).include !== undefined,
      reasoningOf(request).length,
    ]);
    assert.deepEqual(sent, [[true, 2], [false, 2], [false, 0]]);
  });
});

for (const shape of REFUSAL_SHAPES) {
  test.long(
    `refused include is left out once more, and from then on for that endpoint and model (${shape})`,
    async () => {
      let session: RefusedSession | undefined;
      const onDisk: number[] = [];
      const texts: readonly RefusalText[] = [
        { message: "Encrypted content is not supported with this model.", param: "include" },
        { message: "Encrypted content is not supported with this model." },
      ];
      for (const text of texts) {
        session = undefined;
        const script: Script = ({ body }) => {
          const { include, model } = body as { include?: unknown; model: string };
          if (include !== undefined && model === "gpt-4.1") return refuse(text, shape);
          if (session !== undefined) onDisk.push(eventsOf(session, "endpoint_notice").length);
          return answer([message("Done.")]);
        };
        await refusedSession({ script, rules: "none" }, async (opened) => {
          await opened.run("One");
          session = opened;
          const asked = async (overrides: Parameters<RefusedSession["run"]>[1]) => {
            const { ended, requests } = await opened.run("Go", overrides);
            assert.equal(ended.state, "completed");
            return opened.server.requests.slice(...requests).map(({ body }) =>
              (body as { include?: unknown }).include !== undefined
            );
          };
          assert.deepEqual(await asked({ model: "gpt-4.1" }), [true, false]);
          assert.equal(onDisk.at(-1), 1, "the notice is on disk before the retry");
          assert.deepEqual(await asked({ model: "gpt-4.1" }), [false]);
          assert.deepEqual(await asked({ model: "gpt-5.6" }), [true], "another model is asked as ever");
          assert.deepEqual(await asked({ model: "gpt-4.1", endpoint: "00000000" }), [true, false]);
          assert.deepEqual(await opened.findings(), []);
        });
      }
    },
  );
}
