import { ReprError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { type Fixture, playable } from "../fixture/read.ts";
import type { Send } from "../transport/http.ts";
import { createPlayer } from "../transport/player.ts";
import { absolute } from "./settings.ts";

/** A fixture that answers, and what was asked of it. */
export interface PlayedFixture {
  readonly send: Send;
  /** Ends the log. */
  close(): void;
}

/**
 * Plays a fixture. Where `REPRISE_PLAY_LOG` names a file, each request is appended to it as one line of JSON before
 * it is answered, `{number, method, path, body}` with the exact text of the body; the last line is
 * `{"type":"end","used":…,"of":…}`: how many of the recorded exchanges were asked for.
 *
 * @throws {ReprError} `usage` when that file cannot be written.
 */
export function playFixture(ports: Ports, fixture: Fixture): PlayedFixture {
  const player = createPlayer(fixture.exchanges.map(playable), { clock: ports.clock });
  const path = ports.env("REPRISE_PLAY_LOG") ?? "";
  if (path === "") return { send: player, close: () => {} };
  const log = openLog(absolute(ports, path));
  let asked = 0;
  return {
    send(request, signal) {
      asked += 1;
      const { pathname, search } = new URL(request.url);
      log.line({ number: asked, method: "POST", path: `${pathname}${search}`, body: request.body });
      return player(request, signal);
    },
    close() {
      log.line({ type: "end", used: player.used, of: fixture.exchanges.length });
      log.close();
    },
  };
}

function openLog(path: string) {
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      throw new ReprError(
        "usage",
        `Cannot write the log of played requests to ${JSON.stringify(path)} (REPRISE_PLAY_LOG)`,
        { hint: "Name a file that can be written, or unset the variable", cause },
      );
    }
  };
  const file = attempt(() => Deno.openSync(path, { create: true, append: true, mode: 0o600 }));
  return {
    line(value: unknown) {
      const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
      attempt(() => {
        for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
      });
    },
    close: () => file.close(),
  };
}
