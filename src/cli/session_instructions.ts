import type { SessionId } from "../domain/ids.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { Ports } from "../domain/ports.ts";
import type { Home } from "../store/home.ts";
import { readBlob } from "../store/read.ts";

/** The instructions that a session's newest run had: they stay until a flag says otherwise. */
export function sessionInstructions(
  ports: Ports,
  home: Home,
  session: { readonly id: SessionId; readonly manifest: Manifest },
): string {
  return new TextDecoder().decode(readBlob(ports, home, session.id, session.manifest.pins.instructions));
}
