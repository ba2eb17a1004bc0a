#!/usr/bin/env bash
# The quickstart with a stopwatch, as someone would go it who has never seen syntf: from a clone and
# an empty environment to a release and a report on it. Prints the table of docs/strangers-path.md.
#
#   tools/strangers_path.sh [REPOSITORY]
#
# Nothing is taken from caches of pip or syntf. Fails if the way takes more than five minutes.
set -euo pipefail
repository=${1:-$(cd "$(dirname "$0")/.." && pwd)}
limit=300
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export SYNTF_CACHE="$work/cache" PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH VIRTUAL_ENV

rows=()
step() { # what to show in the table, then the command
  local shown=$1 began=$EPOCHREALTIME spent
  shift
  processor
  spent=$used
  "$@" > "$work/out" 2> "$work/err" || {
    cat "$work/out" "$work/err" >&2
    echo "failed: $shown" >&2
    exit 1
  }
  row "\`$shown\`" "$began" "$spent"
}

processor() { # used: seconds that all commands so far and what they started kept one busy
  times > "$work/times"
  used=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, k, /[ms]/)
    print u[1] * 60 + u[2] + k[1] * 60 + k[2] }' "$work/times")
}

row() { # a line of the table: what, since when, and the processor's seconds until then
  processor
  rows+=("$(awk -v what="$1" -v began="$2" -v now="$EPOCHREALTIME" -v spent="$3" -v used="$used" \
    'BEGIN { printf "| %s | %.1f | %.1f |", what, now - began, used - spent }')")
}

load=$(cut -d' ' -f1-3 /proc/loadavg 2> /dev/null || uptime | sed 's/.*: //')
start=$EPOCHREALTIME
step "git clone … syntf" git clone --quiet "$repository" syntf
step "python3 -m venv .venv" "${PYTHON:-python3}" -m venv .venv
step "pip install '.[evaluate]'" .venv/bin/pip install --quiet './syntf[evaluate]'
step "syntf example" .venv/bin/syntf example
step "syntf anonymize example.csv --keep topic --shuffle --out release" \
  .venv/bin/syntf anonymize example.csv --keep topic --shuffle --out release
step "syntf evaluate example.csv --text text --label topic --author author --runs 3 --out proof" \
  .venv/bin/syntf evaluate example.csv --text text --label topic --author author --runs 3 --out proof
step "syntf verify release" .venv/bin/syntf verify release
test -f release/guarantee.json
test -f proof/results.csv
row "**together**" "$start" 0
seconds=$(awk -v s="$start" -v e="$EPOCHREALTIME" 'BEGIN { print int(e - s) }')

echo "| command | seconds | of a processor |"
echo "|---|---|---|"
printf '%s\n' "${rows[@]}"
echo
after=$(cut -d' ' -f1-3 /proc/loadavg 2> /dev/null || uptime | sed 's/.*: //')
echo "$(date -u +%F), $(.venv/bin/python --version), $(getconf _NPROCESSORS_ONLN) cores;" \
  "load average before: $load, after: $after."
if [ "$seconds" -ge "$limit" ]; then
  echo "more than $limit seconds" >&2
  exit 1
fi
