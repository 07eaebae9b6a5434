/**
 * Facts about a session, above its transcript.
 *
 * @module
 */
import { stringMember } from "../../../domain/json.ts";
import { counted } from "../../../domain/text.ts";
import type { ShownSession, ShownTurn } from "../../../store/read/show.ts";
import { localTime, zoneOf } from "./time.ts";
import { stateText } from "./words.ts";

/** A name and a value. */
export type Fact = readonly [name: string, value: string];

/** The facts about a session of which `shown` turns are shown. */
export function factsOf(session: ShownSession, shown: readonly ShownTurn[]): Fact[] {
  const { id, manifest, turns } = session;
  const facts: Fact[] = [
    ...(manifest === null || manifest.title === "" ? [] : [["title", manifest.title] as const]),
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
    facts.push(["time", `${localTime(first)} to ${localTime(last)} ${zoneOf(last)}`.trim()]);
  }
  if (manifest !== null) {
    const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = manifest.usage;
    facts.push([
      "tokens",
      `${input_tokens} in (${cached_tokens} cached), ${output_tokens} out (${reasoning_tokens} reasoning)`,
    ]);
  }
  return facts;
}
