import assert from "node:assert/strict";
import { Command } from "commander";
import { declareVerb } from "../../src/cli/parser.ts";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import {
  type Flag,
  flagArguments,
  type FlagTable,
  list,
  negated,
  text,
  toggle,
  value,
  variablesOf,
  type Verb,
} from "../../src/cli/declare.ts";
import { isRead } from "../../src/cli/environment.ts";
import { COMMON_FLAGS, REMOTE, REQUEST_FLAGS, STDIN, TRANSPORT, wholeNumber } from "../../src/cli/flags.ts";
import { CONFIG_NAMES } from "../../src/cli/config_file.ts";

const FLAGS: readonly (readonly [string, Flag])[] = [...VERBS, ...FIXTURE_VERBS].flatMap(({ name, flags }) =>
  Object.entries(flags).map(([flag, declared]) => [`${name} ${flag}`, declared] as const)
);

function verbWith(flags: FlagTable): Verb {
  return {
    name: "try",
    about: "",
    step: false,
    arguments: [],
    flags,
    examples: [],
    load: () => Promise.reject(new Error("It is not called here")),
  };
}

/** The values of the flags in `args`. */
function parsed(flags: FlagTable, args: readonly string[]): Record<string, unknown> {
  const command = new Command("try").exitOverride();
  declareVerb(command, verbWith(flags), () => {});
  return command.parse([...args], { from: "user" }).opts();
}

Deno.test("a flag is declared under the name that its value has, and conflicts with flags of its verb", () => {
  assert.throws(
    () => parsed({ maxStep: text("--max-steps <n>", "") }, []),
    { message: 'The flag "--max-steps <n>" is declared as maxStep, not as maxSteps' },
  );
  assert.throws(
    () => parsed({ events: toggle("--events", "", { conflicts: ["turns"] }) }, []),
    { message: 'The flag "--events" conflicts with no flag turns' },
  );
});

Deno.test("every variable that a flag names is one that the program reads", () => {
  const variables = new Set(FLAGS.flatMap(([, flag]) => variablesOf(flag)));
  assert.ok(variables.has("REPRISE_MODEL") && variables.has("REPRISE_NO_STDIN"));
  for (const name of variables) assert.ok(isRead(name), name);
});

Deno.test("config.json has the members that flags name, however many verbs have the flag", () => {
  assert.deepEqual(CONFIG_NAMES, [
    "model",
    "provider",
    "base_url",
    "profile",
    "effort",
    "summary",
    "transport",
    "stdin",
    "remote",
    "home",
  ]);
  const known: readonly Flag[] = Object.values<Flag>({
    ...REQUEST_FLAGS,
    TRANSPORT,
    STDIN,
    REMOTE,
    ...COMMON_FLAGS,
  });
  for (const [name, { spec, sources }] of FLAGS) {
    if (!sources.some((source) => typeof source === "object" && "member" in source)) continue;
    assert.ok(
      known.some((flag) => flag.spec === spec),
      `${name} is set by config.json, and is not read there`,
    );
  }
});

Deno.test("values written as arguments are read back the same", () => {
  const table = {
    ask: toggle("--ask", ""),
    color: negated("--no-color", ""),
    session: text("-s, --session <id>", ""),
    allow: list("--allow <list>", ""),
    maxSteps: value("--max-steps <n>", "", wholeNumber(1), { fallback: 50 }),
  };
  const none = { color: true, maxSteps: 50 };
  const all = { ask: true, color: false, session: "--ask", allow: ["-s", "a b", ""], maxSteps: 3 } as const;
  assert.deepEqual(flagArguments(table, none), []);
  assert.deepEqual(parsed(table, []), none);
  const args = flagArguments(table, all);
  assert.deepEqual(args.slice(0, 4), ["--ask", "--no-color", "-s", "--ask"]);
  assert.deepEqual(parsed(table, args), all);
});
