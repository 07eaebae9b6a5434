/** The completions for zsh. */
import { type CompletedFlag, type CompletedVerb, GROUP, type Offered, quoted, SESSION_IDS } from "./model.ts";

/** Returns the script: for a file `_reprise` in `fpath`, or for `source`. */
export function zshScript(verbs: readonly CompletedVerb[]): string {
  const prefix = `${GROUP.name} `;
  const top = verbs.filter(({ name }) => !name.includes(" "));
  const inner = verbs.filter(({ name }) => name.startsWith(prefix));
  const names = [...top, GROUP, { name: "help", about: "show help for a verb" }];
  return `#compdef reprise
# Completions of reprise for zsh, printed by "reprise completions zsh".

_reprise_sessions() {
  local -a ids
  ids=(\${(f)"$(sh -c ${quoted(SESSION_IDS)} sh "\${opt_args[--home]}")"})
  compadd -a ids
}

_reprise_verbs() {
  local -a verbs=(
${names.map(described).join("\n")}
  )
  _describe verb verbs
}

_reprise_${GROUP.name}() {
  local -a verbs=(
${inner.map(({ name, about }) => described({ name: name.slice(prefix.length), about })).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${inner.map((verb) => branch(verb, verb.name.slice(prefix.length))).join("\n")}
  esac
}

_reprise() {
  local context state state_descr line
  typeset -A opt_args
  # Flags may come before the verb.
  local -i at=2
  while (( at < CURRENT )); do
    case $words[at] in
      --home) (( at += 2 )) ;;
      -*) (( at++ )) ;;
      *) break ;;
    esac
  done
  if (( at >= CURRENT )); then
    _arguments -S '(- *)'{-h,--help}'[show help]' '(- *)'{-V,--version}'[print the version]' \\
      '--home[the directory of the sessions]:dir:_files -/' '*:: :_reprise_verbs'
    return
  fi
  local -a before=("\${(@)words[2,at-1]}")
  local verb=$words[at]
  words=("$verb" "\${(@)before}" "\${(@)words[at+1,-1]}")
  (( CURRENT -= 1 ))
  case $verb in
    ${GROUP.name}) _reprise_${GROUP.name} ;;
    help) _reprise_verbs ;;
${top.map((verb) => branch(verb, verb.name)).join("\n")}
  esac
}

if [[ $funcstack[1] == _reprise ]]; then _reprise "$@"; else compdef _reprise reprise; fi
`;
}

function described({ name, about }: { readonly name: string; readonly about: string }): string {
  return `    ${quoted(`${name}:${about}`)}`;
}

function branch({ flags, arguments: declared, wraps }: CompletedVerb, word: string): string {
  const specs = [
    ...flags.map(flagSpec),
    ...declared.map(({ spec, about, offered }, index) => {
      const name = spec.replaceAll(/[<>[\].]/g, "");
      const place = spec.includes("...") ? "*" : String(index + 1);
      return quoted(`${place}:${escaped(`${name}, ${about}`)}:${action(offered)}`);
    }),
  ];
  const call = `_arguments -s${wraps ? "" : " -S"} \\\n        ${specs.join(" \\\n        ")}`;
  if (!wraps) return `    ${word})\n      ${call} ;;`;
  return `    ${word})
      if (( \${words[(i)--]} < CURRENT )); then
        (( CURRENT -= \${words[(i)--]} ))
        shift \${words[(i)--]} words
        _normal
        return
      fi
      ${call} ;;`;
}

function flagSpec({ names, placeholder, about, offered, repeatable }: CompletedFlag): string {
  const value = placeholder === null ? "" : `:${escaped(placeholder)}:${action(offered)}`;
  const text = quoted(`[${escaped(about)}]${value}`);
  const [first = "", second] = names;
  if (second === undefined) return quoted(repeatable ? "*" : "") + first + text;
  return `${quoted(repeatable ? "*" : `(${names.join(" ")})`)}{${first},${second}}${text}`;
}

/** Escapes characters with a meaning in a specification of `_arguments`. */
function escaped(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, "\\$&");
}

function action(offered: Offered): string {
  if (offered === null) return " ";
  if (typeof offered !== "string") return `(${offered.join(" ")})`;
  return { file: "_files", directory: "_files -/", session: "_reprise_sessions" }[offered];
}
