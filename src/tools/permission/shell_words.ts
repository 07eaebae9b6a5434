/** Splits a command line into the words that a program would get, if that is possible without a shell. */
import { quotedWord, shellWord } from "../../domain/text.ts";

/** Characters that mean something to a shell outside of quotes: operators, expansions, comments, globs. */
const SPECIAL = new Set("|&;<>()$`\\\"'*?[]{}~!#\n\r\0");
/** Characters that mean something to a shell inside double quotes. */
const SPECIAL_QUOTED = new Set("$`\\!\0");
/** First words that are no program, or that mean more to a shell than the program of that name does. */
const SHELL_ONLY = new Set(
  (". : alias bg bind break builtin case cd command continue coproc declare disown do done elif else enable " +
    "esac eval exec exit export fc fg fi for function getopts hash history if in jobs let local logout mapfile " +
    "popd pushd read readarray readonly return select set shift shopt source suspend then time times trap type " +
    "typeset ulimit umask unalias unset until wait while").split(" "),
);

interface Word {
  readonly text: string;
  /** True when some part of the word was in quotes. */
  readonly quoted: boolean;
}

/**
 * Splits a command line into words. `null` whenever a shell might do anything but start one program with these
 * words: operators, expansions, globs, backslashes, assignments, words of the shell's own, unclosed quotes, or
 * no word at all. A doubt is a `null`.
 */
export function shellWords(line: string): readonly string[] | null {
  const words = splitWords(line, SPECIAL)?.map(({ text }) => text) ?? [];
  const [program] = words;
  // An empty first word starts nothing, and NAME=value in front is an assignment.
  if (program === undefined || program === "" || program.includes("=") || SHELL_ONLY.has(program)) {
    return null;
  }
  return words;
}

/**
 * Splits at blanks, quotes taken away. `null` for an unclosed quote, a `special` character outside of quotes,
 * or one that double quotes do not protect.
 */
export function splitWords(line: string, special: ReadonlySet<string>): readonly Word[] | null {
  const words: Word[] = [];
  let text: string | null = null;
  let quoted = false;
  const end = () => {
    if (text !== null) words.push({ text, quoted });
    text = null;
    quoted = false;
  };
  for (let index = 0; index < line.length; index++) {
    const letter = line[index] as string;
    if (letter === " " || letter === "\t") {
      end();
    } else if (letter === "'" || letter === '"') {
      const close = line.indexOf(letter, index + 1);
      if (close < 0) return null;
      const inside = line.slice(index + 1, close);
      if (inside.includes("\0")) return null;
      if (letter === '"' && [...inside].some((each) => SPECIAL_QUOTED.has(each))) return null;
      text = (text ?? "") + inside;
      quoted = true;
      index = close;
    } else if (special.has(letter)) {
      return null;
    } else {
      text = (text ?? "") + letter;
    }
  }
  end();
  return words;
}

/** Words as one command line that a person reads and that {@linkcode shellWords} or a shell splits again. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((word, index) => {
    // A first word with = would be an assignment.
    return index === 0 && word.includes("=") ? quotedWord(word) : shellWord(word);
  }).join(" ");
}
