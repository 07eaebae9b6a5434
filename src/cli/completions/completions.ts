/**
 * The verb `completions`: prints the scripts for shells, and answers them. A script asks at each TAB; the answer is a line for
 * each word that may follow, with its meaning after a tab. Without a fitting word the shell completes files; after `--`
 * it completes a command.
 */
import type { ExitCode } from "../../domain/errors.ts";
import { sessionNames } from "../../store/home.ts";
import { homeOf, makeContext, makeOutput } from "../context.ts";
import { type Flag, type Verb, WRAPPED_COMMAND } from "../declare.ts";
import { COMMON_FLAGS, type CommonFlags } from "../flags.ts";
import { FIXTURE_ABOUT } from "../help.ts";
import { namedVerb, takesValue } from "../leading_flags.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { ALL_VERBS } from "../verbs.ts";

// bash splits words at "=" and "@"; `_describe` of zsh takes word:meaning.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_reprise() {
  local cur=\${COMP_WORDS[COMP_CWORD]#=} words=("\${COMP_WORDS[@]:1:COMP_CWORD - 1}") lines
  if [[ \${words[-1]} == @ ]]; then cur=@$cur; unset 'words[-1]'; fi
  if [[ " \${words[*]} " == *' -- '* ]]; then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); return; fi
  mapfile -t lines < <(reprise completions words -- "\${words[@]}" "$cur" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "\${lines[*]%%$'\\t'*}" -- "$cur")
}
complete -o default -F _reprise reprise
`,
  zsh: `#compdef reprise
_reprise() {
  local at=\${words[(i)--]}
  if ((at < CURRENT)); then shift at words; ((CURRENT -= at)); _normal; return; fi
  local -a lines=("\${(@f)$(reprise completions words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local -a described=("\${(@)\${(@)lines//:/\\\\:}/$'\\t'/:}")
  _describe word described || _files
}
if [[ $funcstack[1] == _reprise ]]; then _reprise "$@"; else compdef _reprise reprise; fi
`,
  fish: `function __reprise
    set -l words (commandline -opc) (commandline -ct)
    if set -l at (contains -i -- -- $words[..-2])
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
    else
        set -l lines (reprise completions words -- $words[2..-1] 2>/dev/null)
        string match -q -- "$words[-1]*" $lines; and string join \\n -- $lines; or __fish_complete_path $words[-1]
    end
end
complete -c reprise -e
complete -c reprise -f -a '(__reprise)'
`,
};

/** Performs `completions`; the parser has checked `shell`. */
export function completionsVerb(
  ports: ProgramPorts,
  shell: string,
  words: readonly string[],
  flags: CommonFlags,
): ExitCode {
  const output = makeOutput(ports, flags);
  const text = SCRIPTS[shell] ?? complete(ports, words).map((line) => `${line}\n`).join("");
  if (output.options.json) output.json<"completions">({ shell, text });
  else output.text(text);
  return 0;
}

/** Lists what may follow the words after `reprise`; the last word is as far as the cursor. */
function complete(ports: ProgramPorts, words: readonly string[]): readonly string[] {
  const names: string[] = [];
  let open: Flag | undefined;
  let home: string | undefined;
  let verb: Verb | undefined;
  let flags: Readonly<Record<string, Flag>> = COMMON_FLAGS;
  // bash passes "--flag=value" as three words.
  for (const word of words.slice(0, -1).filter((word) => word !== "=")) {
    if (open !== undefined) {
      if (open === COMMON_FLAGS.home) home = word;
      open = undefined;
    } else if (takesValue(word, flags)) {
      open = Object.values(flags).find((flag) => namesOf(flag).includes(word));
    } else if (!word.startsWith("-")) {
      names.push(word);
      verb = namedVerb(names, ALL_VERBS)?.verb;
      flags = { ...verb?.flags, ...COMMON_FLAGS };
    }
  }
  if (open === undefined && words.at(-1)?.startsWith("-")) {
    const lines = Object.values(flags).flatMap((flag) =>
      namesOf(flag).map((name) => `${name}\t${flag.about}`)
    );
    return [...lines, "--help\tshow help"];
  }
  if (open === undefined && verb === undefined) return verbsAfter(names[0]);
  const positional = verb?.arguments.filter((each) => each !== WRAPPED_COMMAND) ?? [];
  const index = names.length - (names[0] === "fixture" ? 2 : 1);
  const place = open ?? positional[index] ?? positional.findLast(({ spec }) => spec.includes("..."));
  const fixed = place?.choices ?? open?.suggests;
  return fixed ?? (/[<[]ids?\b/.test(place?.spec ?? "") ? sessionsAt(ports, home) : []);
}

/** Spellings, such as `-m` and `--model`. */
function namesOf({ spec }: Flag): string[] {
  return spec.replace(/ [<[].*/, "").split(", ");
}

/** The verbs that may follow: at the top and after `help`, and those of the group after its name. */
function verbsAfter(group: string | undefined): string[] {
  const verbs = [...ALL_VERBS.top, { name: "fixture", about: FIXTURE_ABOUT }, {
    name: "help",
    about: "show help for a verb",
  }];
  const fitting = group === "fixture"
    ? ALL_VERBS.fixture
    : group === undefined || group === "help"
    ? verbs
    : [];
  return fitting.map(({ name, about }) => `${name}\t${about}`);
}

/** The ids below a home; those of no home if it cannot be read. */
function sessionsAt(ports: ProgramPorts, path: string | undefined): string[] {
  const home = path?.replace(/^~(?=\/)/, ports.env("HOME") ?? "~");
  try {
    const context = makeContext(ports, { json: undefined, quiet: undefined, color: false, home });
    return [...sessionNames(ports, homeOf(context)), "@last"];
  } catch {
    return ["@last"];
  }
}
