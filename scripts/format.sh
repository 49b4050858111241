#!/usr/bin/env bash
# usage: scripts/format.sh [--check] [FILE…]
# Lays out our C++ and CUDA sources (or the given ones) by .clang-format; --check only names those that differ. Version 14
# everywhere: other versions lay out the same settings differently.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=clang-format-14
command -v $program >/dev/null || program=build/deps/clang-format/clang_format/data/bin/clang-format  # of scripts/setup.sh check
check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
if [ $# = 0 ]; then
  mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.c' '*.cpp' '*.cu' '*.cuh')
  set -- "${files[@]}"
fi

if [ $check = no ]; then
  "$program" -i "$@"
elif ! findings=$("$program" --dry-run --Werror "$@" 2>&1); then
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$findings" | uniq -c >&2
  echo "error: the files above are not laid out by .clang-format" >&2
  echo "  hint: scripts/format.sh" >&2
  exit 1
fi
