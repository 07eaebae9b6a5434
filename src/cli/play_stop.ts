import { ReprError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import type { RunEvent } from "../run/events.ts";
import type { Stop } from "../run/stop.ts";

/**
 * What stops a played run behind a turn: where `REPRISE_PLAY_STOP` says `SIGKILL 3`, the process kills itself once turn
 * 3 is saved; `SIGINT`, `SIGTERM` and `SIGHUP` stop the run as these signals do. From outside, nobody could hit the same
 * place twice.
 *
 * @throws {ReprError} `usage` when the variable says anything else.
 */
export function playStop(ports: Ports, stop: Stop): (event: RunEvent) => void {
  const said = ports.env("REPRISE_PLAY_STOP") ?? "";
  if (said === "") return () => {};
  const match = /^(SIGKILL|SIGINT|SIGTERM|SIGHUP) (\d+)$/.exec(said);
  if (match === null) {
    throw new ReprError("usage", `Cannot read ${JSON.stringify(said)} (REPRISE_PLAY_STOP)`, {
      hint: "Give a signal and a turn, such as SIGKILL 3, or unset the variable",
    });
  }
  const signal = match[1] as "SIGKILL" | "SIGINT" | "SIGTERM" | "SIGHUP";
  const turn = Number(match[2]);
  return (event) => {
    if (event.type !== "turn.saved" || event.turn !== turn) return;
    if (signal === "SIGKILL") Deno.kill(Deno.pid, signal);
    else stop.request(signal);
  };
}
