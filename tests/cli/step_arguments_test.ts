import assert from "node:assert/strict";
import * as fc from "fast-check";
import { RUN_FLAGS } from "../../src/cli/run/command.ts";
import type { Flag } from "../../src/cli/declare.ts";
import { replayCall } from "../../src/cli/run/run_recording.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { VERBS } from "../../src/cli/verbs.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import type { RunSetup } from "../../src/run/setup.ts";

const SETUP = {
  writer: { id: "one" },
  model: "gpt-5.6",
  instructions: "Be brief.",
  replay: "exact",
  window: null,
} as unknown as RunSetup;
const FLAGS = {
  color: true,
  blobs: true,
  stdin: true,
  maxSteps: 50,
  timeout: 1800,
  wait: 0,
} as const;

/** A value for a flag that takes any: it looks like a flag itself. */
function valueFor({ spec, choices, read }: Flag): unknown {
  if (!spec.includes("<")) return !spec.startsWith("--no-");
  if (choices !== undefined) return choices[0];
  return /<(?:n|tokens|seconds)>/.test(spec) ? read?.("7", undefined) : read?.("-w/", undefined) ?? "-w/";
}

Deno.test("a step may have what a recorded run writes, whatever its flags, and a prompt that begins with a dash", () => {
  const recorded = Object.entries<Flag>(RUN_FLAGS).filter(([, { step }]) => step === "recorded");
  assert.ok(recorded.some(([name]) => name === "ask"));
  for (const [name, flag] of recorded) {
    const value = valueFor(flag);
    for (const isNew of [true, false]) {
      for (const prompt of ["-1 is what it prints", "--home is where it is", "-w", "--", "Hi", null]) {
        const { args } = replayCall(SETUP, { flags: { ...FLAGS, [name]: value }, isNew, prompt });
        assert.equal(checkStepArguments(args), null, args.join(" "));
        assert.ok(args.join(" ").includes(flag.spec.replace(/[ ,].*$/, "")), name);
      }
    }
  }
});

Deno.test("the value of a flag is no flag, whatever it begins with", () => {
  for (
    const args of [
      ["run", "--new", "--instructions", "-write less", "Hi"],
      ["run", "-c", "--deny", "--home=/tmp", "Hi"],
      ["run", "-s", "-w", "Hi"],
      ["run", "-m", "--fixture", "-c"],
      ["compact", "a", "--model", "-o"],
    ]
  ) assert.equal(checkStepArguments(args), null, args.join(" "));
});

Deno.test("a flag that the player of a step sets is found in each form, before and after a mistake", () => {
  for (
    const [index, ...args] of [
      [1, "run", "--home", "/tmp", "Hi"],
      [3, "run", "-c", "Hi", "--home", "/tmp"],
      [2, "run", "-c", "-w", "/tmp"],
      [1, "run", "-cw", "/tmp", "Hi"],
      [1, "run", "-cow", "Hi"],
      [1, "run", "--json"],
      [3, "run", "-s", "--", "--no-color"],
      [2, "run", "--bogus", "--home=/tmp"],
      [3, "run", "--max-steps", "3", "--debug", "--max-steps", "none"],
      [4, "run", "a prompt", "too", "many", "--record=x"],
      [1, "interrupt", "--quiet"],
      [2, "compact", "a", "--fixture", "x"],
      [2, "explain", "a", "--base-url=http://127.0.0.1:1"],
    ] as const
  ) {
    const found = checkStepArguments(args);
    assert.equal(found?.index, index, args.join(" "));
    assert.ok(found.why.startsWith(`${JSON.stringify(args[index])} is not allowed in a step`), found.why);
  }
});

Deno.test("arguments that the parser refuses are a step's own: it ends with exit code 2", () => {
  for (const args of [["run", "--bogus"], ["run", "a", "b"], ["fork"], ["run", "-m"], ["show", "--help"]]) {
    assert.equal(checkStepArguments(args), null, args.join(" "));
  }
});

/** The flags that `run` is called with by a player, or `null` when it is not called at all. */
function flagsOfRun(args: readonly string[]): Record<string, unknown> | null {
  const program = buildProgram(livePorts(), { top: VERBS, fixture: [] }, ["run"]);
  let called: Record<string, unknown> | null = null;
  program.commands.find((command) => command.name() === "run")?.action((_prompt, flags) => {
    called = flags;
  });
  const silent = { writeOut: () => {}, writeErr: () => {} };
  program.configureOutput(silent).commands.forEach((command) => command.configureOutput(silent));
  try {
    program.parse(["run", "--home", "H", "-w", "W", "--fixture", "F", ...args], { from: "user" });
  } catch {
    return null;
  }
  return called;
}

Deno.test("whatever a step says, the check refuses it exactly when it would change what its player sets", () => {
  const players = { home: "H", workspace: "W", fixture: "F", color: true, blobs: true };
  const forbidden = Object.entries<Flag>(RUN_FLAGS).filter(([, { step }]) => step === false);
  const argument = fc.constantFrom(
    ...["--", "-", "Hi", "-1", "-x", "-c", "-s", "-m", "-mo", "-cs", "-cw/", "-cow", "-w", "-w/", "-o", "-V"],
    ...["--home", "--home=/x", "--fixture=", "--record", "--json", "--no-color", "--new", "--ask", "--help"],
    ...["--instructions", "--deny=-o", "--max-steps", "3", "--max-steps=x", "--bogus", "--bogus=--home"],
    "--no-blobs",
  );
  const seen = { refused: 0, called: 0 };
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 6 }), (args) => {
      const flags = flagsOfRun(args);
      // Help, and arguments that the parser refuses, change nothing.
      if (flags === null) return;
      const isChanged = forbidden.some(([name]) =>
        flags[name] !== (players as Record<string, unknown>)[name]
      );
      assert.equal(checkStepArguments(["run", ...args]) !== null, isChanged, args.join(" "));
      seen[isChanged ? "refused" : "called"] += 1;
    }),
    { numRuns: 2000, seed: 20261121 },
  );
  assert.ok(Math.min(...Object.values(seen)) > 100, JSON.stringify(seen));
});
