/** The completions for bash 4 and later. They need no other package, and start no process but for session ids. */
import { type CompletedVerb, GROUP, type Offered, quoted, SESSION_IDS } from "./model.ts";

/** Returns the script. */
export function bashScript(verbs: readonly CompletedVerb[]): string {
  const top = [...verbs.map(({ name }) => name).filter((name) => !name.includes(" ")), GROUP.name, "help"];
  const inner = verbs.flatMap(({ name }) => name.startsWith(`${GROUP.name} `) ? [name.split(" ")[1]] : []);
  const flags = verbs.map(({ name, flags, wraps }) => {
    const names = flags.flatMap(({ names }) => names).join(" ");
    return `    ${quoted(name)}) flags=${quoted(names)}; wraps=${wraps ? 1 : ""} ;;`;
  });
  const values = verbs.flatMap((verb) =>
    verb.flags.filter(({ placeholder }) => placeholder !== null).map(({ names, offered }) => ({
      pattern: names.map((name) => quoted(`${verb.name}:${name}`)).join("|"),
      kind: kindOf(offered),
    }))
  );
  const args = verbs.map(({ name, arguments: declared }) => {
    const cases = declared.map(({ spec, offered }, index) =>
      `${spec.includes("...") ? "*" : index + 1}) kind=${kindOf(offered)} ;;`
    );
    return `    ${quoted(name)}) case $count in ${cases.join(" ")} esac ;;`;
  });
  return `# Completions of reprise for bash, printed by "reprise completions bash".

_reprise_sessions() {
  sh -c ${quoted(SESSION_IDS)} sh "$1"
}

_reprise_flags() {
  flags='--help --version' wraps=
  case $verb in
${flags.join("\n")}
  esac
}

_reprise_value() {
  case $verb:$1 in
    *:--home) kind=directory ;;
${
    [...Map.groupBy(values, ({ kind }) => kind)].map(([kind, each]) =>
      `    ${each.map(({ pattern }) => pattern).join("|")}) kind=${kind} ;;`
    ).join("\n")
  }
    *) return 1 ;;
  esac
}

_reprise_argument() {
  case $verb in
    '') kind=${quoted(top.join(" "))} ;;
    ${GROUP.name}) kind=${quoted(inner.join(" "))} ;;
    help) kind=${quoted(top.join(" "))} ;;
${args.join("\n")}
  esac
}

_reprise() {
  local cur=\${COMP_WORDS[COMP_CWORD]} verb= home= kind= flags= wraps= flag= value= word
  local -i at count=1
  COMPREPLY=()
  # COMP_WORDS is split at "=" and "@"; readline replaces "@" too.
  if [[ $cur == '=' ]]; then cur=; fi
  if ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[COMP_CWORD - 1]} == @ ]]; then cur=@$cur; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $flag && $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then
      if [[ $flag == --home ]]; then home=$word; fi
      flag=
      continue
    fi
    case $word in
      --)
        _reprise_flags
        if [[ -n $wraps ]]; then
          if ((at + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur")
          else compopt -o default; fi
          return
        fi ;;
      -*) if _reprise_value "$word"; then flag=$word; fi ;;
      @) ;;
      *)
        if [[ -z $verb || $verb == ${GROUP.name} ]]; then verb="\${verb:+$verb }$word"
        else count+=1; fi ;;
    esac
  done
  if [[ -n $flag ]]; then _reprise_value "$flag"
  elif [[ $cur == -* ]]; then _reprise_flags; kind=$flags
  else kind=; _reprise_argument; fi
  case $kind in
    session) kind=$(_reprise_sessions "\${home/#\\~/$HOME}") ;;
    directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$kind" -- "$cur")
}

complete -F _reprise reprise
`;
}

function kindOf(offered: Offered): string {
  if (offered === null) return "''";
  return typeof offered === "string" ? offered : quoted(offered.join(" "));
}
