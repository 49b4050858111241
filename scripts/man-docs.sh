#!/usr/bin/env bash
# usage: scripts/man-docs.sh [--check] [PROGRAM]
# Writes the options in docs/man/swinscope.1, between its two marks, from the program (default: build/release/bin/swinscope); --check
# only says whether they are up to date. Everything else of the page is written by hand, and so is swin.1, whose options are those
# of the build: without CUDA it has fewer.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check=no program=build/release/bin/swinscope
for word in "$@"; do
  case $word in
    --check) check=yes ;;
    -*) refuse_words "$word: unknown" ;;
    *) program=$word ;;
  esac
done

readonly page=docs/man/swinscope.1
readonly begin='^\.\\" Written by scripts/man-docs\.sh, from here$' end='^\.\\" to here\.$'
new=$(mktemp)
trap 'rm -f "$new"' EXIT
sed "\|$begin|q" $page >"$new"
"$program" completion man >>"$new"
sed -n "\|$end|,\$p" $page >>"$new"
if cmp -s "$new" $page; then
  echo "$page is up to date"
elif [ $check = yes ]; then
  diff $page "$new" | head -n 20 >&2
  echo "error: the options in $page are not those of the program" >&2
  echo "  hint: run scripts/man-docs.sh" >&2
  exit 1
else
  cat "$new" >$page
  echo "$page is written"
fi
