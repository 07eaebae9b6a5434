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
  refuseInDetail,
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

/** Refusals of the item `id` in words that are in no documentation. */
const OTHER_WORDS: Readonly<Record<string, (id: string) => ScriptedResponse>> = {
  "expired": (id) => refuse({ message: `reasoning item ${id} expired` }, "http"),
  "expired, in a failed stream": (id) => refuse({ message: `reasoning item ${id} expired` }, "failed"),
  "expired, in an error event": (id) =>
    refuse({ message: `Item ${id} expired.`, code: "item_expired" }, "error"),
  "unprocessable": (id) => refuse({ message: `Item ${id} is too old.`, param: "input", status: 422 }, "http"),
  "as detail": (id) => refuseInDetail(400, `reasoning item ${id} expired`),
  "as a list of details": (id) =>
    refuseInDetail(422, [{
      type: "value_error",
      loc: ["body", "input"],
      msg: `Value error, ${id} is unknown`,
    }]),
};

/** Refusals that speak of reasoning and name no item. */
const OTHER_WORDS_UNNAMED: Readonly<Record<string, () => ScriptedResponse>> = {
  "too old": () => refuse({ message: "encrypted_content too old" }, "http"),
  "not decrypted": () =>
    refuse({ message: "The reasoning content could not be decrypted.", param: "input" }, "http"),
  "not decrypted, in a stream": () =>
    refuse({ message: "The reasoning content could not be decrypted." }, "error_then_failed"),
  "as detail": () => refuseInDetail(404, "Encrypted content not found"),
};

/** Refusals that say nothing of reasoning. */
const UNKNOWN_WORDS: Readonly<Record<string, () => ScriptedResponse>> = {
  "bad request": () => refuse({ message: "Bad Request" }, "http"),
  "not found": () => refuse({ message: "Item not found.", param: "input", status: 404 }, "http"),
  "unprocessable": () => refuseInDetail(422, "Unprocessable Entity"),
  "in a stream": () => refuse({ message: "Invalid input.", code: "invalid_request_error" }, "failed"),
  "by an unknown code in a stream": () => refuse({ message: "Gone.", code: "stale_blob" }, "failed"),
  "by an unknown code in an error event": () => refuse({ message: "Gone.", code: "stale_blob" }, "error"),
  "about another item": () =>
    refuse({ message: "Invalid 'input[0]'.", param: "input[0]", code: "invalid_value" }, "http"),
};

type Refusals = Readonly<Record<string, (id: string, index: number) => ScriptedResponse>>;
type Texts = Readonly<Record<string, (id: string, index: number) => RefusalText>>;

const lost = (id: string): RefusalText => ({
  message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
    "Try again with `store` set to true, or remove this item from your input.",
  param: "input",
});
const unreadable = (id: string, reason = ""): RefusalText => ({
  message: `The encrypted content for item ${id} could not be verified.${reason}`,
  code: "invalid_encrypted_content",
});
const SHORTENED = { message: "The encrypted content gAAA...DQ== could not be verified." };
const UNREADABLE = { ...SHORTENED, code: "invalid_encrypted_content" };

/** Texts about an item that this server cannot read. */
const NAMED: Texts = {
  "cannot be decrypted": (id) =>
    unreadable(id, " Reason: Encrypted content could not be decrypted or parsed."),
  "of another organization": (id) =>
    unreadable(id, " Reason: Encrypted content organization_id did not match the target organization."),
  "not persisted, as 404": (id) => ({ ...lost(id), status: 404 }),
  "not persisted, as 400": lost,
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
  // Names no id but a place, whose members are all on the whitelist.
  "unknown parameter": (_, index) => {
    const param = `input[${index}].status`;
    return { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
  },
  "wrong prefix": (_, index) => {
    const param = `input[${index}].id`;
    return { message: `Invalid '${param}': 'x'. Expected an ID that begins with 'rs'.`, param };
  },
};
/** Texts that name no item, or one that was not sent. */
const UNNAMED: Texts = {
  "older text with a shortened blob": () => UNREADABLE,
  "older text without a code": () => SHORTENED,
  "required reasoning that was never sent": () => ({
    message: "Item 'msg_0' of type 'message' was provided without its required 'reasoning' item: 'rs_0'.",
    param: "input",
  }),
  "of another organization, without an item": () => ({
    message: "Encrypted content organization_id did not match the target organization.",
    code: "invalid_encrypted_content",
  }),
};

/** Each text before any stream, and inside one of the three forms of errors in a stream. */
function inShapes(texts: Texts): Refusals {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text], at) =>
      [REFUSAL_SHAPES[0], REFUSAL_SHAPES[1 + at % 3] ?? "failed"].map((shape) =>
        [`${name}, ${shape}`, (id: string, index: number) => refuse(text(id, index), shape)] as const
      )
    ),
  );
}
const GUESSED: Refusals = { ...OTHER_WORDS_UNNAMED, ...UNKNOWN_WORDS };

/** Refuses what holds the first reasoning item that there ever was. */
function refusesFirst(refusal: Refusals[string], onAnswer = (_: Json) => {}): ServerOptions {
  let bad: string | undefined;
  return {
    script: (request) => {
      bad ??= reasoningIds(request)[0];
      const index = request.input.findIndex(({ id }) => id === bad);
      if (bad !== undefined && index >= 0) return refusal(bad, index);
      onAnswer(request);
      return TWO;
    },
  };
}

/** A server whose answers depend on the number of the prompts that a request holds. */
export const byRun = (
  script: (run: number, request: Parameters<Exclude<Script, readonly unknown[]>>[0]) => ScriptedResponse,
): ServerOptions => ({
  script: (request) => script(request.input.filter(({ role }) => role === "user").length, request),
});

/** Refusals that come inside a stream and have no code of a refused request. */
const IN_STREAM = /^(expired|not|by).* in an? .*(stream|event)$/;
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
        return id === undefined ? httpError(400, { message: "Still bad." }) : refusal(id, 1);
      }),
    runs: [{ sent: "0" }, { sent: "2 0", says: HELPS, exit }, { sent: "2" }],
    notices: "",
    also: (_, [, second]) => {
      if (JSON.stringify(second?.error).includes("Still bad")) throw new Error("The first refusal counts");
    },
  })),
  ...mapRows(GUESSED, "a request without reasoning is not tried again", (refusal, exit) => ({
    server: () => ({ script: () => refusal("", 0) }),
    runs: [{ sent: "0", exit }],
    notices: "",
  })),
  ...Object.fromEntries(
    ([
      ["402", httpError(402, { message: "Pay first." }), 9],
      ["401", httpError(401, { message: "Who?", code: "invalid_api_key" }), 8],
      [
        "quota",
        answer([], { end: { kind: "failed", error: { code: "insufficient_quota", message: "Pay" } } }),
        9,
      ],
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
  ...Object.fromEntries(
    Object.entries<RefusalText>({
      temperature: {
        message: "Unsupported parameter: 'temperature' is not supported with this model.",
        param: "temperature",
      },
      content: { message: "Missing required parameter: 'input[0].content'.", param: "input[0].content" },
      "an unknown call": { message: "No tool output found for function call call_unknown.", param: "input" },
      "the model": { message: "The model 'gpt-x' does not exist.", code: "model_not_found", status: 404 },
    }).map(([name, text]): [string, Row<ServerOptions>] => [
      `a refusal that names nothing to leave out is not sent again (${name})`,
      {
        server: () => ({ script: () => refuse(text, "http") }),
        runs: [{ sent: "0", ...FAILS }],
        notices: "",
      },
    ]),
  ),
};
