/** Names and directories of a workspace that git, editors, shells and other agents read. */

/** Names that no tool writes, by what reads them. */
export const PROTECTED_NAMES: Readonly<Record<string, string>> = {
  "git": ".git .git/config .git/hooks/pre-commit sub/module/.git .gitconfig .gitmodules .git-credentials",
  "other cases":
    ".GIT/config .Git .ENV .Bash_Profile sub/.GitHub/Workflows/ci.yml jenkinsfile OpenCode.jsonc .GitHooks",
  "letters that HFS+ ignores": ".g\u200cit/config .gi\u200dt \ufeff.git .git\u202e/x",
  "other endings and streams on Windows": ".git. .git::$INDEX_ALLOCATION/config sub\\.git\\config",
  "short names of NTFS, also hashed": "git~1/config GIT~1 gitmod~1 gi7eba~1 env~1 ssh~1 JENKIN~1",
  "letters that fold to others": "\uff0egit .\uff27\uff29\uff34/config .\u017fsh/config",
  "secrets of programs":
    ".env .env.local .envrc app/.env.production .ssh/authorized_keys .gnupg/x .npmrc .netrc .pypirc",
  "shells": ".bashrc .profile .zshrc .zshenv home/.config/fish/conf.d/x.fish",
  "CI":
    ".github/workflows .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml .travis.yml bitbucket-pipelines.yml",
  "hooks of repositories":
    ".husky/pre-commit .huskyrc.json .githooks/pre-commit .git-hooks/pre-commit captainhook.json",
  "lefthook": "lefthook.yml Lefthook-local.yaml .lefthook.json .lefthook/pre-push/x.sh .config/lefthook.yml",
  "simple-git-hooks": ".simple-git-hooks.cjs simple-git-hooks.json",
  "editors":
    ".vscode/tasks.json .idea/workspace.xml sub/A.Code-Workspace .vim/plugin/x.vim .vimrc _gvimrc .nvim/init.lua",
  "other editors": ".config/nvim/init.lua .nanorc .dir-locals.el .helix/config.toml",
  "agents":
    ".claude/settings.json .codex/config.toml .cursor/mcp.json .mcp.json opencode.json .roo/mcp.json .kiro/hooks/x",
  "debuggers and interpreters": ".gdbinit .irbrc .Rprofile",
  "package managers": ".mise.toml mise.toml .pnpmfile.cjs .yarn/releases/yarn.cjs .mvn/jvm.config",
  "mail, logins and terminals": ".rhosts .k5login .mailcap .forward .tmux.conf .curlrc .wgetrc",
};

/** The same name with blanks at its end, which Windows drops. */
export const BLANK_ENDINGS: readonly string[] = [".git ", ".git . ."];

/** Names that any tool may write: each resembles a protected one. */
export const FREE_NAMES: Readonly<Record<string, string>> = {
  "git": "git src/git/config .gitignore .gitattributes githooks/pre-commit git-hooks/pre-commit",
  "files with the same beginning":
    "environment.ts src/env.ts ssh.ts profile Jenkinsfile.md .vimeo .config/nvim.md",
  "files with the same end":
    "x.env src/lefthook_test.ts lefthook yarn/index.js workflows/ci.yml code-workspace",
  "no short names, and dots": "a~1 backup~2.txt notes.. ...",
  "other files of the directories": ".github/ISSUE_TEMPLATE/bug.md .config/other.json",
};

/** Writes of which some would make a git directory, or change one. */
interface GitDirectory {
  readonly has?: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
  /** The writes that must be refused. */
  readonly refused: readonly string[];
}

const HEAD = "ref: refs/heads/main\n";
/** The last write of a row completes a git directory. */
const completing = (...writes: readonly string[]): GitDirectory => ({ writes, refused: writes.slice(-1) });

/** See {@linkcode GitDirectory}. */
export const GIT_DIRECTORIES: Readonly<Record<string, GitDirectory>> = {
  "HEAD last": completing("config", "objects/x", "refs/x", "HEAD"),
  "refs last": completing("HEAD", "objects/x", "refs/heads/main"),
  "objects last": completing("HEAD", "refs/heads/main", "config", "objects/info/alternates"),
  "another case": completing("head", "OBJECTS/x", "Refs/x"),
  "a letter that file systems ignore": completing("objects/x", "refs/x", "H\u200dEAD"),
  "commondir instead of objects": completing("HEAD", "config", "commondir"),
  "HEAD after commondir": completing("commondir", "HEAD"),
  "a directory below": completing("sub/deep/HEAD", "sub/deep/objects/x", "sub/deep/refs/x"),
  "a directory with a dot": completing(".github/HEAD", ".github/objects/x", ".github/refs/x"),
  "one that is there already": {
    has: { "bare/HEAD": HEAD, "bare/config": "[core]", "bare/objects/x": "", "bare/refs/x": "" },
    writes: ["bare/config", "bare/hooks/post-checkout", "bare/HEAD", "bare/new.txt", "other/config"],
    refused: ["bare/config", "bare/hooks/post-checkout", "bare/HEAD", "bare/new.txt"],
  },
  "but a repository of its own may hold these names": {
    has: { ".git/HEAD": HEAD, ".git/objects/x": "", ".git/refs/x": "" },
    writes: ["HEAD", "config", "objects/x", "refs/x", "HEAD"],
    refused: [],
  },
  "beside a .git that holds something else": broken({ ".git/x": "" }),
  "beside a .git with HEAD alone": broken({ ".git/HEAD": HEAD }),
  "beside a .git without objects": broken({ ".git/HEAD": HEAD, ".git/refs/x": "" }),
  "beside a .git without refs": broken({ ".git/HEAD": HEAD, ".git/objects/x": "" }),
};

/** A `.git` that is no repository: git looks at the directory itself next. */
function broken(git: Readonly<Record<string, string>>): GitDirectory {
  return { has: { ...git, HEAD, "objects/x": "" }, writes: ["refs/x"], refused: ["refs/x"] };
}
