/**
 * The environment variables that the binary can see. All others read as unset, also to its libraries, so no
 * unrelated secret of the shell can end up in a turn, a message or a log.
 */
export const VISIBLE_VARIABLES: readonly string[] = [
  // Ours, and the keys and endpoints of the providers.
  "REPRISE_*",
  "OPENAI_*",
  "ANTHROPIC_*",
  "AZURE_*",
  // Where sessions and settings live.
  "HOME",
  "XDG_*",
  "TMPDIR",
  // What decides about colour; commander reads the last of them too.
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "CLICOLOR_FORCE",
  // What a command of the shell tool inherits.
  "PATH",
  "LANG",
  "LC_ALL",
  "USER",
  "LOGNAME",
  "CI",
  // Which certificate authorities are trusted; the runtime reads them by itself, `doctor` shows them.
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "NODE_EXTRA_CA_CERTS",
  // Where `test`, run from the sources, finds the modules again.
  "DENO_DIR",
  // `doctor` says when a proxy stands between us and the provider.
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
];

/** True when the binary can see the environment variable `name`. */
export function isVisible(name: string): boolean {
  return VISIBLE_VARIABLES.some((known) =>
    known.endsWith("*") ? name.startsWith(known.slice(0, -1)) : name === known
  );
}

/**
 * The permissions compiled into the binary, as flags of `deno compile`. There is no `ffi`: the
 * binary loads no library, and it never asks for more (`--no-prompt`).
 */
export const PERMISSION_FLAGS: readonly string[] = [
  "--no-prompt",
  // Sessions, workspaces and fixtures may be anywhere the user points to, and Deno's path scopes follow links
  // after the check: confinement is done by our own path resolution in src/tools.
  "--allow-read",
  "--allow-write",
  // The base URL is the user's to choose; to which origin a key may go is decided in src/transport.
  "--allow-net",
  `--allow-env=${VISIBLE_VARIABLES.join(",")}`,
  // Without this, a library that looks for any other variable would crash the process instead of getting nothing.
  "--ignore-env",
  // The shell tool may start any command that the user allowed, and ends what it started; `interrupt` signals
  // another process of ours. Which command may start is decided in src/tools/permission.
  "--allow-run",
  // The lock names its owner by host; files of another user are refused.
  "--allow-sys=hostname,uid",
];
