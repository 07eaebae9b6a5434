#!/usr/bin/env bash
# Puts the report on the pull request as a comment, or replaces the comment of an earlier run.
# Reads COMMENT_TOKEN, REPORT, INPUT_COMMAND and INPUT_FIXTURES. A failure is a warning: tokens of forks may only read.
set -euo pipefail

# give_up MESSAGE
give_up() {
  printf '::warning title=reprise::%s\n' "$1"
  exit 0
}

if [ ! -s "$REPORT" ]; then give_up "There is no report to comment with"; fi
number=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
if [ -z "$number" ]; then give_up "This run belongs to no pull request, so there is no comment"; fi

work=$(mktemp -d "$RUNNER_TEMP/reprise.XXXXXX")
trap 'rm -rf "$work"' EXIT
comments=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues
name=$(printf '%s' "$GITHUB_WORKFLOW/$GITHUB_JOB/$INPUT_COMMAND/$INPUT_FIXTURES" | tr -c 'A-Za-z0-9._/' '_')
marker="<!-- reprise: $name -->"

# api METHOD URL ANSWER [BODY]: one call of the API. The token goes through stdin, not through the arguments.
api() {
  printf 'header = "Authorization: Bearer %s"\n' "$COMMENT_TOKEN" |
    curl -sS -f --max-time 30 -K - -X "$1" -o "$3" \
      -H 'Accept: application/vnd.github+json' -H 'X-GitHub-Api-Version: 2022-11-28' \
      ${4:+-H 'Content-Type: application/json' --data-binary "@$4"} "$2"
}

# Prints the id of the comment that begins with the marker.
find_comment() {
  local page=1 count id
  while :; do
    api GET "$comments/$number/comments?per_page=100&page=$page" "$work/page.json" || return 1
    id=$(jq -r --arg marker "$marker" 'map(select(.body | startswith($marker)))[0].id // empty' "$work/page.json") ||
      return 1
    count=$(jq length "$work/page.json")
    if [ -z "$count" ]; then return 1; fi
    if [ -n "$id" ] || [ "$count" -lt 100 ]; then break; fi
    page=$((page + 1))
  done
  printf '%s' "$id"
}

jq -n --arg marker "$marker" --rawfile report "$REPORT" '{ body: "\($marker)\n\($report)" }' >"$work/body.json"
id=$(find_comment) || give_up "Cannot read the comments of pull request $number"
if [ -n "$id" ]; then
  api PATCH "$comments/comments/$id" "$work/answer.json" "$work/body.json" ||
    give_up "Cannot change the comment on pull request $number"
else
  api POST "$comments/$number/comments" "$work/answer.json" "$work/body.json" ||
    give_up "Cannot comment on pull request $number"
fi
printf 'The report is on pull request %s\n' "$number"
