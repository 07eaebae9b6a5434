/** Decides where a tool may write: inside the workspace, through no link at the end, and to no protected name. */
import { basename, dirname, join, sep } from "node:path";
import { factsOf, isInside, lexicalPath, quotedPath, segmentsOf, shownIn } from "../sandbox_path.ts";
import { words } from "../../domain/text.ts";
import { type ToolContext, ToolFailure } from "../tool.ts";

/** A place in the workspace that may be written. */
export interface WriteTarget {
  /** Absolute; the directories that exist are canonical. */
  readonly path: string;
  /** Relative to the workspace, with forward slashes. */
  readonly shown: string;
  readonly exists: boolean;
}

/**
 * Finds the file that `given` names, or the place where it would be. Links to directories are followed, as long
 * as they stay inside.
 *
 * @throws {ToolFailure} when it leads outside, ends in a link, a directory or something special, or goes
 * through a protected name. The message does not reveal whether something exists outside.
 */
export function writeTarget(given: string, context: ToolContext): WriteTarget {
  const { root } = context;
  const asked = lexicalPath(root, given);
  const spelled = shownIn(root, asked);
  if (asked === root) throw refusal(spelled, "it is the workspace itself");
  if (given.endsWith("/") || given.endsWith(sep)) {
    throw refusal(spelled, "a file name cannot end with a slash");
  }
  refuseProtected(asked, spelled, context);
  const path = join(resolveDirectory(root, dirname(asked), spelled), basename(asked));
  const shown = shownIn(root, path);
  refuseProtected(path, shown, context);
  const facts = factsOf(path);
  if (facts === null) return { path, shown, exists: false };
  if (facts.isSymlink) throw refusal(shown, "it is a symbolic link; name the file itself");
  if (facts.isDirectory) throw refusal(shown, "it is a directory");
  if (!facts.isFile) throw refusal(shown, "it is not a regular file");
  return { path, shown, exists: true };
}

/** A write that cannot be done, in the words that all of them share. */
export function refusal(shown: string, why: string): ToolFailure {
  return new ToolFailure(`Cannot write ${quotedPath(shown)}: ${why}`);
}

/** The canonical path of a directory that may not exist yet, in part or whole. */
function resolveDirectory(root: string, directory: string, spelled: string): string {
  const missing: string[] = [];
  let path = directory;
  while (path !== root && factsOf(path) === null) {
    missing.unshift(basename(path));
    path = dirname(path);
  }
  const real = realPath(path);
  // All failures past a link have one message: it must not reveal what exists outside.
  if (real === null || !isInside(root, real)) {
    throw refusal(spelled, "a symbolic link on the way leads outside the workspace, or nowhere");
  }
  const facts = factsOf(real);
  if (facts === null || !facts.isDirectory) {
    throw refusal(spelled, `${quotedPath(shownIn(root, real))} is not a directory`);
  }
  return join(real, ...missing);
}

function refuseProtected(path: string, shown: string, { root, protectedPaths }: ToolContext): void {
  const name = protectedName(shownIn(root, path));
  if (name !== null) throw refusal(shown, `${quotedPath(name)} is a protected name that no tool writes`);
  const git = gitDirectoryWith(root, path);
  if (git !== null) {
    const directory = quotedPath(shownIn(root, git));
    throw refusal(shown, `${directory} would be a git directory, whose configuration names commands to run`);
  }
  const folded = foldedPath(path);
  for (const closed of protectedPaths) {
    // Both spellings: the path may go through a link, and the place may not exist yet.
    for (const place of [closed, realPath(closed) ?? closed]) {
      const prefix = foldedPath(place);
      if (prefix.every((each, index) => folded[index] === each)) {
        throw refusal(shown, "it belongs to reprise itself");
      }
    }
  }
}

function foldedPath(path: string): string[] {
  return path.split(/[/\\]/).filter((name) => name !== "").map(foldedName);
}

function realPath(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}

/** Names, folded, that together make a git directory (`is_git_directory` in git's setup.c). */
const SETS: readonly (readonly string[])[] = [["head", "objects", "refs"], ["head", "commondir"]];
const MARKS: ReadonlySet<string> = new Set(SETS.flat());

/**
 * The directory that would be a git directory once `path` is written, or is one already; `null` when there is none.
 * Each directory from `root` to the one of `path` counts, unless it has a repository of its own in `.git`: git looks
 * there first.
 */
function gitDirectoryWith(root: string, path: string): string | null {
  let directory = root;
  for (const name of segmentsOf(root, path)) {
    if (isGitDirectory(directory, foldedName(name))) return directory;
    directory = join(directory, name);
  }
  return null;
}

function isGitDirectory(directory: string, added: string): boolean {
  // Reading a large directory costs milliseconds: only where its names can matter.
  if (!MARKS.has(added) && factsOf(join(directory, "HEAD")) === null) return false;
  return hasSet([added, ...namesIn(directory)]) && !hasRepository(directory);
}

function hasSet(found: readonly string[]): boolean {
  const names = new Set(found);
  return SETS.some((set) => set.every((name) => names.has(name)));
}

/** A `.git` file leads to a repository, or makes git fail. Git passes over a `.git` directory that is not whole. */
function hasRepository(directory: string): boolean {
  const path = join(directory, ".git");
  return factsOf(path)?.isFile === true || hasSet(namesIn(path));
}

function namesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => foldedName(name));
  } catch {
    // It is not there yet, or cannot be read, and then not be written either.
    return [];
  }
}

/** Protected with all that is below. A name with slashes is a way of several names, in a row. */
const PROTECTED = words(`
.git .gitconfig .gitmodules .git-credentials .hg .hgrc .svn .jj
.ssh .gnupg .aws .azure .kube .docker .netrc _netrc .npmrc .yarnrc .yarnrc.yml .pypirc .htpasswd
.cargo/credentials .cargo/credentials.toml .cargo/config .cargo/config.toml
.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .logout .cshrc .tcshrc .kshrc
.zshrc .zshenv .zprofile .zlogin .zlogout .inputrc .xprofile .xinitrc .xsession .xsessionrc
.config/fish .config/git .config/gh .config/autostart .config/systemd .config/environment.d
.rhosts .shosts .k5login .forward .mailcap .curlrc .wgetrc .tmux.conf .config/tmux
.exrc .vim .vimrc _vimrc .gvimrc _gvimrc .ideavimrc .lvimrc .nvim .nvimrc _nvimrc .nvim.lua .config/nvim .config/vim .nanorc .config/nano
.emacs .emacs.d .emacs.el .dir-locals.el .config/emacs .config/helix .helix .kakrc .config/kak .config/zed
.gdbinit .lldbinit .pdbrc .pryrc .irbrc .rprofile
.github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab-ci.yml .gitlab-ci.yaml .gitlab/ci
.circleci .buildkite .woodpecker .woodpecker.yml .woodpecker.yaml .drone.yml .drone.yaml .travis.yml .cirrus.yml
.appveyor.yml appveyor.yml .teamcity .semaphore jenkinsfile azure-pipelines.yml azure-pipelines.yaml
bitbucket-pipelines.yml
.vscode .idea .zed .fleet .devcontainer .devcontainer.json .husky .huskyrc .githooks .git-hooks
.pre-commit-config.yaml .pre-commit-config.yml .overcommit.yml .config/lefthook.yml .config/lefthook.yaml captainhook.json
.pnpmfile.cjs .yarn .mvn .mise .mise.toml mise.toml .config/mise
.claude .claude.json .codex .cursor .cursorrules .gemini .windsurf .continue .kiro .opencode opencode.json opencode.jsonc
.amazonq .roo .trae .qwen .mcp.json
`).map((name) => name.split("/"));
/** Protected whatever follows: `.env`, `.env.local`, `.envrc`; `lefthook.yml`, `lefthook-local.toml`. */
const PROTECTED_PREFIXES = words(
  ".env lefthook. .lefthook lefthook-local. .huskyrc. simple-git-hooks. .simple-git-hooks.",
);
/** Protected whatever precedes: a workspace file names tasks and settings. */
const PROTECTED_SUFFIX = ".code-workspace";

/** The protected name that a workspace-relative path goes through, or `null`. */
function protectedName(path: string): string | null {
  const names = path.split(/[/\\]/).map(foldedName);
  for (let start = 0; start < names.length; start++) {
    const name = names[start] as string;
    if (PROTECTED_PREFIXES.some((prefix) => name.startsWith(prefix))) return name;
    if (name.endsWith(PROTECTED_SUFFIX)) return name;
    const entry = PROTECTED.find((way) => way.every((step, index) => names[start + index] === step));
    if (entry !== undefined) return entry.join("/");
    const short = shortNameOf(name);
    if (short !== null) return short;
  }
  return null;
}

/** A name as the most forgiving of all file systems compares it. */
function foldedName(name: string): string {
  return name.normalize("NFKC")
    // HFS+ leaves these out when it compares names: ".g\u200cit" is ".git" there.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC").toLowerCase()
    // NTFS: a stream of a file is written after a colon.
    .replace(/:.*$/s, "")
    // Windows leaves dots and blanks at the end of a name out. A name of nothing else stays what it is.
    .replace(/(?<=[^. ])[. ]+$/, "");
}

/** The protected name that an NTFS short name such as `git~1` or `gi7eba~1` may mean. */
function shortNameOf(name: string): string | null {
  const [, stem] = /^([^.~]{1,6})~\d+(?:\.[^.]{0,3})?$/.exec(name) ?? [];
  if (stem === undefined) return null;
  const isHashed = /^..[0-9a-f]{4}$/.test(stem);
  const fits = (full: string) => {
    const [base = ""] = full.replace(/^\./, "").split(".");
    if (base.length < 6) return base === stem;
    return (stem.length === 6 && base.startsWith(stem)) || (isHashed && base.startsWith(stem.slice(0, 2)));
  };
  return PROTECTED.find(([first = ""]) => fits(first))?.[0] ?? PROTECTED_PREFIXES.find(fits) ?? null;
}
