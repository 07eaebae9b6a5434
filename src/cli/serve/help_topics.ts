/** Texts of `help faults` and `help rules`. */
import { Help } from "commander";
import { faultSections } from "../../fixture/faults/help.ts";
import type { NamedRule } from "../../fixture/match/rules/rule_names.ts";

const WIDTH = 100;

/** Returns every fault, the requests that a line may name, and the named faults. */
export function faultsHelp(): string {
  return sectionsText(
    'A line of serve --fault, or "fault" in response.json (one fault, without requests).',
    faultSections().map(({ head, rows }) => ({
      head,
      rows: rows.map(([term = "", meaning = "", ...more]) => [
        term,
        [meaning, ...more.slice(0, head === "Faults" ? 0 : 2)].join("; ").replaceAll("`", '"'),
      ]),
    })),
  );
}

/** Returns lists of terms with their meanings, each below its head. */
function sectionsText(
  first: string,
  sections: readonly { readonly head: string; readonly rows: readonly (readonly string[])[] }[],
): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const texts = sections.map(({ head, rows }) => {
    const width = Math.max(...rows.map(([term = ""]) => term.length));
    const items = rows.map(([term = "", meaning = ""]) => help.formatItem(term, width, meaning, help));
    return [`${head}:`, ...items].join("\n");
  });
  return `${[first, ...texts].join("\n\n")}\n`;
}

/** The text that each named rule replaces, on each side its own. */
const NAMED: Readonly<Record<NamedRule, string>> = {
  cwd: "the working directory",
  home: "the home directory",
  tmp: "the directory of temporary files",
  user: "the name of the user",
  host: "the name of the host",
  os: "the release of the system",
  shell: "the shell",
  date: "the day",
  time: "moments of the run",
  timezone: "the time zone",
  git: "the state of the repository",
  uuid: "the session in the same request",
};

/** Returns the match rules by the flags that take them. */
export function rulesHelp(): string {
  const head =
    "Two requests match if they mean the same to the API. Rules replace the machine's own values before they are\n" +
    'compared; in a question only paths. fixture.json keeps them as "match".';
  return sectionsText(head, [
    {
      head: "--normalize NAME",
      rows: [
        ...Object.entries(NAMED),
        ["codex, claude-code, reprise", "a profile: the ordinary rules of that client"],
      ],
    },
    {
      head: "Others",
      rows: [
        [
          "--ignore PATH",
          'a path of the body, as a miss prints it: "client_metadata", "input[*].note", "$..metadata"',
        ],
        ["--replace REGEX=TEXT", "a regular expression in the syntax of RE2, on every string; $1 is a group"],
        [
          "--context NAME=VALUE",
          "a value of a client that runs elsewhere, by the name of its rule: cwd=/app",
        ],
      ],
    },
  ]);
}
