/**
 * `deno task picture`: draws `docs/terminal.svg`, the picture of the README, from a run of `dist/reprise` in a terminal.
 * Needs tmux, openssl and Debian's python3-pytest. `--check` writes nothing, and fails if the picture is stale.
 *
 * @module
 */
import { COLUMNS, playScene } from "./picture/scene.ts";
import { styledLines, terminalSvg, wrapped } from "./picture/svg.ts";
import { complain, runScript, say } from "./terminal.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const TITLE =
  "Record the traffic of your tests, replay it without a key, and see what a changed prompt reports";

/** Path of the picture below the root of the repository. */
export const PICTURE = "docs/terminal.svg";

/** Plays the scene as {@linkcode playScene} does, and returns the picture of its terminal. */
export async function drawPicture(...scene: Parameters<typeof playScene>): Promise<string> {
  const lines = wrapped(styledLines(await playScene(...scene)), COLUMNS);
  return terminalSvg(lines, { title: TITLE, columns: COLUMNS });
}

async function main(args: readonly string[]): Promise<number> {
  const drawn = await drawPicture([`${ROOT}dist/reprise`]);
  if (!args.includes("--check")) {
    Deno.writeTextFileSync(`${ROOT}${PICTURE}`, drawn);
    say(`wrote ${PICTURE}`);
    return 0;
  }
  if (Deno.readTextFileSync(`${ROOT}${PICTURE}`) === drawn) return 0;
  complain(`${PICTURE} is stale: run "deno task picture"`);
  return 1;
}

if (import.meta.main) await runScript(() => main(Deno.args));
