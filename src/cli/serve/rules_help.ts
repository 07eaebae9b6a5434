/** The text of `help rules`: what may differ between a recorded request and a received one. */
import type { NamedRule } from "../../fixture/match/rules/rule_names.ts";
import { sectionsText } from "./faults_help.ts";

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
