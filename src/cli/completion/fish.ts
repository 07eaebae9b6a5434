/** The completions for fish. */
import { type CompletedVerb, GROUP, type Offered, SESSION_IDS } from "./model.ts";

/** Returns the script. */
export function fishScript(verbs: readonly CompletedVerb[]): string {
  const top = [
    ...verbs.filter(({ name }) => !name.includes(" ")),
    GROUP,
    { name: "help", about: "show help for a verb" },
  ];
  const lines = [
    ...top.map(({ name, about }) => rule("", `-a ${name} -d ${word(about)}`)),
    ...top.map(({ name, about }) => rule("help", `-a ${name} -d ${word(about)}`)),
    ...verbs.flatMap(({ name, about }) => {
      const [group, inner] = name.split(" ");
      return inner === undefined ? [] : [rule(group as string, `-a ${inner} -d ${word(about)}`)];
    }),
    ...verbs.flatMap(verbLines),
  ];
  return `# Completions of reprise for fish, printed by "reprise completions fish".

function __reprise_home
    set -l words (commandline -opc)
    if set -l at (contains -i -- --home $words); and test $at -lt (count $words)
        echo $words[(math $at + 1)]
    end
end

function __reprise_sessions
    sh -c ${word(SESSION_IDS)} sh (__reprise_home)
end

# The verb on the command line, with both names for those of ${GROUP.name}.
function __reprise_verb
    set -l found
    set -l skip
    for each in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
        else if test "$each" = --home
            set skip 1
        else if not string match -q -- '-*' $each
            set -a found $each
            if test "$found" != ${GROUP.name}
                break
            end
        end
    end
    echo "$found"
end

function __reprise_is
    contains -- -- (commandline -opc); and return 1
    test (__reprise_verb) = "$argv"
end

function __reprise_wraps
    contains -- -- (commandline -opc); and contains -- (__reprise_verb) ${
    verbs.flatMap(({ name, wraps }) => wraps ? [name] : []).join(" ")
  }
end

function __reprise_command
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-2]) $words[-1])
end

complete -c reprise -e
complete -c reprise -f
complete -c reprise -n __reprise_wraps -a '(__reprise_command)'
${lines.join("\n")}
`;
}

function rule(verb: string, rest: string): string {
  return `complete -c reprise -n ${word(`__reprise_is ${verb === "" ? '""' : verb}`)} ${rest}`;
}

function verbLines({ name, flags, arguments: declared }: CompletedVerb): string[] {
  const options = flags.map(({ names, placeholder, about, offered }) => {
    const spelled = names.map((each) =>
      each.startsWith("--") ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`
    );
    const value = placeholder === null ? "" : ` ${taking(offered)}`;
    return rule(name, `${spelled.join(" ")} -d ${word(about)}${value}`);
  });
  const offered = [...new Set(declared.map((each) => each.offered).filter((each) => each !== null))];
  return [...options, ...offered.map((each) => rule(name, each === "file" ? "-F" : `-a ${listed(each)}`))];
}

function taking(offered: Offered): string {
  if (offered === null) return "-x";
  return offered === "file" ? "-rF" : `-x -a ${listed(offered)}`;
}

function listed(offered: Exclude<Offered, null>): string {
  if (typeof offered !== "string") return word(offered.join(" "));
  return offered === "session" ? "'(__reprise_sessions)'" : "'(__fish_complete_directories)'";
}

/** Text as one word of fish. */
function word(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}
