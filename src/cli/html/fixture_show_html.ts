/**
 * `fixture show DIR --html FILE`: a fixture as one page.
 *
 * @module
 */
import type { ExitCode } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { readFixture } from "../../fixture/read.ts";
import { orFileError } from "../../store/fs_errors.ts";
import type { Context } from "../context.ts";
import type { FixtureShowFlags } from "../fixture/command.ts";
import { pageHtml } from "./document.ts";
import { fixturePage } from "./fixture_page.ts";
import { pageFile } from "./page_file.ts";
import { pageRedactor } from "./redaction.ts";

/** The output of `fixture show --html --json`. */
export interface ShownFixturePage {
  readonly path: string;
  /** `null` for stdout. */
  readonly file: string | null;
  /** Length of the page in bytes. */
  readonly bytes: number;
  readonly exchanges: number;
  /** Number of replaced secrets by kind; `null` without `--redact`. */
  readonly redacted: Readonly<Record<string, number>> | null;
}

/** Writes the page of a fixture. */
export async function fixtureShowHtml(
  { ports, output }: Pick<Context, "ports" | "output">,
  path: string,
  flags: FixtureShowFlags & { readonly html: string },
): Promise<ExitCode> {
  const file = pageFile({ ports, output }, flags.html, flags.force === true);
  const fixture = orFileError("read the fixture", path, () => readFixture(ports.files, path));
  const redactor = flags.redact === true ? await pageRedactor() : null;
  const page = fixturePage(fixture, (value) => redactor?.value(value) ?? value);
  const bytes = file.write(pageHtml(page));
  const exchanges = fixture.exchanges.length;
  const facts: ShownFixturePage = {
    path,
    file: flags.html === "-" ? null : flags.html,
    bytes,
    exchanges,
    redacted: redactor?.counts ?? null,
  };
  if (output.options.json) output.json<"fixture-show-html">(facts);
  else {
    output.note(`wrote the page of ${path}: ${counted(exchanges, "exchange")}, ${counted(bytes, "byte")}`);
    for (const line of redactor?.lines() ?? []) output.note(line);
  }
  return 0;
}
