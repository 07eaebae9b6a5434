/**
 * Keeps, replays and tests sessions with reasoning models over stateless APIs.
 *
 * @module
 */
import { main } from "./src/cli/main.ts";

Deno.exit(await main(Deno.args));
