/** Facts about a session, above its transcript. */
import { stringMember } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import { costText } from "../../domain/cost.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import type { Spending } from "../cost/spending.ts";
import type { TimeZone } from "../local_time.ts";
import type { Fact } from "./transcript.ts";
import { usageText } from "./usage.ts";
import { stateText } from "./words.ts";

/** Returns the facts about a session that spent `total` in its own requests; only the turns of `shown` are shown. */
export function factsOf(
  session: ShownSession,
  shown: readonly ShownTurn[],
  { total, zone }: { readonly total: Spending; readonly zone: TimeZone },
): Fact[] {
  const { id, manifest, turns } = session;
  const facts: Fact[] = [
    ["session", manifest === null ? id : `${id} · ${stateText(manifest.state)}`],
  ];
  if (manifest !== null) {
    facts.push(["model", `${manifest.pins.model} · ${manifest.pins.fingerprint.provider}`]);
    facts.push(["workspace", manifest.pins.workspace]);
    if (manifest.parent !== undefined) facts.push(["forked from", manifest.parent]);
  }
  const runs = manifest === null ? "" : ` in ${counted(manifest.run, "run")}`;
  const part = shown.length === turns.length ? "" : `${shown.length} of `;
  facts.push(["turns", `${part}${counted(turns.length, "turn")}${runs}`]);
  const [first, last] = [shown[0], shown.at(-1)].map((turn) => stringMember(turn?.value ?? {}, "at") ?? "");
  if (first !== undefined && last !== undefined && first !== "") {
    facts.push(["time", zone.span(first, last)]);
  }
  if (manifest !== null) facts.push(["tokens", usageText(manifest.usage)]);
  const cost = costFact(total);
  return cost === null ? facts : [...facts, ["cost", cost]];
}

/** The cost of a session in words; `null` if none of its requests has a price, as in one that was played. */
function costFact({ cost_usd, requests, unpriced }: Spending): string | null {
  if (cost_usd !== null) return requests === 0 ? null : costText(cost_usd);
  return unpriced === requests
    ? null
    : `unknown: ${counted(unpriced, "request")} of ${requests} without a price`;
}
