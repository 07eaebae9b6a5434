import type { SessionId } from "../domain/ids.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "../store/home.ts";
import { readBlob } from "../store/read.ts";

/** The instructions that a session's newest run had: they stay until a flag says otherwise. */
export function sessionInstructions(
  ports: Ports,
  home: Home,
  { id, manifest }: { readonly id: SessionId; readonly manifest: Manifest },
): string {
  return blobText(ports, home, { id, sha256: manifest.pins.instructions });
}

/** A blob of a session as text. */
export function blobText(
  ports: Ports,
  home: Home,
  { id, sha256 }: { readonly id: SessionId; readonly sha256: string },
): string {
  return new TextDecoder().decode(readBlob(ports, home, id, sha256));
}
