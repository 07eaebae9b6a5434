/** Creates the replayers of `serve` and of `record --missing` by their flags. */
import type { Ports } from "../../domain/ports.ts";
import { requireUnambiguous } from "../../fixture/match/ambiguity.ts";
import { NO_RULES, normalizersOf } from "../../fixture/match/rules/fixture_rules.ts";
import { parseFlags } from "../../fixture/match/rules/match_rules.ts";
import { createCures } from "../../fixture/match/cure.ts";
import { Scrubber } from "../../fixture/secrets/scrubber.ts";
import { Replayer } from "../../fixture/serve/replayer.ts";
import { inSlices } from "../../fixture/steps.ts";
import { answersWithRecordedPaths, type RecordedPaths } from "../../fixture/serve/rewrite.ts";
import type { CreateReplayer } from "../../fixture/serve/suite.ts";
import { withOpen } from "../../fixture/secrets/secret_values.ts";
import { secretEnvironment } from "../secret_environment.ts";
import type { Output } from "../output.ts";
import type { ServeFlags } from "./command.ts";
import { machineValues, parseContext } from "../machine_values.ts";

type ReplayFlags = Pick<
  ServeFlags,
  | "match"
  | "normalize"
  | "ignore"
  | "replace"
  | "strictMatch"
  | "rules"
  | "context"
  | "rewriteContext"
  | "repeat"
>;

interface FactoryOptions {
  readonly flags: ReplayFlags;
  /** Gets a note about answers with the recorder's paths; `null` for no note. */
  readonly output: Output | null;
  /** Command that a miss names. @default {`reprise record` with the fixture's own upstream} */
  readonly recordCommand?: string;
  /** Command that runs against the server, as a line. @default {a placeholder} */
  readonly command?: string | undefined;
  /** Variables whose values are not secret, besides those of the fixtures. @default {none} */
  readonly notSecret?: readonly string[] | undefined;
}

/**
 * Returns the function that creates the replayer of fixtures that are served together. It rejects with `bad_fixture` or
 * `usage` for match rules that cannot be used.
 */
export async function replayerFactory(
  ports: Pick<Ports, "clock" | "env" | "files" | "process" | "workingDirectory">,
  { flags, output, recordCommand, command, notSecret = [] }: FactoryOptions,
): Promise<CreateReplayer> {
  const { match = "semantic", rewriteContext = false } = flags;
  const withoutRules = flags.strictMatch === true || match === "exact";
  const flagRules = parseFlags(flags);
  const context = parseContext(flags.context);
  const [directory, began] = [ports.workingDirectory(), ports.clock.now()];
  const options = {
    match,
    candidates: () => machineValues({ ...ports, workingDirectory: () => directory }, { began, context }),
    rules: flags.rules ?? null,
    rewriteContext,
    repeat: flags.repeat === true,
    ...(recordCommand === undefined ? {} : { recordCommand }),
    ...(command === undefined ? {} : { command }),
    findCure: flags.strictMatch === true ? null : await createCures(flagRules),
  };
  const scrubberOf = scrubbers();
  let isNoted = rewriteContext || output === null;
  return async (fixtures, unrecorded = null) => {
    const declared = await normalizersOf(fixtures, flagRules);
    const normalizerOf = withoutRules ? NO_RULES : declared;
    await inSlices(requireUnambiguous(fixtures, normalizerOf));
    if (!isNoted) {
      const note = recordedPathsNote(answersWithRecordedPaths(fixtures, normalizerOf));
      if (note !== null) output?.note(note);
      isNoted = note !== null;
    }
    const scrubber = scrubberOf([...notSecret, ...fixtures.flatMap(({ header }) => header.not_secret ?? [])]);
    return await inSlices(Replayer.of(fixtures, { ...options, normalizerOf, scrubber, unrecorded }));
  };
}

/**
 * Returns the function that creates scrubbers for the present environment, which the server changes for its command.
 * Fixtures with the same variables that are not secret share a scrubber.
 */
function scrubbers(): (notSecret: readonly string[]) => Scrubber {
  const { values } = secretEnvironment();
  const known = new Map<string, Scrubber>();
  return (notSecret) => {
    const key = JSON.stringify(notSecret);
    const scrubber = known.get(key) ?? new Scrubber({ values: withOpen(values, notSecret) });
    known.set(key, scrubber);
    return scrubber;
  };
}

/** Names the answers whose calls hold paths of the recording; `null` if there are none. */
function recordedPathsNote(found: readonly RecordedPaths[]): string | null {
  const [first] = found;
  if (first === undefined) return null;
  const rules = [...new Set(found.flatMap(({ values }) => values.map(({ rule }) => rule)))].join(", ");
  const others = found.length === 1 ? "" : ` and ${found.length - 1} more`;
  return `calls hold the recorder's paths (${rules}): exchange ${first.number} of "${first.fixture}"${others}; ` +
    "elsewhere, --rewrite-context replaces them with the client's own";
}
