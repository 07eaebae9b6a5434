import assert from "node:assert/strict";
import fc from "fast-check";
import { protectedName } from "../../../../src/tools/writing/write_target.ts";
import { test } from "../../../support/test.ts";

Deno.test("protected names are refused in every spelling that some file system takes for the same name", () => {
  const spellings = [
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
  assert.deepEqual(spellings.filter((path) => protectedName(path) === null), []);
});

Deno.test("protected names leave everything else alone", () => {
  const free = [
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
  assert.deepEqual(free.filter((path) => protectedName(path) !== null), []);
});

test.long("protected names stay protected whatever ignorable letters, case and ends are added", () => {
  const names = fc.constantFrom(".git", ".env", ".ssh", ".bashrc", ".npmrc", ".husky", "jenkinsfile");
  const ignorable = fc.constantFrom(
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u202d",
    "\ufe0f",
  );
  const end = fc.constantFrom("", ".", " ", ". .", ":x", "::$DATA");
  const spelled = fc.tuple(names, fc.infiniteStream(fc.boolean()), ignorable, fc.nat(), end).map(
    ([name, upper, extra, at, tail]) => {
      const letters = [...name].map((letter) => upper.next().value ? letter.toUpperCase() : letter);
      letters.splice(at % (letters.length + 1), 0, extra);
      return letters.join("") + tail;
    },
  );
  const around = fc.array(fc.constantFrom("src", "a b", "x"), { maxLength: 3 });
  fc.assert(fc.property(around, spelled, around, (before, name, after) => {
    assert.notEqual(protectedName([...before, name, ...after].join("/")), null);
  }));
});
