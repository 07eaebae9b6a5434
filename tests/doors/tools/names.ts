/** Names and directories of a workspace that git, editors, shells and other agents read. */

/** Names that no tool writes, in spellings that some file system takes for the same name. */
export const PROTECTED_NAMES: readonly string[] = [
  ".git",
  ".git/config",
  ".git/hooks/pre-commit",
  "sub/module/.git",
  ".GIT/config",
  ".Git",
  ".g\u200cit/config", // zero width non-joiner: ignored by HFS+
  ".gi\u200dt",
  "\ufeff.git",
  ".git\u202e/x",
  ".git.", // Windows drops dots and blanks at the end
  ".git ",
  ".git . .",
  ".git::$INDEX_ALLOCATION/config", // a stream of NTFS
  "git~1/config", // the short name of NTFS
  "GIT~1",
  "gitmod~1",
  "gi7eba~1", // the hashed short name
  "env~1",
  "ssh~1",
  "\uff0egit", // fullwidth full stop
  ".\uff27\uff29\uff34/config",
  "sub\\.git\\config",
  ".env",
  ".env.local",
  ".envrc",
  ".ENV",
  "app/.env.production",
  ".ssh/authorized_keys",
  ".\u017fsh/config", // long s folds to s
  ".gnupg/x",
  ".bashrc",
  ".Bash_Profile",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".config/fish/config.fish",
  "home/.config/fish/conf.d/x.fish",
  ".npmrc",
  ".netrc",
  ".gitconfig",
  ".gitmodules",
  ".git-credentials",
  ".pypirc",
  ".github/workflows/ci.yml",
  "sub/.GitHub/Workflows/ci.yml",
  ".github/workflows",
  ".gitlab-ci.yml",
  ".circleci/config.yml",
  "Jenkinsfile",
  "jenkinsfile",
  "JENKIN~1",
  "azure-pipelines.yml",
  ".travis.yml",
  "bitbucket-pipelines.yml",
  ".vscode/tasks.json",
  ".idea/workspace.xml",
  ".husky/pre-commit",
  ".claude/settings.json",
  ".codex/config.toml",
  ".cursor/mcp.json",
  ".mcp.json",
  ".githooks/pre-commit",
  ".GitHooks",
  "lefthook.yml",
  "lefthook.toml",
  "Lefthook-local.yaml",
  ".lefthook.json",
  ".lefthook/pre-push/x.sh",
  ".config/lefthook.yml",
  ".huskyrc.json",
  ".vim/plugin/x.vim",
  ".vimrc",
  "_vimrc",
  ".nvimrc",
  ".config/nvim/init.lua",
  ".nanorc",
  ".dir-locals.el",
  ".helix/config.toml",
  ".gdbinit",
  ".irbrc",
  ".Rprofile",
  ".kiro/hooks/x.hook",
  ".rhosts",
  ".k5login",
  "_gvimrc",
  "_nvimrc",
  ".nvim/init.lua",
  ".git-hooks/pre-commit",
  "opencode.json",
  "OpenCode.jsonc",
  ".roo/mcp.json",
  ".trae/mcp.json",
  ".qwen/settings.json",
  "project.code-workspace",
  "sub/A.Code-Workspace",
  ".mise.toml",
  "mise.toml",
  ".simple-git-hooks.cjs",
  "simple-git-hooks.json",
  "captainhook.json",
  ".mailcap",
  ".forward",
  ".tmux.conf",
  ".curlrc",
  ".wgetrc",
  ".pnpmfile.cjs",
  ".yarn/releases/yarn.cjs",
  ".mvn/jvm.config",
];

/** Names that any tool may write. */
export const FREE_NAMES: readonly string[] = [
  "git",
  "src/git/config",
  ".gitignore",
  ".gitattributes",
  ".gitkeep",
  "environment.ts",
  "src/env.ts",
  "ssh.ts",
  ".github/ISSUE_TEMPLATE/bug.md",
  ".github/dependabot.yml",
  ".config/other.json",
  "workflows/ci.yml",
  "Jenkinsfile.md",
  "profile",
  "a~1",
  "backup~2.txt",
  "notes..",
  "...",
  "x.env",
  "README.md",
  "lefthook",
  "src/lefthook_test.ts",
  ".vimeo",
  ".config/nvim.md",
  "githooks/pre-commit",
  "git-hooks/pre-commit",
  "opencode.md",
  "src/simple-git-hooks_test.ts",
  "yarn/index.js",
  "code-workspace",
  "mise.md",
  "mailcap",
];

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
