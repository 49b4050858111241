#!/usr/bin/env bash
# usage: scripts/fuzz.sh [--seconds N] [--each N] [fuzz_NAME…]
# Builds the libFuzzer targets (preset fuzz) and runs each for N seconds (10), starting from tests/fuzz/corpus/<target>/ and
# from what earlier runs found (build/fuzz/corpus/); the options are those of scripts/run_fuzzers.py. Exit 77 when there is no target.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

options=() names=()
while [ $# -gt 0 ]; do
  case $1 in
    --*) options+=("$1" "${2:?$1 needs a value}") && shift 2 ;;
    *) names+=("$1") && shift ;;
  esac
done

configure fuzz
mapfile -t known < <(ninja -C build/fuzz -t targets all | sed -n 's/^\(fuzz_[a-z0-9_]*\): phony$/\1/p')
if [ ${#known[@]} = 0 ]; then
  echo "there is no fuzz target yet"
  exit 77
fi
[ ${#names[@]} -gt 0 ] || names=("${known[@]}")
build_dir build/fuzz "${names[@]}"
exec python3 scripts/run_fuzzers.py build/fuzz/bin ${options[@]+"${options[@]}"} "${names[@]}"
