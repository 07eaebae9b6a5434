/** The page of a session: its transcript, with the fate of reasoning, misses of the prompt cache, forks and images. */
import { Buffer } from "node:buffer";
import { RepriseError } from "../../domain/errors.ts";
import { objectMember, stringMember } from "../../domain/json.ts";
import { cacheReports, type PrefixReport } from "../../run/prefix.ts";
import type { Home } from "../../store/home.ts";
import { listSessions } from "../../store/list.ts";
import { isBlobName } from "../../store/layout.ts";
import { blobReader, readBlob, readSession } from "../../store/read/session.ts";
import type { ShownSession, ShownTurn } from "../../store/read/show.ts";
import type { Context } from "../context.ts";
import type { Shown } from "../show/shown_session.ts";
import { anyUsage } from "../../apis/usage.ts";
import type { Block, Fact, Transcript } from "../transcript/blocks.ts";
import { cacheNote } from "../transcript/usage.ts";
import { pageHtml } from "./document.ts";
import { fateTexts, reasoningFates } from "./reasoning_fate.ts";

/** Bytes of the largest image that a page holds. */
const MAX_IMAGE_BYTES = 4_000_000;

/** Writes the page of a session. One in an export has neither forks nor blobs. */
export function sessionPage(context: Context, { session, home }: Shown, transcript: Transcript): string {
  const fates = reasoningFates(session.turns);
  const notes = home === null || session.problems.length > 0
    ? new Map<string, Block[]>()
    : cacheNotes(session, prefixesOf(context, home, session));
  const entries = transcript.entries.map((entry) => ({
    ...entry,
    blocks: [
      ...entry.blocks.map((block) =>
        block.kind === "reasoning" ? { ...block, fate: fateTexts(fates.get(block.seq ?? NaN) ?? []) } : block
      ),
      ...notes.get(entry.id) ?? [],
    ],
  }));
  const forks = home === null ? [] : listSessions(context.ports, home)
    .flatMap(({ id, manifest }) => manifest?.parent === session.id ? [id] : []);
  const facts: Fact[] = forks.length === 0 ? [] : [["forks", forks.join(", ")]];
  return pageHtml({ ...transcript, facts: [...transcript.facts, ...facts], entries }, {
    warnings: session.problems.map(({ path, message }) => `damaged: ${path} ${message}`),
    imageOf: (image) => {
      if ("src" in image) return image.src;
      const base64 = home === null ? null : imageIn(context, home, { ...session, sha256: image.sha256 });
      return base64 === null ? null : `data:${image.type};base64,${base64}`;
    },
  });
}

/** Notes about requests that missed the cache, by the fragment of their turn. */
function cacheNotes(
  { turns }: ShownSession,
  prefixes: ReadonlyMap<number, PrefixReport>,
): Map<string, Block[]> {
  const asked = ({ value }: ShownTurn) => stringMember(objectMember(value, "model") ?? {}, "asked");
  const usageIn = ({ events }: ShownTurn) =>
    anyUsage(objectMember(events.findLast(({ type }) => type === "provider_usage") ?? {}, "usage") ?? {});
  const models = turns.filter(({ kind }) => kind === "model");
  return new Map(models.flatMap((turn, index) => {
    const [before, prefix] = [models[index - 1], prefixes.get(turn.number)];
    if (before === undefined || prefix === undefined || asked(before) !== asked(turn)) return [];
    return [[`turn-${turn.number}`, cacheNote(prefix, usageIn(before), usageIn(turn))] as const];
  }));
}

/** Compares each request with the one before. A session that cannot be folded, as a newer one, has no comparison. */
function prefixesOf(
  { ports }: Context,
  home: Home,
  { id }: ShownSession,
): ReadonlyMap<number, PrefixReport> {
  try {
    const { turns } = readSession(ports, home, id);
    return cacheReports({ turns, readBlob: blobReader(ports, home, { id, turns }) });
  } catch (error) {
    if (error instanceof RepriseError) return new Map();
    throw error;
  }
}

function imageIn(
  { ports }: Context,
  home: Home,
  { id, sha256 }: Pick<ShownSession, "id"> & { readonly sha256: string },
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
