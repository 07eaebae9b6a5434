/**
 * Decision of each posture about each call. A line with `$` is a posture: the flags of `run`. The lines after it are
 * calls (`sh` is a command line for the tool shell, `argv` its JSON), each with the decision, the reason, and the rule
 * that decided if a rule did. A line with `#` says what is awkward. No posture asks a person: tests/cli/binary/ask_test.ts.
 */
export const POLICY_TABLE = `
# No flags: reading only, with or without a terminal.
$
read_file a.txt                          allow reading
read_file .env                           allow reading
list_files .                             allow reading
search_text .                            allow reading
write_file a.txt                         deny not_allowed
edit_file a.txt                          deny not_allowed
sh ls                                    deny not_allowed
argv ["ls"]                              deny not_allowed

# --ask asks at a terminal, and denies without one.
$ --ask
read_file a.txt                          allow reading
list_files .                             allow reading
write_file a.txt                         deny no_terminal
edit_file a.txt                          deny no_terminal
sh ls                                    deny no_terminal
argv ["ls"]                              deny no_terminal

# A group.
$ --allow write
write_file a.txt                         allow allowed_by_rule write
write_file deep/new.txt                  allow allowed_by_rule write
edit_file a.txt                          allow allowed_by_rule write
sh ls                                    deny not_allowed
read_file a.txt                          allow reading
$ --allow shell
sh ls                                    allow allowed_by_rule shell
sh ls | wc -l; rm -rf x                  allow allowed_by_rule shell
sh echo $HOME                            allow allowed_by_rule shell
argv ["anything","at","all"]             allow allowed_by_rule shell
write_file a.txt                         deny not_allowed
edit_file a.txt                          deny not_allowed

# One tool of a group.
$ --allow edit_file
edit_file a.txt                          allow allowed_by_rule edit_file
write_file a.txt                         deny not_allowed
sh ls                                    deny not_allowed
$ --allow write --deny write_file
write_file a.txt                         deny denied_by_rule write_file
edit_file a.txt                          allow allowed_by_rule write

# Deny wins, and is not asked about.
$ --allow write --deny write
write_file a.txt                         deny denied_by_rule write
edit_file a.txt                          deny denied_by_rule write
$ --deny read
read_file a.txt                          deny denied_by_rule read
list_files .                             deny denied_by_rule read
search_text src                          deny denied_by_rule read
sh ls                                    deny not_allowed

# A denied directory is denied with all below it, at any depth.
$ --allow write --deny write:docs
write_file docs/a.txt                    deny denied_by_rule write:docs
write_file docs/deep/new/a.txt           deny denied_by_rule write:docs
write_file deep/docs                     deny denied_by_rule write:docs
write_file docs.txt                      allow allowed_by_rule write
$ --allow write:docs
write_file docs/a.txt                    deny not_allowed

# Commands are compared word by word, whole.
$ --allow 'shell:git status'
sh git status                            allow allowed_by_rule shell:git status
sh   git    status                       allow allowed_by_rule shell:git status
sh 'git' "status"                        allow allowed_by_rule shell:git status
argv ["git","status"]                    allow allowed_by_rule shell:git status
sh git status --short                    deny not_allowed
sh git                                   deny not_allowed
sh GIT status                            deny not_allowed
argv ["git status"]                      deny not_allowed
argv ["/tmp/git","status"]               deny not_allowed
sh git -c alias.status=!sh status        deny not_allowed
sh PATH=. git status                     deny not_allowed
# A line that a shell would read as more than these words matches no pattern (CVE-2026-12537).
sh git status; rm -rf .                  deny not_allowed
sh git status | sh                       deny not_allowed
sh git status &                          deny not_allowed
sh git status > .git/config              deny not_allowed
sh git status $(id)                      deny not_allowed
sh git status # comment                  deny not_allowed
sh git statu?                            deny not_allowed
sh git {status,log}                      deny not_allowed
sh git status \\                          deny not_allowed
sh (git status)                          deny not_allowed
sh "git status                           deny not_allowed
sh git "st$(id)atus"                     deny not_allowed

# * is one argument, whatever it holds.
$ --allow 'shell:git log *'
sh git log -3                            allow allowed_by_rule shell:git log *
argv ["git","log","a b; c"]              allow allowed_by_rule shell:git log *
argv ["git","log",""]                    allow allowed_by_rule shell:git log *
sh git log                               deny not_allowed
sh git log a b                           deny not_allowed
sh git log -3 | cat                      deny not_allowed
sh git log --output=.bashrc              allow allowed_by_rule shell:git log *


$ --allow 'shell:* --version'
sh node --version                        allow allowed_by_rule shell:* --version
argv ["/bin/sh","--version"]             allow allowed_by_rule shell:* --version
sh PATH=. --version                      deny not_allowed
# ** is any rest, none too.
$ --allow 'shell:npm test **'
sh npm test                              allow allowed_by_rule shell:npm test **
sh npm test -- --watch                   allow allowed_by_rule shell:npm test **
argv ["npm","test","a","b","c"]          allow allowed_by_rule shell:npm test **
sh npm                                   deny not_allowed
sh npm test; id                          deny not_allowed
# Quotes in a pattern as in a shell; a quoted star is a letter.
$ --allow "shell:echo 'a b' '*'"
argv ["echo","a b","*"]                  allow allowed_by_rule shell:echo 'a b' '*'
argv ["echo","a b","x"]                  deny not_allowed
sh echo 'a b' *                          deny not_allowed

# Denied commands: the doubt is a denial too.
$ --allow shell --deny 'shell:git push **'
sh git push --force                      deny denied_by_rule shell:git push **
sh /usr/bin/git push                     deny denied_by_rule shell:git push **
argv ["git","push","x"]                  deny denied_by_rule shell:git push **
sh git status                            allow allowed_by_rule shell
sh git status && git push                deny unclear_command shell:git push **
sh g=git; $g push                        deny unclear_command shell:git push **
argv ["sh","-c","git push"]              deny unclear_command shell:git push **
argv ["/usr/bin/env","git","push"]       deny unclear_command shell:git push **
sh sudo git push                         deny unclear_command shell:git push **
sh echo git push                         allow allowed_by_rule shell
write_file a.txt                         deny not_allowed

# Paths: globs over the resolved path.
$ --allow 'write:src/**'
write_file src/a.ts                      allow allowed_by_rule write:src/**
edit_file src/a.ts                       allow allowed_by_rule write:src/**
write_file docs/../src/a.ts              allow allowed_by_rule write:src/**
write_file a.txt                         deny not_allowed
write_file srcs/a.ts                     deny not_allowed
write_file src/../a.txt                  deny not_allowed
# A link in src leads to secret: what counts is where it leads.
write_file src/link/x.txt                deny not_allowed
write_file way-to-src/a.ts               allow allowed_by_rule write:src/**
# An allowed pattern is compared letter by letter.
write_file SRC/a.ts                      deny not_allowed
sh touch src/a.ts                        deny not_allowed
$ --allow 'write:*.md'
write_file README.md                     allow allowed_by_rule write:*.md
write_file docs/deep/page.md             allow allowed_by_rule write:*.md
write_file page.mdx                      deny not_allowed
$ --allow 'write:src/*.ts'
write_file src/a.ts                      allow allowed_by_rule write:src/*.ts
write_file src/deep/a.ts                 deny not_allowed
$ --allow 'write_file:{src,docs}/**'
write_file docs/a.md                     allow allowed_by_rule write_file:{src,docs}/**
edit_file src/a.ts                       deny not_allowed

# Denied paths cover all below, in any case, by any way.
$ --allow write --deny 'write:secret/**'
write_file secret/x.txt                  deny denied_by_rule write:secret/**
edit_file secret/key.txt                 deny denied_by_rule write:secret/**
write_file Secret/x.txt                  deny denied_by_rule write:secret/**
write_file src/link/x.txt                deny denied_by_rule write:secret/**
write_file docs/../secret/x.txt          deny denied_by_rule write:secret/**
write_file secrets/x.txt                 allow allowed_by_rule write
write_file src/secret/x.txt              allow allowed_by_rule write
read_file secret/key.txt                 allow reading
$ --allow write --deny 'write:*.lock'
write_file deno.lock                     deny denied_by_rule write:*.lock
write_file sub/Cargo.LOCK                deny denied_by_rule write:*.lock
write_file lock                          allow allowed_by_rule write
$ --deny 'read:secret/**'
read_file secret/key.txt                 deny denied_by_rule read:secret/**
read_file src/link/key.txt               deny denied_by_rule read:secret/**
list_files secret                        deny denied_by_rule read:secret/**
search_text secret                       deny denied_by_rule read:secret/**
read_file a.txt                          allow reading
list_files .                             allow reading
search_text .                            allow reading
# A rule for paths is about paths, a rule for commands about commands.
$ --allow 'write:**' --deny 'read:**'
write_file a.txt                         allow allowed_by_rule write:**
read_file a.txt                          deny denied_by_rule read:**
list_files .                             deny denied_by_rule read:**
sh cat a.txt                             deny not_allowed

# What a person allows in general still obeys the rules.
$ --allow write --allow 'shell:deno test **' --deny 'write:deno.json' --ask
write_file deno.json                     deny denied_by_rule write:deno.json
sh deno test -A                          allow allowed_by_rule shell:deno test **
sh deno run -A x.ts                      deny no_terminal
`;
