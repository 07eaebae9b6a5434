/** Keeps, replays and tests sessions with reasoning models over stateless APIs. */
import { begin } from "./src/cli/start/begin.ts";

await begin(
  (name) => name === "viewing" ? import("./src/cli/start/viewing.ts") : import("./src/cli/start/all.ts"),
  () => import("./src/cli/start/prices.ts"),
);
