/** Calls of the program while it is built, whose compiled code the executable keeps. */
import { join } from "node:path";
import type { PartName } from "../../src/cli/start/begin.ts";
import type { ScriptName } from "../../src/cli/start/embedded_script.ts";
import { DEMO_PERMISSIONS, DEMO_PROMPTS, DEMO_SESSION } from "../demo/scene.ts";

/** A model of the price list, for the code that finds a price. */
const PRICED_MODEL = "gpt-4o";

/**
 * The calls, each after the name of its part: those that people and scripts make most often. The first run compares its
 * requests with those of the fixture; the last one asks the server at `baseUrl`.
 */
export function warmUpCalls(root: string, workspace: string, baseUrl: string): [ScriptName, ...string[]][] {
  const played = (fixture: string, ...args: readonly string[]): [PartName, ...string[]] => [
    "playing",
    ...["run", "-s", DEMO_SESSION, "--fixture", demoFixture(root, fixture), "-w", workspace],
    ...[...DEMO_PERMISSIONS, ...args],
  ];
  const [first, second] = DEMO_PROMPTS;
  return [
    ["prices", PRICED_MODEL],
    played("first", "--new", first),
    played("second", "--match", "sequence", second),
    ["running", "run", "-m", PRICED_MODEL, "--base-url", baseUrl, "-w", workspace, second],
    ["listing", "ls"],
    ["viewing", "show", DEMO_SESSION],
    ["all", "fsck", DEMO_SESSION],
    ["all", "serve", demoFixture(root, "first"), "--allow-unused", "--", Deno.execPath(), "eval", ""],
  ];
}

/** A server on this machine that answers each request with the stream of the demo's second run. */
export function answeringServer(root: string): AsyncDisposable & { readonly baseUrl: string } {
  const body = Deno.readFileSync(join(demoFixture(root, "second"), "exchanges", "0001", "body"));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.arrayBuffer();
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function demoFixture(root: string, name: string): string {
  return join(root, "fixtures", "demo", name);
}
