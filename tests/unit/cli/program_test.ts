import assert from "node:assert/strict";
import * as fc from "fast-check";
import { CommanderError } from "commander";
import type { ProgramPorts } from "../../../src/cli/live_ports.ts";
import type { Called } from "../../../src/cli/parser.ts";
import { buildProgram, parseCall } from "../../../src/cli/program.ts";
import { FIXTURE_VERBS, VERBS } from "../../../src/cli/verbs.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const VERBS_OF_ALL = { top: VERBS, fixture: FIXTURE_VERBS };

/** Result of parsing: the verb with its values, or the error, and the printed text. */
interface Outcome {
  readonly called: unknown;
  readonly error: readonly string[] | null;
  readonly printed: string;
}

/** Ports that keep what is printed. */
function keepingPorts(): { readonly ports: ProgramPorts; printed(): string } {
  const chunks: string[] = [];
  const stream = {
    isTerminal: () => false,
    writeSync: (bytes: Uint8Array) => {
      chunks.push(new TextDecoder().decode(bytes));
      return bytes.length;
    },
  };
  return {
    ports: { stdout: stream, stderr: stream } as unknown as ProgramPorts,
    printed: () => chunks.join(""),
  };
}

function outcome(parse: (ports: ProgramPorts) => unknown): Outcome {
  const { ports, printed } = keepingPorts();
  try {
    return { called: parse(ports), error: null, printed: printed() };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The lines after the first are suggestions.
    return { called: null, error: [error.code, error.message.replace(/\n[^]*/, "")], printed: printed() };
  }
}

/** Parses with every flag of the verb declared. */
function withAllFlags(ports: ProgramPorts, args: readonly string[]): unknown {
  const calls: unknown[] = [];
  const called: Called = (verb, values) => calls.push([verb.name, values]);
  buildProgram(ports, VERBS_OF_ALL, args, called).parse([...args], { from: "user" });
  return calls[0];
}

function withNeededFlags(ports: ProgramPorts, args: readonly string[]): unknown {
  const { verb, values } = parseCall(ports, VERBS_OF_ALL, args);
  return [verb.name, values];
}

const flagNames = [...VERBS, ...FIXTURE_VERBS].flatMap(({ flags }) =>
  Object.values(flags).flatMap(({ spec }) => spec.split(/[ ,]+/).filter((name) => name.startsWith("-")))
);
const verbs = [...VERBS.map(({ name }) => [name]), ...FIXTURE_VERBS.map(({ name }) => ["fixture", name])];
const value = fc.constantFrom(
  "1",
  "x",
  "a=b",
  "2026-11-21",
  "-1",
  "-",
  "--",
  "",
  "sse",
  "none",
  "@last",
  "-h",
);
const argument = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...flagNames) },
  { weight: 2, arbitrary: value },
  fc.tuple(fc.constantFrom(...flagNames), value).map(([name, text]) => `${name}=${text}`),
  fc.tuple(fc.constantFrom(...flagNames), value).map(([name, text]) => `${name}${text}`),
  fc.string({ unit: fc.constantFrom("c", "s", "m", "q", "x", "o", "w", "1"), minLength: 1, maxLength: 3 })
    .map((letters) => `-${letters}`),
  fc.constantFrom("--bogus", "--hom", "--mdoel", "help", "--help", "-V", "--version"),
);
const call = fc.tuple(fc.constantFrom(...verbs), fc.array(argument, { maxLength: 6 }))
  .map(([verb, rest]) => [...verb, ...rest]);

test.long("whatever a call gives, its flags have the values that a parser with all flags gives them", () => {
  let accepted = 0;
  fc.assert(
    fc.property(call, (args) => {
      const needed = outcome((ports) => withNeededFlags(ports, args));
      assert.deepEqual(needed, outcome((ports) => withAllFlags(ports, args)));
      if (needed.called !== null) accepted++;
    }),
    {
      numRuns: samples(6000),
      examples: [[["run"]], [["ls", "--help"]], [["help", "run"]], [["fixture"]], [["-V"]]],
    },
  );
  assert.ok(accepted > 0, "no call was accepted");
});
