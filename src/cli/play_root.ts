import type { Ports } from "../domain/ports.ts";

/**
 * Where a session test is played, as `REPRISE_PLAY_ROOT` names it: absolute, or nothing. In what tools tell, it is the
 * root of everything, so that `pwd` says `/workspace` wherever that is.
 */
export function playRoot(ports: Ports): { readonly playRoot?: string } {
  const root = ports.env("REPRISE_PLAY_ROOT") ?? "";
  return root.startsWith("/") ? { playRoot: root } : {};
}
