/** The man page. */
import { EXIT_CODES } from "../../domain/errors.ts";
import { VERSION } from "../../domain/version.ts";
import type { CompletedFlag, CompletedVerb } from "./model.ts";

/** Returns the page `reprise.1`, in the macros of man(7). */
export function manPage(verbs: readonly CompletedVerb[]): string {
  const codes = Object.entries(EXIT_CODES).flatMap(([code, meaning]) => [".TP", code, roff(meaning)]);
  return [
    `.TH REPRISE 1 "" "reprise ${VERSION}"`,
    ".SH NAME",
    "reprise \\- record, replay and test LLM traffic, and keep agent sessions as plain files",
    ".SH SYNOPSIS",
    ".B reprise",
    "\\fIverb\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]",
    ".SH VERBS",
    ...verbs.flatMap(verbLines),
    ".SH EXIT STATUS",
    ...codes,
    "",
  ].join("\n");
}

function verbLines({ name, about, flags, arguments: declared, wraps, examples }: CompletedVerb): string[] {
  const specs = declared.map(({ spec }) => roff(spec)).join(" ");
  return [
    `.SS ${roff(name)}`,
    roff(about.charAt(0).toUpperCase() + about.slice(1)),
    ".PP",
    `\\fBreprise ${roff(name)}\\fR [\\fIoptions\\fR] ${specs}${wraps ? " [\\-\\- \\fICMD\\fR...]" : ""}`
      .trimEnd(),
    ...declared.flatMap(({ spec, about }) => [".TP", `\\fI${roff(spec)}\\fR`, roff(about)]),
    ...flags.flatMap(flagLines),
    ".PP",
    examples.length === 1 ? "Example:" : "Examples:",
    ".PP",
    ".EX",
    ...examples.map(roff),
    ".EE",
  ];
}

function flagLines({ names, placeholder, about, offered }: CompletedFlag): string[] {
  const value = placeholder === null ? "" : ` \\fI${roff(placeholder)}\\fR`;
  const isNew = typeof offered !== "string" && offered?.some((each) => !about.includes(each));
  const choices = isNew === true ? `: ${offered?.join(", ")}` : "";
  return [".TP", `\\fB${names.map(roff).join("\\fR, \\fB")}\\fR${value}`, roff(`${about}${choices}`)];
}

/** Text for roff: no character of it is a command. */
function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^[.']/, "\\&$&");
}
