#!/usr/bin/env bash
# usage: scripts/golden.sh [--update] [CASE…]
# Runs the golden tests (all, or the named folders of tests/golden/) with the dev preset. --update writes what swinscope prints
# into the expectations: read the diff, and commit it only when every figure in it can be derived by hand.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

update=no
if [ "${1:-}" = --update ]; then
  update=yes
  shift
fi
filter=
for name in "$@"; do
  if [ ! -f "tests/golden/$name/commands" ]; then
    echo "error: there is no golden test '$name'" >&2
    echo "  hint: its files would be in tests/golden/$name/" >&2
    exit 2
  fi
  filter+=${filter:+:}*/$name
done

configure dev
build_dir build/dev golden_test
if [ $update = no ]; then
  exec build/dev/bin/golden_test --gtest_brief=1 --gtest_filter="${filter:-*}"
fi
SWINSCOPE_GOLDEN_UPDATE=1 build/dev/bin/golden_test --gtest_brief=1 --gtest_filter="${filter:-*}"
git --no-pager diff --stat -- tests/golden
git status --short -- tests/golden | sed -n 's/^??/new:/p'
