/**
 * What is settled about a run before its session is opened: flags checked, files readable; and, for a new session,
 * endpoint and key known.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { type Fixture, readFixture } from "../../fixture/read.ts";
import { requireNewFolder } from "../../fixture/seal.ts";
import { readCallPlayer } from "../../fixture/session/tools_file.ts";
import type { ApiKey } from "../../apis/api.ts";
import type { ToolPlayback } from "../../run/tool_playback.ts";
import { canonicalRoot } from "../../tools/sandbox_path.ts";
import { requireAnswerFile } from "./answer_file.ts";
import { keySetting } from "./api_key.ts";
import type { RunFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import { type Endpoint, endpointSetting } from "./endpoint.ts";
import { requireNamedEndpoint } from "./endpoint_change.ts";
import { fixturePorts } from "./fixture_ports.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { postureOf } from "./permissions.ts";
import { modelSetting, readOutputSchema, replaySetting, textOrFile } from "./run_settings.ts";
import { absolute, switchVariable } from "../settings.ts";
import { liveTimeouts } from "./timeouts.ts";

/** Everything about a run that is known before its session is open. */
export interface RunPlan {
  readonly context: Context;
  readonly ports: ProgramPorts;
  readonly fixture: Fixture | null;
  /** The recorded calls of the fixture; `null` where the tools of this run are executed. */
  readonly playback: ToolPlayback | null;
  readonly flags: RunFlags;
  readonly root: string;
  /** The session to go on with; `null` for a new one. */
  readonly selector: string | null;
  /** Refuse to begin when pins differ from the run before. */
  readonly strictDrift: boolean;
}

/** Which model is asked where. */
export interface RunTarget {
  readonly endpoint: Endpoint;
  /** `null` where nothing is sent, or to a server that takes none. */
  readonly key: ApiKey | null;
  readonly model: string;
}

/**
 * Settles everything that can be settled without waiting for stdin or a lock, so that what is missing is told before
 * a session is made.
 *
 * @throws {RepriseError} `usage`, `missing_key`, `no_model`, `bad_fixture` and the rest of exit code 2.
 */
export function planRun(live: ProgramPorts, flags: RunFlags): RunPlan {
  checkFlags(flags);
  const context = makeContext(live, flags);
  const fixture = flags.fixture === undefined
    ? null
    : readFixture(context.ports.files, absolute(live, flags.fixture));
  const ports = fixture === null ? context.ports : fixturePorts(context.ports, fixture);
  const playback = fixture === null ? null : readCallPlayer(context.ports.files, fixture);
  const selector = flags.continue === true ? "@last" : flags.new === true ? null : flags.session ?? null;
  const root = workspaceRoot(flags.workspace);
  const strict = fixture === null && switchVariable(ports, ["REPRISE_STRICT_DRIFT"]) === true;
  const strictDrift = strict && flags.acceptDrift !== true;
  const plan: RunPlan = { context, ports, fixture, playback, flags, root, selector, strictDrift };
  if (selector === null) runTarget(plan, null);
  postureOf(flags, null);
  replaySetting(ports, flags, fixture);
  checkFiles(ports, flags);
  return plan;
}

/**
 * Where the run's requests go. For a session this is known once its manifest is: it may name provider and model.
 *
 * @throws {RepriseError} `endpoint_changed`, `missing_key`, `no_model`, `no_base_url`, `bad_url`, `insecure_url`.
 */
export function runTarget({ ports, context, fixture, flags }: RunPlan, manifest: Manifest | null): RunTarget {
  const from = { config: context.config, fixture, manifest };
  const endpoint = endpointSetting(ports, flags, from);
  requireNamedEndpoint(endpoint, manifest);
  const key = fixture === null && flags.dryRun !== true ? keySetting(ports, endpoint) : null;
  return { endpoint, key, model: modelSetting(ports, flags, from).value };
}

function checkFlags(flags: RunFlags): void {
  if (flags.session !== undefined && flags.continue === true) {
    throw new RepriseError("usage", "Cannot use --session and --continue together: each names a session", {
      hint: "Give one of them",
    });
  }
  if (flags.record !== undefined && flags.fixture !== undefined) {
    throw new RepriseError(
      "usage",
      "Cannot use --record and --fixture together: a played run is recorded already",
      {
        hint: "Give one of them",
      },
    );
  }
  if (flags.notSecret !== undefined && flags.record === undefined) {
    throw new RepriseError(
      "usage",
      "Cannot use --not-secret without --record: it is about what is recorded",
      {
        hint: "Add --record DIR, or leave it out",
      },
    );
  }
  if (flags.new === true && flags.continue === true) {
    throw new RepriseError(
      "usage",
      "Cannot use --new and --continue together: one begins a session, one goes on",
      { hint: "Give one of them" },
    );
  }
}

/** Every file that a flag names can be read, and the answer's and the recording's can be made. */
function checkFiles(ports: Ports, flags: RunFlags): void {
  if (flags.instructions !== undefined) textOrFile(ports, flags.instructions, "--instructions");
  if (flags.outputSchema !== undefined) readOutputSchema(ports, flags.outputSchema);
  liveTimeouts(ports);
  if (flags.output !== undefined) requireAnswerFile(flags.output);
  if (flags.record !== undefined) requireNewFolder(ports.files, absolute(ports, flags.record), "record");
}

function workspaceRoot(flag: string | undefined): string {
  const path = flag ?? ".";
  try {
    return canonicalRoot(path);
  } catch (cause) {
    throw new RepriseError(
      "usage",
      `Cannot use the workspace "${path}": it is no directory that can be opened`,
      {
        hint: "Give -w a directory that exists",
        cause,
      },
    );
  }
}
