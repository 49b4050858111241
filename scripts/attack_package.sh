#!/usr/bin/env bash
# usage: scripts/attack_package.sh OUT.tar.xz
# For a machine with many cores and no compiler: packs the fuzzers (preset fuzz) with their corpora, what earlier runs found in
# build/fuzz/corpus/ included, and the programs with sanitizers (preset asan) with the files that scripts/mutated_files.py damages. There:
#     tar xf OUT.tar.xz && cd swinscope-attack
#     scripts/gpu_run.sh python3 scripts/run_fuzzers.py build/fuzz/bin --seconds 275 --each 7
#     scripts/gpu_run.sh python3 scripts/mutated_files.py build/asan/bin --count 10000
# An input that is found is looked at here: the packed programs are stripped.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 1 ] || refuse_words "one archive is to be named"
out=$1
configure fuzz
mapfile -t fuzzers < <(ninja -C build/fuzz -t targets all | sed -n 's/^\(fuzz_[a-z0-9_]*\): phony$/\1/p')
build_dir build/fuzz "${fuzzers[@]}"
configure asan
build_dir build/asan swinscope swin

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/swinscope-attack
mkdir -p "$root/build/fuzz/bin" "$root/build/asan/bin"
cp "${fuzzers[@]/#/build/fuzz/bin/}" "$root/build/fuzz/bin/"
cp build/asan/bin/swinscope build/asan/bin/swin "$root/build/asan/bin/"
[ ! -d build/fuzz/corpus ] || cp -r build/fuzz/corpus "$root/build/fuzz/"
git ls-files scripts tests/fuzz/corpus tests/golden data/peaks data/swinscope_swinv2b_upernet_weak_2gpu data/swinscope_captured_allreduce_2gpu \
  data/swinscope_swin_tiny_infer_1gpu.db data/pytorch_captured_allreduce_2gpu data/pytorch_swin_tiny_graph_1gpu.kineto.json.gz |
  xargs cp --parents -t "$root"
pack "$root" "$out"
echo "swinscope: $out: $(du -h "$out" | cut -f1), $(git describe --always --dirty), ${#fuzzers[@]} fuzzers"
