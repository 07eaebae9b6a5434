/** Refused items of earlier runs, of other keys and of other ports, on servers that name no account. */
import assert from "node:assert/strict";
import type { Script, ScriptedResponse, ServerOptions } from "../../support/scripted_api/responses.ts";
import {
  answer,
  message,
  reasoning,
  reasoningIds,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import { READ } from "./refusals.ts";
import type { GivenRun, Row } from "./runs.ts";

const UNNAMED = refuse({
  message: "The encrypted content could not be verified.",
  code: "invalid_encrypted_content",
}, "http");

type Request = Parameters<Exclude<Script, readonly unknown[]>>[0];
const runOf = ({ input }: Request) => input.filter(({ role }) => role === "user").length;
const keyOf = ({ headers }: Request) => String(headers.authorization);

/** Origin of an item. */
interface Made {
  readonly key: string;
  readonly run: number;
}

const foreign = ({ key }: Made, request: Request) => key !== keyOf(request);
const keyed = (rows: readonly (readonly [string, string])[]): GivenRun[] =>
  rows.map(([key, sent]) => ({ key, sent }));

const notVerified = (id = "") => ({
  message: `The encrypted content for item ${id} could not be verified.`,
  code: "invalid_encrypted_content",
});
/** Refusals of several lost items. */
const NAMING: Readonly<Record<string, (ids: readonly string[]) => ScriptedResponse>> = {
  "the first": (ids) => refuse(notVerified(ids[0]), "http"),
  "the first, inside the stream": (ids) => refuse(notVerified(ids[0]), "error_then_failed"),
  "the first, in unknown words": ([id]) =>
    refuse({ message: `The blob of ${id} is stale`, code: "stale" }, "http"),
};

/** Answers with a call first, then with text; refuses items that fit `isLost`. */
function forgetful(
  refusal: (ids: readonly string[]) => ScriptedResponse,
  isLost: (made: Made, request: Request) => boolean,
  isBrief = false,
): ServerOptions {
  /** By id; one that is new since the last answer is of that answer. */
  const known = new Map<string, Made>();
  let last: Made = { key: "", run: 0 };
  return {
    namesAccount: false,
    script: (request) => {
      const ids = reasoningIds(request);
      for (const id of ids) if (!known.has(id)) known.set(id, last);
      const lost = ids.filter((id) => isLost(known.get(id) ?? last, request));
      if (lost.length > 0) return refusal(lost);
      last = { key: keyOf(request), run: runOf(request) };
      const isFirst = !isBrief && request.input.at(-1)?.role === "user";
      return answer([reasoning("Thinking"), isFirst ? READ : message("Done.")]);
    },
  };
}

/** As {@linkcode forgetful}, without calls and without a name in its refusals. */
const bound = (isLost: Parameters<typeof forgetful>[1]) => forgetful(() => UNNAMED, isLost, true);

const isMidRun = ({ input }: Request) => input.at(-1)?.role !== "user";

/** By a sentence. */
export const KEY_REFUSALS: Readonly<Record<string, Row<ServerOptions>>> = {
  "items of another key are quarantined alone: those of the key in force go out again": {
    server: () => bound(foreign),
    runs: keyed([
      ["own", "0"],
      ["own", "1"],
      ["other", "2 0"],
      ["own", "3 0"],
      ["own", "4 0"],
      ["own", "4"],
      // Under the other key the same holds for its own item.
      ["other", "6 0"],
      ["other", "2"],
    ]),
  },
  "refusals with a foreign item among the sent ones are no proof against the own ones": {
    server: () => bound((id, request) => runOf(request) > 4 || foreign(id, request)),
    runs: keyed([["own", "0"], ["other", "1 0"], ["own", "2 0"], ["own", "3 0"], ["own", "3 0"], [
      "own",
      "4 0",
    ]]),
    also: (runs) =>
      assert.match(
        runs.notices(),
        /: left_out left_out left_out; \w+: quarantined quarantined quarantined left_out$/,
      ),
  },
  "two runs under one key prove nothing against items under the key that made them": {
    server: () => bound((_, request) => [2, 3, 5, 6].includes(runOf(request))),
    runs: keyed([["own", "0"], ["other", "1 0"], ["other", "2 0"], ["own", "3"], ["other", "3 0"], [
      "own",
      "5 0",
    ]]),
    // The last one is the first under its own key.
    also: (runs) => assert.doesNotMatch(runs.notices(), /quarantined[^;]*$/),
  },
  ...Object.fromEntries(
    Object.entries(NAMING).flatMap(([name, refusal]): [string, Row<ServerOptions>][] => [
      [`however many items a server lost, one run meets one refusal that names ${name}`, {
        server: () => forgetful(refusal, ({ run }, request) => run < 3 && runOf(request) > 2),
        runs: [{ sent: "0 1" }, { sent: "2 3" }, { sent: "4 0 1" }, { sent: "2 3" }],
      }],
      [`items of another key cost one refusal that names ${name}, and no item of the key in force`, {
        server: () =>
          forgetful(refusal, (id, request) => [4, 5].includes(runOf(request)) && foreign(id, request)),
        runs: keyed([
          ...[["own", "0 1"], ["other", "2 3"], ["other", "4 5"], ["own", "6 2 3"], ["own", "4 5"]] as const,
          ["other", "10 11"],
        ]),
      }],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({ ...NAMING, none: () => UNNAMED }).map((
      [name, refusal],
    ): [string, Row<ServerOptions>] => [
      `a refusal in the middle of a run leaves its own items in: naming ${name}`,
      {
        server: () =>
          forgetful(refusal, ({ run }, request) => run === 1 && runOf(request) === 2 && isMidRun(request)),
        runs: [{ sent: "0 1" }, { sent: "2 3 1" }],
        notices: `reasoning_refused: ${name === "none" ? "left_out left_out" : "quarantined quarantined"}`,
      },
    ]),
  ),
  "a run whose own items are refused too sends none in the end": {
    server: () =>
      forgetful(
        () => refuse({ message: "Bad Request" }, "http"),
        (_, request) => runOf(request) === 2 && isMidRun(request),
      ),
    runs: [{ sent: "0 1" }, { sent: "2 3 1 0" }],
  },
};
