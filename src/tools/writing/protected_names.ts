/**
 * Names that no tool writes, wherever they stand in a path and whether they exist or not: what other programs
 * run or trust without being asked (CVE-2026-25725, CVE-2025-59944).
 *
 * @module
 */

/** Protected with all that is below. A name with slashes is a way of several names, in a row. */
const PROTECTED = `
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
`.trim().split(/\s+/).map((name) => name.split("/"));
/** Protected whatever follows: `.env`, `.env.local`, `.envrc`; `lefthook.yml`, `lefthook-local.toml`. */
const PROTECTED_PREFIXES = [
  ...[".env", "lefthook.", ".lefthook", "lefthook-local.", ".huskyrc."],
  ...["simple-git-hooks.", ".simple-git-hooks."],
];
/** Protected whatever precedes: a workspace file names tasks and settings. */
const PROTECTED_SUFFIX = ".code-workspace";

/** The protected name that a workspace-relative path goes through, or `null`. */
export function protectedName(path: string): string | null {
  const names = path.split(/[/\\]/).map(foldedName);
  for (let start = 0; start < names.length; start++) {
    const name = names[start] as string;
    if (PROTECTED_PREFIXES.some((prefix) => name.startsWith(prefix))) return name;
    if (name.endsWith(PROTECTED_SUFFIX)) return name;
    const found = PROTECTED.find((way) => way.every((step, index) => names[start + index] === step));
    if (found !== undefined) return found.join("/");
    const short = shortNameOf(name);
    if (short !== null) return short;
  }
  return null;
}

/** A name as the most forgiving of all file systems compares it. */
export function foldedName(name: string): string {
  return name.normalize("NFKC")
    // HFS+ leaves these out when it compares names: ".g\u200cit" is ".git" there.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC").toLowerCase()
    // NTFS: a stream of a file is written after a colon.
    .replace(/:.*$/s, "")
    // Windows leaves dots and blanks at the end of a name out. A name of nothing else stays what it is.
    .replace(/(?<=[^. ])[. ]+$/, "");
}

/** The protected name that an NTFS short name such as `git~1` or `gi7eba~1` may stand for. */
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
