/** `reprise completions`: flags and declaration. */
import { argument, type Verb, verb, WRAPPED_COMMAND } from "../declare.ts";
import { COMMON_FLAGS } from "../flags.ts";

export const COMPLETIONS_VERB: Verb = verb({
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
});
