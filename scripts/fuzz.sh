#!/usr/bin/env bash
# usage: scripts/fuzz.sh [--seconds N] [fuzz_NAME…]
# Builds the libFuzzer targets (preset fuzz) and runs each for N seconds (10), starting from tests/fuzz/corpus/<target>/ and
# from what earlier runs found (build/fuzz/corpus/). Exit 77 when there is no target.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=10
if [ "${1:-}" = --seconds ]; then
  seconds=$2
  shift 2
fi

fuzz_one() {
  local name=$1
  local seeds=tests/fuzz/corpus/$name found=build/fuzz/corpus/$name log=build/fuzz/$name.log
  if [ -z "$(ls -A "$seeds" 2>/dev/null)" ]; then
    echo "error: $name has no seeds in $seeds/" >&2
    return 1
  fi
  mkdir -p "$found" build/fuzz/findings
  if ! "build/fuzz/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "$found" "$seeds" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "error: $name found a fault; its input is in build/fuzz/findings/" >&2
    echo "  hint: build/fuzz/bin/$name build/fuzz/findings/$name-…; mended, the input becomes a seed in $seeds/" >&2
    return 1
  fi
  printf '%s: %s executions in %s s, %s inputs kept, no finding\n' "$name" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds" "$(find "$found" -type f | wc -l)"
}

configure fuzz
mapfile -t known < <(ninja -C build/fuzz -t targets all | sed -n 's/^\(fuzz_[a-z0-9_]*\): phony$/\1/p')
if [ ${#known[@]} = 0 ]; then
  echo "there is no fuzz target yet"
  exit 77
fi
[ $# -gt 0 ] || set -- "${known[@]}"
build_dir build/fuzz "$@"

export seconds
export -f fuzz_one
# One on each core; xargs ends with 123 where one of them found a fault.
printf '%s\0' "$@" | xargs -0 -n1 -P"$(nproc)" bash -c 'fuzz_one "$1"' - || exit 1
