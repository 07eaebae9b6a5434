/**
 * Keeps, replays and tests sessions with reasoning models over stateless APIs.
 *
 * @module
 */
import { livePorts } from "./src/cli/live_ports.ts";
import { main, prepareProcess } from "./src/cli/main.ts";

prepareProcess();
Deno.exit(await main(Deno.args, livePorts()));
