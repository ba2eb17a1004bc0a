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

rows=() wall=0 cpu=0
step() { # what to show in the table, then the command
  local shown=$1 times TIMEFORMAT='%R %U %S'
  shift
  { times=$( { time "$@" > "$work/out" 2> "$work/err"; } 2>&1 ); } || {
    cat "$work/out" "$work/err" >&2
    echo "failed: $shown" >&2
    exit 1
  }
  read -r real user system <<< "$times"
  rows+=("$(awk -v c="$shown" -v r="$real" -v p="$user" -v s="$system" \
    'BEGIN { printf "| `%s` | %.1f | %.1f |", c, r, p + s }')")
  wall=$(awk "BEGIN { print $wall + $real }")
  cpu=$(awk "BEGIN { print $cpu + $user + $system }")
}

load=$(cut -d' ' -f1-3 /proc/loadavg 2> /dev/null || uptime | sed 's/.*: //')
step "git clone … syntf" git clone --quiet "$repository" syntf
step "python3 -m venv .venv" "${PYTHON:-python3}" -m venv .venv
step "pip install '.[evaluate]'" .venv/bin/pip install --quiet './syntf[evaluate]'
step "syntf example" .venv/bin/syntf example
step "syntf anonymize example.csv --keep topic --shuffle --out release" \
  .venv/bin/syntf anonymize example.csv --keep topic --shuffle --out release
step "syntf evaluate example.csv --text text --label topic --author author --runs 3 --out proof" \
  .venv/bin/syntf evaluate example.csv --text text --label topic --author author --runs 3 --out proof
step "syntf verify release" .venv/bin/syntf verify release
test -f release/guarantee.json && test -f proof/results.csv

echo "| command | seconds | of a processor |"
echo "|---|---|---|"
printf '%s\n' "${rows[@]}"
awk -v w="$wall" -v c="$cpu" 'BEGIN { printf "| **together** | **%.0f** | **%.0f** |\n", w, c }'
echo
after=$(cut -d' ' -f1-3 /proc/loadavg 2> /dev/null || uptime | sed 's/.*: //')
echo "$(date -u +%F), $(.venv/bin/python --version), $(getconf _NPROCESSORS_ONLN) cores;" \
  "load average before: $load, after: $after."
awk -v w="$wall" -v l="$limit" 'BEGIN { exit !(w < l) }' || {
  echo "more than $limit seconds" >&2
  exit 1
}
