/** The picture of the README is what the program prints: its scene is played again. */
import assert from "node:assert/strict";
import { drawPicture, PICTURE } from "../../../scripts/terminal_picture.ts";
import { works } from "../harness.ts";
import { denoCache, PROGRAM } from "../../support/reprise.ts";

const NEEDED = [["tmux", "-V"], ["openssl", "version"], ["/usr/bin/python3", "-m", "pytest", "--version"]];
const MISSING: string[] = [];
for (const command of NEEDED) if (!await works(command)) MISSING.push(command.join(" "));

Deno.test({
  name: `the scene of the README's picture, played again, gives the committed file${
    MISSING.length === 0 ? "" : ` (ignored: not here: ${MISSING.join(", ")})`
  }`,
  ignore: MISSING.length > 0,
  async fn() {
    const committed = Deno.readTextFileSync(new URL(`../../../${PICTURE}`, import.meta.url));
    assert.equal(
      await drawPicture(PROGRAM, denoCache()),
      committed,
      `${PICTURE} is stale: run "deno task picture"`,
    );
  },
});
