import { decodeUtf8Leniently } from "../../domain/bytes.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import type { ReadText } from "../../run/verify.ts";
import { lostBlobsIn } from "../../store/blobs.ts";
import type { Home } from "../../store/home.ts";
import { readBlobOrLost } from "../../store/read/session.ts";
import { DEFAULT_INSTRUCTIONS } from "./default_instructions.ts";

/**
 * The instructions of a session's newest run: they stay until a flag says otherwise. If a repair recorded that they are
 * lost, the default ones; `onLost` then gets the message to report.
 */
export function sessionInstructions(
  ports: Ports,
  home: Home,
  { id, manifest }: { readonly id: SessionId; readonly manifest: Manifest },
  onLost: (message: string) => void,
): string {
  const bytes = readBlobOrLost(ports, home, { id, sha256: manifest.pins.instructions });
  if (bytes !== null) return decodeUtf8Leniently(bytes);
  onLost(
    `the instructions of session "${id}" are lost; the default ones replace them, or give --instructions`,
  );
  return DEFAULT_INSTRUCTIONS;
}

/** Reads blobs of a session as text; `null` for those of which one of `turns` records that they are lost. */
export function blobReader(
  ports: Ports,
  home: Home,
  { id, turns }: { readonly id: SessionId; readonly turns: readonly Turn[] },
): ReadText {
  const lost = lostBlobsIn(turns);
  return (sha256) => {
    const bytes = readBlobOrLost(ports, home, { id, sha256, lost });
    return bytes === null ? null : decodeUtf8Leniently(bytes);
  };
}
