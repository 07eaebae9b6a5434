/** The verbs that print what other programs read: completions and JSON Schemas. */
import { argument, type Verb, verb, WRAPPED_COMMAND } from "../declare.ts";
import { COMMON_FLAGS } from "../flags.ts";

/** The declarations. */
export const COMPLETION_VERBS: readonly Verb[] = [
  verb({
    name: "completions",
    about: "print the completions of a shell",
    arguments: [
      argument("<shell>", "the shell that reads them; words: what may follow the words after --", [
        "bash",
        "zsh",
        "fish",
        "words",
      ]),
      WRAPPED_COMMAND,
    ],
    flags: COMMON_FLAGS,
    examples: [
      "reprise completions bash > ~/.local/share/bash-completion/completions/reprise",
      "reprise completions fish > ~/.config/fish/completions/reprise.fish",
    ],
    load: async () => (await import("./completions.ts")).completionsVerb,
  }),
  verb({
    name: "schema",
    about: "print the JSON Schema of a --json document; without a name, list them",
    arguments: [argument("[name]", "the name, such as run-event, ls or error")],
    flags: COMMON_FLAGS,
    examples: ["reprise schema", "reprise schema run-event"],
    load: async () => (await import("../schemas/schema.ts")).schemaVerb,
  }),
];
