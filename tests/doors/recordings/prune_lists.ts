/** Fixtures to prune, and lists of uses as `serve` ends with them. */
import { type Json, sha256 } from "../../support/files.ts";
import type { RecordingHome } from "./home.ts";
import { exchangesOf, type GivenExchange, write, writeFixture } from "./recording_files.ts";

/** An exchange whose request sends `input`. */
export function asking(input: string, model = "gpt-5.6"): GivenExchange {
  const body = { model, input };
  return {
    request: { body, body_sha256: sha256(JSON.stringify(body)) },
    response: { headers: { "content-type": "application/json" } },
    body: JSON.stringify({ answer: input }),
  };
}

/** Writes a fixture with an exchange for each input. */
export function fixtureOf(path: string, inputs: readonly string[], header: Json = {}): string {
  return writeFixture(path, inputs.map((input) => asking(input)), header);
}

/** The inputs of a fixture, in order; checks that each has its own answer. */
export function inputsOf(path: string): string[] {
  return exchangesOf(path).map(({ request: { body: { input } }, text }) => {
    const { answer } = JSON.parse(text);
    if (answer !== input) throw new Error(`${input} has the answer ${answer}`);
    return input;
  });
}

/** The use of a fixture. */
export interface Use {
  readonly path: string;
  /** Sum of `fixture.json`. */
  readonly seal: string;
  readonly used: readonly number[];
}

/** The use of a fixture as it is now. */
export function useOf(path: string, ...used: readonly number[]): Use {
  return { path, seal: sha256(Deno.readFileSync(`${path}/fixture.json`)), used };
}

/** The last event of a `serve` that played these uses. */
export function ended(fixtures: readonly Use[], more: Readonly<Record<string, Json>> = {}): Json {
  return {
    ...{
      type: "serve.ended",
      exit_code: 0,
      missed: 0,
      refused: 0,
      warned: 0,
      tiers: {},
      rules: {},
      rewritten: 0,
    },
    served: fixtures.reduce((sum, { used }) => sum + used.length, 0),
    ...{ tool_outputs_differ: 0, unused: [], turned_away: 0, skipped: 0, unmet_faults: [], fixtures },
    ...more,
  };
}

/** Writes events of one `serve`, with the last ones as given; returns the path. */
export function writeEvents(path: string, ...last: readonly Json[]): string {
  write(path, [{ type: "ready", port: 1 }, ...last].map((event) => `${JSON.stringify(event)}\n`).join(""));
  return path;
}

/** Writes one list for each array of uses; returns the flags that name them. */
export function lists(home: RecordingHome, uses: readonly (readonly Use[])[], more: Json = {}): string[] {
  return uses.flatMap((each, index) => {
    const file = writeEvents(`${home.directory}/list ${index + 1}`, ended(each, more));
    return ["--events", file.slice(home.directory.length + 1)];
  });
}

/** Prunes; returns the report and the numbers that each fixture lost, by its name. */
export async function pruned(home: RecordingHome, path: string, flags: readonly string[]) {
  const report = await home.json(["prune", path, ...flags]);
  const losses = Object.fromEntries(report.fixtures.map(({ path, removed }: Json) => [
    path.slice(path.lastIndexOf("/") + 1),
    removed.map(({ number }: Json) => number),
  ]));
  return { ...report, losses };
}
