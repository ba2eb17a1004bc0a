#!/usr/bin/env bash
# Run the commands of the quickstart and measure how long each takes: from a fresh clone and an empty
# environment to a verified release and its evaluation. Prints the table of docs/strangers-path.md.
#
#   tools/strangers_path.sh [REPOSITORY]
#
# The caches of pip and syntf are not used. Fails if all commands take more than five minutes.
set -euo pipefail
repository=${1:-$(cd "$(dirname "$0")/.." && pwd)}
limit=300
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export SYNTF_CACHE="$work/cache" PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH VIRTUAL_ENV

rows=()
step() { # step SHOWN COMMAND...: run a command and add a row to the table
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

processor() { # sets used: processor seconds of all commands so far and of their child processes
  times > "$work/times"
  used=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, k, /[ms]/)
    print u[1] * 60 + u[2] + k[1] * 60 + k[2] }' "$work/times")
}

row() { # row TEXT START-TIME PROCESSOR-SECONDS-BEFORE: add a row to the table
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

echo "| command | seconds | processor seconds |"
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
