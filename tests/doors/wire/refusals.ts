/** Refusals of the Responses API: what each says, and the requests that follow. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import {
  httpError,
  type Script,
  type ScriptedResponse,
  type ServerOptions,
} from "../../support/scripted_api/responses.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  reasoningIds,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import type { GivenRun, Row } from "./runs.ts";

/** Two reasoning items and an answer: one of the two will be what the API refuses. */
const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);
const DONE = answer([message("Done.")]);
/** A call of a tool. */
export const read = (callId?: string) =>
  functionCall(
    "read_file",
    { path: "a.txt", offset: null, limit: null },
    callId === undefined ? {} : { callId },
  );
export const READ = read();

type Refusal = (id: string) => ScriptedResponse;

const unreadable = (id: string) => ({
  message: `The encrypted content for item ${id} could not be verified.`,
  code: "invalid_encrypted_content",
});
const expired = (id: string) => ({ message: `reasoning item ${id} expired` });
const SHORTENED = { message: "The encrypted content gAAA...DQ== could not be verified." };
const UNREADABLE = refuse({ ...SHORTENED, code: "invalid_encrypted_content" }, "http");
const BAD = refuse({ message: "Bad Request" }, "http");
const bad = () => BAD;

/** Refusals that name an item: refused_texts_test.ts has more of their words. */
const UNKNOWN_WORDS: Readonly<Record<string, Refusal>> = {
  "in words of no documentation": (id) => refuse(expired(id), "http"),
  "in such words, inside the stream": (id) => refuse(expired(id), "error"),
};
const NAMED: Readonly<Record<string, Refusal>> = {
  "in known words": (id) => refuse(unreadable(id), "http"),
  "in known words, inside the stream": (id) => refuse(unreadable(id), "error_then_failed"),
  ...UNKNOWN_WORDS,
};
const GUESSED: Readonly<Record<string, Refusal>> = {
  "in words about reasoning, inside the stream": () =>
    refuse({ message: "encrypted_content too old" }, "failed"),
  "without any reason": bad,
};

/** Refuses what holds the first reasoning item that there ever was. */
function refusesFirst(refusal: Refusal): ServerOptions {
  let first: string | undefined;
  return {
    script: (request) => {
      first ??= reasoningIds(request)[0];
      return first !== undefined && request.input.some(({ id }) => id === first) ? refusal(first) : TWO;
    },
  };
}

/** A server whose answers depend on the number of the prompts that a request holds. */
export const byRun = (
  script: (run: number, request: Parameters<Exclude<Script, readonly unknown[]>>[0]) => ScriptedResponse,
): ServerOptions => ({
  script: (request) => script(request.input.filter(({ role }) => role === "user").length, request),
});

/** In these runs a request with reasoning is refused, and one without gets another answer. */
const refusing = (runs: readonly number[], refusal: Refusal, without = TWO) => () =>
  byRun((run, request) => {
    const [id] = reasoningIds(request);
    return !runs.includes(run) ? TWO : id === undefined ? without : refusal(id);
  });

const mapRows = (
  table: Readonly<Record<string, Refusal>>,
  title: string,
  row: (refusal: Refusal, exit: number) => Row<ServerOptions>,
) =>
  Object.fromEntries(
    Object.entries(table).map(([name, refusal]) => [
      `${title} (${name})`,
      // A refusal inside the stream has no code of a refused request.
      row(refusal, name.includes("inside") ? 10 : 13),
    ]),
  );
/** Runs that complete, by their requests. */
export const sends = (...sent: readonly string[]): GivenRun[] => sent.map((each) => ({ sent: each }));
const QUARANTINED = "reasoning_refused: quarantined quarantined";
const [HELPS, FAILS] = [/--replay none/, { exit: 13 }] as const;

/** By a sentence. */
export const REFUSALS: Readonly<Record<string, Row<ServerOptions>>> = {
  ...mapRows(NAMED, "an unreadable item costs the items of its origin", (refusal) => ({
    server: () => refusesFirst(refusal),
    runs: sends("0", "2 0", "2"),
    notices: QUARANTINED,
  })),
  "an item at a wrong place costs that item alone": {
    server: () =>
      refusesFirst((id) => {
        const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
        return refuse({ message, param: "input" }, "http");
      }),
    runs: sends("0", "2 0", "3"),
    notices: "reasoning_refused: quarantined left_out",
  },
  ...mapRows(
    { "in known words": () => refuse(SHORTENED, "http"), ...GUESSED },
    "reasoning that no refusal names is tried in two runs",
    (refusal) => ({
      server: () => refusesFirst(refusal),
      runs: sends("0", "2 0", "4 0", "4"),
      notices:
        "reasoning_refused: left_out left_out; reasoning_refused: quarantined quarantined left_out left_out",
    }),
  ),
  ...mapRows({ ...UNKNOWN_WORDS, ...GUESSED }, "a guess in vain leaves no trace", (refusal, exit) => ({
    server: refusing([2], refusal, httpError(400, { message: "Still bad." })),
    runs: [{ sent: "0" }, { sent: "2 0", says: HELPS, exit }, { sent: "2" }],
    notices: "",
    also: (_, [, second]) => assert.doesNotMatch(second?.error.message, /Still bad/),
  })),
  ...mapRows(GUESSED, "a request without reasoning is not tried again", (refusal, exit) => ({
    server: () => ({ script: () => refusal("") }),
    runs: [{ sent: "0", exit }],
    notices: "",
  })),
  "a retry that fails for another reason ends the run with that": {
    server: refusing([2], bad, httpError(402, { message: "Pay first." })),
    runs: [{ sent: "0" }, { sent: "2 0", exit: 9 }],
    notices: "",
  },
  "a refusal in words of access that may be about reasoning names the way around it": {
    server: refusing([2], () => httpError(400, { message: "You have no permission for that" })),
    runs: [{ sent: "0" }, { sent: "2", says: HELPS, ...FAILS }],
  },
  "a refusal of a parameter names no way around reasoning": {
    server: refusing([2], () => httpError(400, { message: "Invalid value", param: "temperature" })),
    runs: [{ sent: "0" }, { sent: "2", says: /^(?!.*--replay none)/, ...FAILS }],
  },
  "a run guesses at most once": {
    server: () =>
      byRun((run, request) => {
        if (run === 1) return TWO;
        if (run === 3) return DONE;
        return reasoningIds(request).length > 0 ? BAD : answer([reasoning("again"), READ]);
      }),
    runs: [
      { sent: "0" },
      { sent: "2 0 1", says: HELPS, ...FAILS },
      { sent: "0", flags: ["--replay", "none"] },
    ],
    notices: "reasoning_refused: left_out left_out",
  },
  "an accepted request in between clears the suspicion": {
    server: refusing([2, 4], () => UNREADABLE),
    runs: sends("0", "2 0", "4", "6 0", "8"),
    notices:
      "reasoning_refused: left_out left_out; reasoning_refused: left_out left_out left_out left_out left_out left_out",
  },
  "a response that failed is no acceptance": {
    server: () =>
      byRun((run, request) => {
        if (reasoningIds(request).length === 0 || run === 1) return TWO;
        const error = { code: "invalid_request", message: "Broken" };
        return run === 3 ? answer([message("Half")], { end: { kind: "failed", error } }) : UNREADABLE;
      }),
    runs: [{ sent: "0" }, { sent: "2 0" }, { sent: "4", exit: 10 }, { sent: "4 0" }],
    notices:
      "reasoning_refused: left_out left_out; reasoning_refused: quarantined quarantined left_out left_out",
  },
  "a window does not replace refused reasoning by older reasoning": {
    server: refusing([3], () => UNREADABLE),
    runs: [...sends("0", "2"), { sent: "1 0", flags: ["--replay", "last:1"] }],
  },
  "a second refusal ends the run": {
    server: refusing([2], () => UNREADABLE, UNREADABLE),
    runs: [{ sent: "0" }, { sent: "2 0", ...FAILS }],
    notices: "reasoning_refused: left_out left_out",
  },
  "a quarantine for a retry that was refused too is lifted at the end of the run": {
    server: refusing([2], (id) => refuse(unreadable(id), "http"), BAD),
    runs: [{ sent: "0" }, { sent: "2 0", ...FAILS }, { sent: "2" }],
    notices: `${QUARANTINED}; quarantine_lifted: lifted lifted`,
  },
  "a retry that is refused after it brought something quarantines nothing": {
    server: () => {
      let first = "";
      return byRun((run, request) => {
        if (run !== 2) return TWO;
        first ||= String(reasoningIds(request)[0]);
        const error = { code: "invalid_request_error", ...expired(first) };
        const items = reasoningIds(request).length > 0 ? [] : [message("Half")];
        return answer(items, { end: { kind: "failed", error } });
      });
    },
    runs: [{ sent: "0" }, { sent: "2 0", ...FAILS }, { sent: "2" }],
    notices: "reasoning_refused: left_out left_out",
  },
  "two different refusals are repaired one after the other, and each once": {
    server: () =>
      byRun((run, { body }) => {
        if (run === 1) return TWO;
        return (body as Json).include === undefined
          ? refuse(SHORTENED, "http")
          : refuse({ message: "Encrypted content is not supported with this model." }, "http");
      }),
    show: (body) =>
      `${body.include === undefined ? "" : "+"}${
        body.input.filter(({ type }: Json) => type === "reasoning").length
      }`,
    runs: [{ sent: "+0" }, { sent: "+2 2 0", ...FAILS }],
  },
  ...Object.fromEntries(
    Object.entries({
      "known words": { code: "invalid_encrypted_content", message: SHORTENED.message },
      "a guess": { code: null, message: "The reasoning content could not be decrypted." },
    }).map(([name, error]): [string, Row<ServerOptions>] => [
      `a refusal in the middle of an answer: its call is not run, and the retry answers (${name})`,
      {
        server: () => {
          let refusals = 0;
          return byRun((run) => {
            if (run === 1) return answer([reasoning("one"), message("Done.")]);
            return refusals++ > 0
              ? DONE
              : answer([reasoning("again"), READ], { end: { kind: "failed", error } });
          });
        },
        runs: sends("0", "1 0", "1"),
        also: (runs) => {
          const turn = runs.turns("fix-ci-7k2m").find(({ events }) =>
            events.some(({ type }: Json) => type === "replay_notice")
          );
          const what = turn.events.map(({ type, status }: Json) => status ?? type);
          assert.deepEqual(what, ["not_run", "replay_notice"]);
        },
      },
    ]),
  ),
};
