/**
 * Keeps, replays and tests sessions with reasoning models over stateless APIs.
 *
 * @module
 */
import { VERSION } from "./src/cli/version.ts";

if (Deno.args.length === 1 && (Deno.args[0] === "--version" || Deno.args[0] === "-V")) {
  // Nothing else is loaded for it.
  Deno.stdout.writeSync(new TextEncoder().encode(`${VERSION}\n`));
  Deno.exit(0);
}
const [{ livePorts }, { main, prepareProcess }] = await Promise.all([
  import("./src/cli/live_ports.ts"),
  import("./src/cli/main.ts"),
]);
prepareProcess();
Deno.exit(await main(Deno.args, livePorts()));
