/**
 * The permissions compiled into the binary, as flags of `deno compile`: all of them. With any fewer, Deno resolves each
 * path before the kernel gets it, and a directory that is exchanged for a link in between leads a write outside of the
 * workspace. docs/security.md says what guards each kind of access instead.
 */
export const PERMISSION_FLAGS: readonly string[] = ["--allow-all"];
