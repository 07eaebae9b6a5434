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
import type { ShownSession } from "../../store/read/show.ts";
import { readBlob, readSession } from "../../store/read/session.ts";
import type { Context } from "../context.ts";
import type { ShowFlags } from "../inspection/viewing.ts";
import { blobReader } from "../run/preview.ts";
import { readShown } from "../inspection/shown_session.ts";
import { requestsIn } from "../../run/ledger.ts";
import { spentRequests } from "../cost/spending.ts";
import { pageHtml } from "./document.ts";
import { pageFile } from "./page_file.ts";
import { pageRedactor } from "./redaction.ts";
import { sessionPage, type SessionSources } from "./session_page.ts";

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
  const { output } = context;
  const file = pageFile(context, flags.html, flags.force === true);
  const redactor = flags.redact === true ? await pageRedactor() : null;
  const { session: shown, home } = await readShown(context, selector, false);
  const id = shown.id as SessionId;
  const surroundings = home === null ? NO_HOME : surroundingsOf(context, home, id, shown);
  const sources = { ...surroundings, costOf: await costsOf(context, shown) };
  const page = sessionPage(redactor?.session(shown) ?? shown, sources);
  const bytes = file.write(pageHtml(page));
  const facts: ShownPage = {
    session: id,
    file: flags.html === "-" ? null : flags.html,
    bytes,
    turns: shown.turns.length,
    redacted: redactor?.counts ?? null,
  };
  if (output.options.json) output.json<"show-html">(facts);
  else {
    output.note(`wrote the page of ${id}: ${counted(facts.turns, "turn")}, ${counted(bytes, "byte")}`);
    for (const line of redactor?.lines() ?? []) output.note(line);
  }
  for (const { path, message } of shown.problems) output.note(`damaged: ${path} ${message}`);
  return shown.problems.length === 0 ? 0 : 12;
}

/** The surroundings of a session in an export, whose blobs are not read. */
const NO_HOME: Omit<SessionSources, "costOf"> = { prefixes: new Map(), forks: [], imageOf: () => null };

/** Facts about a session that the home knows beyond its turns. */
function surroundingsOf(
  context: Context,
  home: Home,
  id: SessionId,
  { problems }: ShownSession,
): Omit<SessionSources, "costOf"> {
  return {
    prefixes: problems.length > 0 ? new Map() : prefixesOf(context, home, id),
    forks: listSessions(context.ports, home).flatMap(({ id: each, manifest }) =>
      manifest?.parent === id ? [each] : []
    ),
    imageOf: (sha256) => imageIn(context, home, { id, sha256 }),
  };
}

/** Returns the costs of turns in US dollars, before texts are redacted; `null` where the cost is unknown. */
async function costsOf({ ports }: Context, { turns }: ShownSession): Promise<SessionSources["costOf"]> {
  const requests = await spentRequests(ports, turns.flatMap(({ value }) => requestsIn(value)));
  const costs = new Map(requests.map(({ turn, cost_usd }) => [turn, cost_usd]));
  return ({ number }) => costs.get(number) ?? null;
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
