/**
 * The completions for bash 4 and later, zsh and fish. They ask the program at each TAB: it prints a kind, then a line
 * for each word with what it means. What only the shell knows, files and commands, the shell completes itself.
 */

const ASK = ["reprise", "completions", "words", "--"].join(" ");

/** The scripts by shell. */
export const SCRIPTS = {
  bash: `# Completions of reprise for bash, printed by "reprise completions bash".
_reprise() {
  local cur=\${COMP_WORDS[COMP_CWORD]} kind= from= lines=() words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # bash splits words at "=" and "@", and replaces what follows.
  if [[ $cur == '=' ]]; then cur=; words[-1]=; fi
  if ((COMP_CWORD > 1)) && [[ \${COMP_WORDS[COMP_CWORD - 1]} == @ ]]; then cur=@$cur; unset 'words[-2]'; fi
  COMPREPLY=()
  { read -r kind from; mapfile -t lines; } < <(${ASK} "\${words[@]}" 2>/dev/null)
  case $kind in
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    command)
      if ((from + 1 == \${#words[@]})); then mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      else compopt -o default; fi ;;
    words) mapfile -t COMPREPLY < <(compgen -W "\${lines[*]%%$'\\t'*}" -- "$cur") ;;
  esac
}
complete -F _reprise reprise
`,
  zsh: `#compdef reprise
# Completions of reprise for zsh, printed by "reprise completions zsh".
_reprise() {
  local -a lines=("\${(@f)$(${ASK} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local -a first=(\${(s: :)lines[1]})
  case $first[1] in
    file) _files ;;
    directory) _files -/ ;;
    command)
      (( CURRENT -= first[2] + 1 ))
      shift $(( first[2] + 1 )) words
      _normal ;;
    words)
      shift lines
      # "_describe" takes word:meaning.
      local -a described=("\${(@)\${(@)lines//:/\\\\:}/$'\\t'/:}")
      _describe word described ;;
  esac
}
if [[ $funcstack[1] == _reprise ]]; then _reprise "$@"; else compdef _reprise reprise; fi
`,
  fish: `# Completions of reprise for fish, printed by "reprise completions fish".
function __reprise
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (${ASK} $words[2..-1] 2>/dev/null)
    set -l first (string split ' ' -- $lines[1])
    switch "$first[1]"
        case file
            __fish_complete_path (commandline -ct)
        case directory
            __fish_complete_directories (commandline -ct)
        case command
            complete -C (string join ' ' -- (string escape -- $words[(math $first[2] + 2)..-2]) $words[-1])
        case words
            printf '%s\\n' $lines[2..-1]
    end
end
complete -c reprise -e
complete -c reprise -f -a '(__reprise)'
`,
} as const;
