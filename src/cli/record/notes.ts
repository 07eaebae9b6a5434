/** Notes at the end of a recording: facts for the user to know before committing or playing it. */
import { counted } from "../../domain/text.ts";
import { isSet } from "../environment.ts";
import type { RuleName } from "../../fixture/match/rules/match_rules.ts";
import type { RecordingSummary } from "../../fixture/record/writer.ts";
import type { LeftAlone } from "../../fixture/record/exchange_outcome.ts";
import { CLIENT_ROUTES } from "../../apis/providers.ts";
import type { Route } from "../../fixture/loopback/route.ts";
import { SHORTEST_SECRET } from "../../fixture/secrets/shortest_secret.ts";

/** Most files that a note names for each secret; events name all. */
const LISTED_FILES = 5;

/** Reports that the values of these variables were not searched for; `null` without variables. */
export function tooShortNote(variables: readonly string[]): string | null {
  if (variables.length === 0) return null;
  const [are, them] = variables.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${variables.join(", ")} ${are} too short to look for (under ${SHORTEST_SECRET} characters): ` +
    `check that no recording holds ${them}`;
}

/** Advice for variables, which does not fit headers. */
const NOT_SECRET = ". --not-secret NAME marks the value of a variable as not secret";

/** Names secrets that are ordinary words, and the files that still hold them; `null` without such secrets. */
export function leftAloneNote(leftAlone: readonly LeftAlone[]): string | null {
  if (leftAlone.length === 0) return null;
  const each = leftAlone.map(({ name, files }) => {
    const more = files.length - LISTED_FILES;
    return `${name} in ${files.slice(0, LISTED_FILES).join(", ")}${
      more > 0 ? ` and ${counted(more, "more file")}` : ""
    }`;
  });
  return `secrets that are ordinary words (letters only, at most 12) are replaced only in headers, URLs and members named like keys, ` +
    `and were kept elsewhere: ${each.join("; ")}${
      leftAlone.some(({ name }) => isSet(name)) ? NOT_SECRET : ""
    }`;
}

/** Reports the number of published exchanges with replaced text; `null` if there are none. */
export function alteredNote(exchanges: number): string | null {
  if (exchanges === 0) return null;
  const [hold, them] = exchanges === 1
    ? ["exchange holds replaced text in its request", "it"]
    : ["exchanges hold replaced text in their requests", "them"];
  return `${exchanges} ${hold}: serve matches ${them} only if its environment has the same values, ` +
    "or if clients send the replaced text";
}

/** Names key variables that are not set, after a recording that failed; `null` if none is lacking. */
export function unsetKeysNote(variables: readonly string[]): string | null {
  if (variables.length === 0) return null;
  const are = variables.length === 1 ? "is" : "are";
  return `${variables.join(" and ")} ${are} not set: without a key, no request is recorded`;
}

/** Names the match rules in the fixture, each with a place that needs it; `null` without rules. */
export function matchRulesNote(
  { matchRules, rulePlaces }: Pick<RecordingSummary, "matchRules" | "rulePlaces">,
): string | null {
  const each = matchRules.map((rule) => rulePlaces.has(rule) ? `${rule} (${rulePlaces.get(rule)})` : rule);
  return each.length === 0 ? null : `match rules written: ${each.join(", ")}; see "match" in fixture.json`;
}

/** Names the match rules that the requests need and that the fixture lacks; `null` without such rules. */
export function withheldRulesNote(rules: readonly RuleName[]): string | null {
  if (rules.length === 0) return null;
  const makes = rules.length === 1 ? "it makes" : "they make";
  return `match rules left out: ${rules.join(", ")}, because ${makes} requests with different answers equal`;
}

/** Reports that requests of a wrapped command to one of the two usual APIs are not recorded; `null` if both are. */
export function unrecordedApiNote(led: readonly Pick<Route, "variable" | "provider">[]): string | null {
  const [route] = led;
  const other = CLIENT_ROUTES.find(({ variable }) => led.every((route) => route.variable !== variable));
  if (route === undefined || other === undefined) return null;
  return `with --upstream, only ${route.variable} leads to the recorder: requests to the other API go to ` +
    `their usual server, and are not recorded (-p ${other.provider} records that API instead)`;
}
