#!/usr/bin/env bash
# Checks the inputs of the action, and resolves the version.
# Reads INPUT_VERSION, INPUT_COMMAND, INPUT_FIXTURES, INPUT_RUN, ACTION_REF. Outputs: version, directory.
set -euo pipefail

# fail MESSAGE
fail() {
  printf '::error title=reprise::%s\n' "$1"
  exit 2
}

case $INPUT_COMMAND in
  '') ;;
  test) [ -n "$INPUT_FIXTURES" ] || fail "Name the folders of the sessions in the input \"fixtures\"" ;;
  record | serve)
    [ -n "$INPUT_FIXTURES" ] || fail "Name the folders of the fixtures in the input \"fixtures\""
    [ -n "$INPUT_RUN" ] || fail "Name the command in the input \"run\""
    ;;
  *) fail "The input \"command\" is not record, serve or test" ;;
esac
if [ -n "$INPUT_COMMAND" ] && ! command -v jq >/dev/null; then
  fail "The action needs jq on this runner"
fi

# A version of the action that is a tag of a release means that release.
version=$INPUT_VERSION
if [ -z "$version" ]; then
  version=latest
  if [[ $ACTION_REF =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then version=$ACTION_REF; fi
fi
if ! version=$(REPRISE_VERSION=$version sh "$GITHUB_ACTION_PATH/install.sh" --print-version); then
  fail "Cannot find the release to install: the log has the reason"
fi
{
  printf 'version=%s\n' "$version"
  printf 'directory=%s\n' "${RUNNER_TOOL_CACHE:-$HOME/.cache}/reprise/$version"
} >>"$GITHUB_OUTPUT"
