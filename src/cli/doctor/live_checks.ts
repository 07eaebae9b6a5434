/** The checks of `doctor --live`: whether the API answers, and accepts a second turn with its reasoning and without. */
import type { Check } from "../../schemas/inspection.ts";
import { asRepriseError, type RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { type Accepted, checkReplay, type LiveCheck } from "../../run/live_check.ts";
import { requestsIn } from "../../run/ledger.ts";
import { spendingText, spentRequests, sumOf } from "../cost/spending.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { resolveTarget, type SettingCall, targetSettings } from "../run/resolve_run.ts";
import { liveSend } from "../run/sending.ts";
import { liveTimeouts } from "../run/run_settings.ts";

/** Makes the requests of the check, up to three, with the settings in force; a failed first one is the only check. */
export async function liveChecks(call: SettingCall): Promise<Check[]> {
  try {
    const { ports } = call;
    const target = resolveTarget(call, null, { key: "required", endpoint: "named" });
    const { endpoint, key } = target;
    const settings = targetSettings(target, { id: "doctor", turns: [] });
    const begun = ports.clock.monotonic();
    const check = await checkReplay({
      ports,
      api: settings.api,
      send: liveSend(ports, endpoint),
      urlOf: (path) => endpoint.urlOf(path),
      key,
      signal: AbortSignal.timeout(3 * liveTimeouts(ports).responseTimeoutMs),
    }, { ...settings, cacheKey: "reprise-doctor" });
    const seconds = ((ports.clock.monotonic() - begun) / 1000).toFixed(1);
    return [
      { name: "live", level: "ok", detail: firstText(check, target.model) },
      { name: "live replay", ...exactCheck(check) },
      { name: "live replay none", ...noneCheck(check) },
      { name: "live cost", level: "ok", detail: `${await costText(ports, check)} · ${seconds} s` },
    ];
  } catch (error) {
    return [failed("live", error)];
  }
}

type Outcome = Omit<Check, "name">;

const ok = (detail: string): Outcome => ({ level: "ok", detail });
const unknown = (detail: string): Outcome => ({ level: "unknown", detail });

function firstText({ first: { answer }, reasoning, calls }: LiveCheck, model: string): string {
  const { response, account } = answer;
  const held = `${counted(reasoning, "reasoning item")} and ${counted(calls, "call")}`;
  const named = account === null ? "not named" : "named";
  return `${response.model ?? model} answered (${response.status}) with ${held}, account ${named}`;
}

const NO_CALL = "not checked: the model did not call the tool that it was asked to call";

function exactCheck({ reasoning, calls, unsent, exact }: LiveCheck): Outcome {
  if (calls === 0) return unknown(NO_CALL);
  if (reasoning === 0) {
    return unknown("not checked: the model returned no reasoning (set REPRISE_EFFORT, or another model)");
  }
  if (exact === null) {
    return unknown(`not checked: the reasoning cannot be sent again (${unsent.join(", ")})`);
  }
  const sent = counted(exact.sent, "reasoning item");
  if ("error" in exact) return failedTurn(exact.error, `a second turn with ${sent}`);
  const changed = exact.answer.response.inputTransformations?.length ?? 0;
  return changed === 0 ? ok(`a second turn with ${sent} was accepted`) : unknown(
    `a second turn with ${sent} was accepted, but the server changed or left out ${changed} of its items`,
  );
}

function noneCheck({ calls, exact, none }: LiveCheck): Outcome {
  if (calls === 0) return unknown(NO_CALL);
  if (none === null) return unknown("not checked after the failure before");
  if ("error" in none) return failedTurn(none.error, "a second turn without reasoning");
  const also = exact !== null && "error" in exact ? ": run with --replay none" : "";
  return ok(`a second turn without reasoning was accepted${also}`);
}

function failedTurn({ code, exitCode, message }: RepriseError, what: string): Outcome {
  return { level: "failed", detail: `${what}: ${message}`, code, exit_code: exitCode };
}

async function costText(ports: ProgramPorts, { first, exact, none }: LiveCheck): Promise<string> {
  const accepted = [first, exact, none].filter((each): each is Accepted => each !== null && "draft" in each);
  return spendingText(sumOf(await spentRequests(ports, accepted.flatMap(({ draft }) => requestsIn(draft)))));
}

export function failed(name: string, error: unknown): Check {
  const { message, hint, code, exitCode } = asRepriseError(error);
  const detail = hint === undefined ? message : `${message} (${hint})`;
  return { name, level: "failed", detail, code, exit_code: exitCode };
}
