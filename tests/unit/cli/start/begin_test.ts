import assert from "node:assert/strict";
import { partFor } from "../../../../src/cli/start/begin.ts";

Deno.test("a call loads the smallest part that has all that it needs", () => {
  const cases: readonly [string, readonly string[]][] = [
    ["all", []],
    ["listing", ["ls", "--json"]],
    ["viewing", ["show", "demo"]],
    ["all", ["search", "demo"]],
    ["all", ["show", "demo", "--markdown"]],
    ["all", ["show", "demo", "--html", "demo.html"]],
    ["all", ["show", "demo", "--html=-"]],
    ["running", ["run", "-s", "demo", "Go on"]],
    ["playing", ["run", "--fixture", "kept", "Go on"]],
    ["playing", ["run", "-s", "demo", "--fixture=kept", "Go on"]],
    ["all", ["run", "--fixture", "kept", "--record", "again", "Go on"]],
    ["all", ["run", "--record", "kept", "Go on"]],
    ["all", ["run", "-s", "demo", "--record=kept", "Go on"]],
    ["all", ["fork", "demo"]],
    ["all", ["--json", "run", "Go on"]],
    ["all", ["ru"]],
  ];
  for (const [part, args] of cases) assert.equal(partFor(args), part, args.join(" "));
});
