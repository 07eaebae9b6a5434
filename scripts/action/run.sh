#!/usr/bin/env bash
# Runs record, serve or test, and writes a report in Markdown to the job's summary.
# Reads INPUT_COMMAND, INPUT_FIXTURES and INPUT_FLAGS (one value a line), INPUT_RUN. Outputs: exit-code, report, events,
# recording. Ends with the exit code of reprise; for record, with 7 if a recording shows breaking drift.
set -euo pipefail
export NO_COLOR=1

work=$(mktemp -d "$RUNNER_TEMP/reprise.XXXXXX")
report=$work/report.md
details=$work/details.txt
events=$work/events.jsonl
recording=$work/recording
: >"$details"
status=0
title=
here=$(dirname "${BASH_SOURCE[0]}")

set --
while IFS= read -r line; do
  if [ -n "$line" ]; then set -- "$@" "$line"; fi
done <<END
$INPUT_FLAGS
END

# Sets `fixtures` to the folders as an array.
fixtures=()
while IFS= read -r line; do
  if [ -n "$line" ]; then fixtures+=("$line"); fi
done <<END
$INPUT_FIXTURES
END

run_test() {
  reprise test "${fixtures[@]}" "$@" --reporter text 2>&1 | tee "$details" || status=$?
  title=$(grep -E '^[0-9]+ passed(, |$)' "$details" | tail -n 1 || true)
}

# read_events FILTER: sets the title and the details. A wrong flag ends reprise before it writes events.
read_events() {
  if [ ! -f "$events" ]; then return; fi
  title=$(jq -r -f "$1" "$events")
  jq -r -f "$here/serve_details.jq" "$events" >"$details"
}

run_serve() {
  reprise serve "${fixtures[@]}" "$@" --events "$events" -- bash -eo pipefail -c "$INPUT_RUN" || status=$?
  read_events "$here/serve_title.jq"
}

run_record() {
  if [ "${#fixtures[@]}" -ne 1 ]; then
    printf '::error title=reprise::record takes one folder in the input "fixtures"\n'
    exit 2
  fi
  reprise record --out "$recording" "$@" --events "$events" -- bash -eo pipefail -c "$INPUT_RUN" || status=$?
  read_events "$here/record_title.jq"
  if [ "$status" -eq 0 ]; then compare_recording "${fixtures[0]}"; fi
}

# Prints the folders of fixtures in a folder, relative to it, sorted.
fixtures_below() {
  if [ -d "$1" ]; then (cd "$1" && find . -name fixture.json | sed 's:/fixture\.json$::' | LC_ALL=C sort); fi
}

# compare_recording OLD: compares each fixture with the new recording of it.
compare_recording() {
  local name breaking=0 compared=0 code
  while IFS= read -r name; do
    if [ ! -f "$recording/$name/fixture.json" ]; then
      printf 'not recorded again: %s\n' "$1/$name" >>"$details"
    elif [ ! -f "$1/$name/fixture.json" ]; then
      printf 'new: %s\n' "$1/$name" >>"$details"
    else
      compared=$((compared + 1))
      code=0
      reprise fixture diff "$1/$name" "$recording/$name" >>"$details" 2>&1 || code=$?
      if [ "$code" -ne 0 ]; then breaking=$((breaking + 1)); fi
    fi
  done < <({ fixtures_below "$1"; fixtures_below "$recording"; } | LC_ALL=C sort -u)
  title="$title, $compared compared, $breaking with breaking drift"
  if [ "$breaking" -gt 0 ]; then status=7; fi
}

case $INPUT_COMMAND in
  test) run_test "$@" ;;
  serve) run_serve "$@" ;;
  record) run_record "$@" ;;
esac

# The details are an indented block of code: nothing in them is read as Markdown, HTML or a mention. A comment on GitHub
# has at most 65,536 characters.
LC_ALL=C tr -d '\000-\010\013-\037\177' <"$details" >"$work/printable.txt"
{
  printf '### reprise %s: %s\n\n' "$INPUT_COMMAND" "${title:-exit code $status}"
  LC_ALL=C awk '
    (size += length($0) + 5) > 60000 { print "    … the log of the job has the rest"; exit }
    { print "    " $0 }
  ' "$work/printable.txt"
  printf '\nExit code %s\n' "$status"
} >"$report"
cat "$report" >>"$GITHUB_STEP_SUMMARY"
{
  printf 'exit-code=%s\n' "$status"
  printf 'report=%s\n' "$report"
  if [ -f "$events" ]; then printf 'events=%s\n' "$events"; fi
  if [ -d "$recording" ]; then printf 'recording=%s\n' "$recording"; fi
} >>"$GITHUB_OUTPUT"
exit "$status"
