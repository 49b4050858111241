#!/usr/bin/env bash
# usage: scripts/demo.sh
# From a fresh clone to the analysis of a real training trace: installs what is missing, builds, and shows what swinscope
# says. Safe to run again; then it takes seconds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

trace=data/pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz
swinscope=build/release/bin/swinscope

show() {
  printf '\n$ swinscope %s\n' "$*"
  "$swinscope" "$@"
}

scripts/setup.sh build
echo "swinscope: building (build/release)"
configure release
build_dir build/release

show doctor

# The scaling experiment of an own workload belongs here.

show analyze "$trace"
show kernels "$trace" --top 10
printf '\nswinscope: demo finished; the program is %s\n' "$swinscope"
