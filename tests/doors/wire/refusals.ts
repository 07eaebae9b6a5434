/** Refusals of the Responses API: what each says, and the requests that follow. */
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
  REFUSAL_SHAPES,
  type RefusalText,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import type { GivenRun, Row } from "./runs.ts";

/** Two reasoning items and an answer: one of the two will be what the API refuses. */
const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);
const ONE = answer([reasoning("one"), message("Done.")]);
const DONE = answer([message("Done.")]);
/** A call of a tool. */
export const read = (callId?: string) =>
  functionCall(
    "read_file",
    { path: "a.txt", offset: null, limit: null },
    callId === undefined ? {} : { callId },
  );
export const READ = read();
const AGAIN = answer([reasoning("again"), READ]);

type Refusals = Readonly<Record<string, (id: string) => ScriptedResponse>>;
type Texts = Readonly<Record<string, (id: string) => RefusalText>>;

const unreadable = (id: string): RefusalText => ({
  message: `The encrypted content for item ${id} could not be verified.`,
  code: "invalid_encrypted_content",
});
const SHORTENED = { message: "The encrypted content gAAA...DQ== could not be verified." };
const UNREADABLE = { ...SHORTENED, code: "invalid_encrypted_content" };

/** Texts about an item that this server cannot read. */
const NAMED: Texts = {
  "not verified": unreadable,
  "not persisted": (id) => ({
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`,
    ...{ param: "input", status: 404 },
  }),
};
/** Texts about an item that is readable but not accepted at its place: no other item is the worse for it. */
const MISPLACED: Texts = {
  "without its following item": (id) => ({
    message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    param: "input",
  }),
  "duplicate": (id) => ({
    message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
    param: "input",
  }),
};
/** Texts that name no item, or one that was not sent. */
const UNNAMED: Texts = {
  "older text with a shortened blob": () => SHORTENED,
  "required reasoning that was never sent": () => ({
    message: "Item 'msg_0' of type 'message' was provided without its required 'reasoning' item: 'rs_0'.",
    param: "input",
  }),
};

/** Each text before any stream, and inside one of the three forms of errors in a stream. */
function inShapes(texts: Texts): Refusals {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text], at) =>
      [REFUSAL_SHAPES[0], REFUSAL_SHAPES[1 + at % 3] ?? "failed"].map((shape) =>
        [`${name}, ${shape}`, (id: string) => refuse(text(id), shape)] as const
      )
    ),
  );
}
/** Texts that are in no documentation; refused_texts_test.ts has more of them. */
const OTHER_WORDS = inShapes({
  "expired": (id) => ({ message: `reasoning item ${id} expired` }),
  "too old": (id) => ({ message: `Item ${id} is too old.`, code: "item_expired", status: 422 }),
});
const GUESSED: Refusals = {
  ...inShapes({
    "about reasoning": () => ({ message: "encrypted_content too old" }),
    "an unknown code": () => ({ message: "Gone.", code: "stale_blob" }),
  }),
  "nothing known": () => refuse({ message: "Bad Request" }, "http"),
};

/** Refuses what holds the first reasoning item that there ever was. */
function refusesFirst(refusal: Refusals[string]): ServerOptions {
  let bad: string | undefined;
  return {
    script: (request) => {
      bad ??= reasoningIds(request)[0];
      return bad !== undefined && request.input.some(({ id }) => id === bad) ? refusal(bad) : TWO;
    },
  };
}

/** A server whose answers depend on the number of the prompts that a request holds. */
export const byRun = (
  script: (run: number, request: Parameters<Exclude<Script, readonly unknown[]>>[0]) => ScriptedResponse,
): ServerOptions => ({
  script: (request) => script(request.input.filter(({ role }) => role === "user").length, request),
});

/** Refusals that come inside a stream, without a code of a refused request. */
const IN_STREAM = /, (failed|error|error_then_failed)$/;
const mapRows = (
  table: Refusals,
  title: string,
  row: (refusal: Refusals[string], exit: number) => Row<ServerOptions>,
) =>
  Object.fromEntries(
    Object.entries(table).map((
      [name, refusal],
    ) => [`${title} (${name})`, row(refusal, IN_STREAM.test(name) ? 10 : 13)]),
  );
const sends = (...sent: readonly string[]): GivenRun[] => sent.map((each) => ({ sent: each }));
const QUARANTINED = "reasoning_refused: quarantined quarantined";
const [HELPS, FAILS] = [/--replay none/, { exit: 13 }] as const;

/** By a sentence. */
export const REFUSALS: Readonly<Record<string, Row<ServerOptions>>> = {
  ...mapRows(inShapes(NAMED), "an unreadable item costs the items of its origin", (refusal) => ({
    server: () => refusesFirst(refusal),
    runs: sends("0", "2 0", "2"),
    notices: QUARANTINED,
  })),
  ...mapRows(inShapes(MISPLACED), "an item at a wrong place costs that item alone", (refusal) => ({
    server: () => refusesFirst(refusal),
    runs: sends("0", "2 0", "3"),
    notices: "reasoning_refused: quarantined left_out",
  })),
  ...mapRows(
    { ...inShapes(UNNAMED), ...GUESSED },
    "reasoning that no refusal names is tried in two runs",
    (refusal) => ({
      server: () => refusesFirst(refusal),
      runs: sends("0", "2 0", "4 0", "4"),
      notices:
        "reasoning_refused: left_out left_out; reasoning_refused: quarantined quarantined left_out left_out",
    }),
  ),
  ...mapRows(OTHER_WORDS, "an item that unknown words name is quarantined", (refusal) => ({
    server: () => refusesFirst(refusal),
    runs: sends("0", "2 0", "2"),
    notices: QUARANTINED,
  })),
  ...mapRows({ ...OTHER_WORDS, ...GUESSED }, "a guess in vain leaves no trace", (refusal, exit) => ({
    server: () =>
      byRun((run, request) => {
        if (run !== 2) return TWO;
        const [id] = reasoningIds(request);
        return id === undefined ? httpError(400, { message: "Still bad." }) : refusal(id);
      }),
    runs: [{ sent: "0" }, { sent: "2 0", says: HELPS, exit }, { sent: "2" }],
    notices: "",
    also: (_, [, second]) => {
      if (JSON.stringify(second?.error).includes("Still bad")) throw new Error("The first refusal counts");
    },
  })),
  ...mapRows(GUESSED, "a request without reasoning is not tried again", (refusal, exit) => ({
    server: () => ({ script: () => refusal("") }),
    runs: [{ sent: "0", exit }],
    notices: "",
  })),
  ...Object.fromEntries(
    ([
      ["402", httpError(402, { message: "Pay first." }), 9],
      ["401", httpError(401, { message: "Who?", code: "invalid_api_key" }), 8],
    ] as const).map(([name, failure, exit]) => [
      `a retry that fails for another reason ends the run with that (${name})`,
      {
        server: () =>
          byRun((run, request) =>
            run === 1
              ? TWO
              : reasoningIds(request).length > 0
              ? refuse({ message: "Bad Request" }, "http")
              : failure
          ),
        runs: [{ sent: "0" }, { sent: "2 0", exit }],
        notices: "",
      },
    ]),
  ),
  "a refusal in words of access that may be about reasoning names the way around it": {
    server: () =>
      byRun((run) => run === 1 ? TWO : httpError(400, { message: "You have no permission for that" })),
    runs: [{ sent: "0" }, { sent: "2", says: HELPS, ...FAILS }],
  },
  "a refusal of a parameter names no way around reasoning": {
    server: () =>
      byRun((run) => run === 1 ? TWO : httpError(400, { message: "Invalid value", param: "temperature" })),
    runs: [{ sent: "0" }, { sent: "2", says: /^(?!.*--replay none)/, ...FAILS }],
  },
  "a run guesses at most once": {
    server: () =>
      byRun((run, request) => {
        if (run === 1) return TWO;
        if (run === 3) return DONE;
        return reasoningIds(request).length > 0 ? refuse({ message: "Bad Request" }, "http") : AGAIN;
      }),
    runs: [
      { sent: "0" },
      { sent: "2 0 1", says: HELPS, ...FAILS },
      { sent: "0", flags: ["--replay", "none"] },
    ],
    notices: "reasoning_refused: left_out left_out",
  },
  "an accepted request in between clears the suspicion": {
    server: () =>
      byRun((run, request) =>
        [2, 4].includes(run) && reasoningIds(request).length > 0 ? refuse(UNREADABLE, "http") : TWO
      ),
    runs: sends("0", "2 0", "4", "6 0", "8"),
    notices:
      "reasoning_refused: left_out left_out; reasoning_refused: left_out left_out left_out left_out left_out left_out",
  },
  "a response that failed is no acceptance": {
    server: () =>
      byRun((run, request) => {
        if (reasoningIds(request).length === 0 || run === 1) return TWO;
        const error = { code: "invalid_request", message: "Broken" };
        return run === 3
          ? answer([message("Half")], { end: { kind: "failed", error } })
          : refuse(UNREADABLE, "http");
      }),
    runs: [{ sent: "0" }, { sent: "2 0" }, { sent: "4", exit: 10 }, { sent: "4 0" }],
    notices:
      "reasoning_refused: left_out left_out; reasoning_refused: quarantined quarantined left_out left_out",
  },
  "a window does not replace refused reasoning by older reasoning": {
    server: () =>
      byRun((run, request) =>
        run === 3 && reasoningIds(request).length > 0 ? refuse(UNREADABLE, "http") : TWO
      ),
    runs: [...sends("0", "2"), { sent: "1 0", flags: ["--replay", "last:1"] }],
  },
  "a second refusal ends the run": {
    server: () => byRun((run) => run === 1 ? TWO : refuse(UNREADABLE, "http")),
    runs: [{ sent: "0" }, { sent: "2 0", ...FAILS }],
    notices: "reasoning_refused: left_out left_out",
  },
  "a quarantine for a retry that was refused too is lifted at the end of the run": {
    server: () =>
      byRun((run, request) => {
        const [id] = reasoningIds(request);
        if (run !== 2) return TWO;
        return refuse(id === undefined ? { message: "Still bad." } : unreadable(id), "http");
      }),
    runs: [{ sent: "0" }, { sent: "2 0", ...FAILS }, { sent: "2" }],
    notices: `${QUARANTINED}; quarantine_lifted: lifted lifted`,
  },
  "a retry that is refused after it brought something quarantines nothing": {
    server: () => {
      let bad = "";
      return byRun((run, request) => {
        if (run !== 2) return TWO;
        bad ||= String(reasoningIds(request)[0]);
        const error = { code: "invalid_request_error", message: `reasoning item ${bad} expired` };
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
            if (run === 1) return ONE;
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
          const what = turn.events.map(({ type, status }: Json) => status ?? type).join(" ");
          if (what !== "not_run replay_notice") throw new Error(what);
        },
      },
    ]),
  ),
};
