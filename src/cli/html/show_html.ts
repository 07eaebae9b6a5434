/**
 * `show ID --html FILE`: a session as one page.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import { cacheReports } from "../../run/cache_reports.ts";
import type { PrefixReport } from "../../run/verify.ts";
import { isBlobName } from "../../store/layout.ts";
import { type Home, listSessions } from "../../store/home.ts";
import { readForShow } from "../../store/read/show.ts";
import { readBlob, readSession } from "../../store/read/session.ts";
import type { Context } from "../context.ts";
import type { ShowFlags } from "../inspection/viewing.ts";
import { blobReader } from "../run/preview.ts";
import { sessionArgument } from "../sessions.ts";
import { pageHtml } from "./document.ts";
import { pageFile } from "./page_file.ts";
import { pageRedactor } from "./redaction.ts";
import { sessionPage } from "./session_page.ts";

/** The output of `show --html --json`. */
export interface ShownPage {
  readonly session: string;
  /** `null` for stdout. */
  readonly file: string | null;
  /** Length of the page in bytes. */
  readonly bytes: number;
  readonly turns: number;
  /** Number of replaced secrets by kind; `null` without `--redact`. */
  readonly redacted: Readonly<Record<string, number>> | null;
}

/** Writes the page of a session; exit code 12 if the session is damaged, with all that can be read on the page. */
export async function showHtml(
  context: Context,
  selector: string,
  flags: ShowFlags & { readonly html: string },
): Promise<ExitCode> {
  const { ports, output } = context;
  const file = pageFile(context, flags.html, flags.force === true);
  const { home, id } = sessionArgument(context, selector);
  const redactor = flags.redact === true ? await pageRedactor() : null;
  const shown = readForShow(ports, home, id);
  const prefixes = shown.problems.length > 0 ? new Map() : prefixesOf(context, home, id);
  const forks = listSessions(ports, home).flatMap(({ id: each, manifest }) =>
    manifest?.parent === id ? [each] : []
  );
  const imageOf = (sha256: string) => imageIn(context, home, { id, sha256 });
  const sources = { prefixes, forks, costOf: () => null, imageOf };
  const page = sessionPage(redactor?.session(shown) ?? shown, sources);
  const bytes = file.write(pageHtml(page));
  const facts: ShownPage = {
    session: id,
    file: flags.html === "-" ? null : flags.html,
    bytes,
    turns: shown.turns.length,
    redacted: redactor?.counts ?? null,
  };
  if (output.options.json) output.json(facts);
  else {
    output.note(`wrote the page of ${id}: ${counted(facts.turns, "turn")}, ${counted(bytes, "byte")}`);
    for (const line of redactor?.lines() ?? []) output.note(line);
  }
  for (const { path, message } of shown.problems) output.note(`damaged: ${path} ${message}`);
  return shown.problems.length === 0 ? 0 : 12;
}

/** Bytes of the largest image that a page holds. */
const MAX_IMAGE_BYTES = 4_000_000;

function imageIn(
  { ports }: Context,
  home: Home,
  { id, sha256 }: { readonly id: SessionId; readonly sha256: string },
): string | null {
  if (!isBlobName(sha256)) return null;
  try {
    const bytes = readBlob(ports, home, id, sha256);
    return bytes.length > MAX_IMAGE_BYTES ? null : Buffer.from(bytes).toString("base64");
  } catch (error) {
    // A lost blob is reported beside the turn, as its name and type.
    if (error instanceof RepriseError) return null;
    throw error;
  }
}

/** Compares each request with the one before. A session that cannot be folded, as a newer one, has no comparison. */
function prefixesOf({ ports }: Context, home: Home, id: SessionId): ReadonlyMap<number, PrefixReport> {
  try {
    const { turns } = readSession(ports, home, id);
    return cacheReports({ turns, readBlob: blobReader(ports, home, { id, turns }) });
  } catch (error) {
    if (error instanceof RepriseError) return new Map();
    throw error;
  }
}
