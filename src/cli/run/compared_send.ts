/** Requests of a call compared with those of its fixture. Only calls with `--fixture` load this module. */
import type { MatchMode } from "../../fixture/match/modes.ts";
import type { Fixture } from "../../fixture/read.ts";
import { Scrubber } from "../../fixture/secrets/scrubber.ts";
import { createReplaySend, type ReportingSend } from "../../fixture/serve/replay_send.ts";
import { secretEnvironment } from "../secret_environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { machineValues } from "../machine_values.ts";

/**
 * Answers requests with the exchanges that mean the same, under the rules of the fixture. The working directory of
 * `ports` is the one of the tools.
 *
 * @throws {RepriseError} `bad_fixture` for match rules that cannot be used.
 */
export function comparedSend(
  ports: ProgramPorts,
  fixture: Fixture,
  match: Exclude<MatchMode, "sequence">,
): Promise<ReportingSend> {
  const { values } = secretEnvironment(fixture.header.not_secret);
  return createReplaySend(fixture, {
    match,
    candidates: () => machineValues(ports, { began: fixture.created }),
    clock: ports.clock,
    scrubber: new Scrubber({ values }),
  });
}
