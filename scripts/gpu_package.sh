#!/usr/bin/env bash
# usage: scripts/gpu_package.sh [--arch 90a-real] [--build build/gpu] OUT.tar.xz
# For a GPU machine that has no compiler: builds here what is compiled for GPUs and packs it with its tests, the scripts that
# measure and the peers, stripped. There:
#     tar xf OUT.tar.xz && cd swinscope-gpu && scripts/gpu_run.sh python3 scripts/gpu_check.py
# CUDA's own libraries (cuBLASLt, CUPTI, NCCL, cuDNN) are that machine's; scripts/gpu_run.sh finds them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

arch=90a-real build=build/gpu out=
while [ $# -gt 0 ]; do
  case $1 in
    --arch) arch=${2:?--arch needs architectures} && shift 2 ;;
    --build) build=${2:?--build needs a folder} && shift 2 ;;
    -*) refuse_words "$1: unknown" ;;
    *)
      [ -z "$out" ] || refuse_words "$1: one archive only"
      out=$1 && shift
      ;;
  esac
done
[ -n "$out" ] || refuse_words "the archive to write is missing"

configure gpu -B "$build" -DCMAKE_CUDA_ARCHITECTURES="$arch" -DSWINSCOPE_GUI=OFF
mapfile -t tests < <(ctest --test-dir "$build" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: //p')
[ ${#tests[@]} -gt 0 ] || { echo "error: $build: has no GPU tests" >&2 && echo "  hint: they need nvcc" >&2 && exit 1; }
build_dir "$build" swinscope swinscope_collector swin map_kernels_bench "${tests[@]}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/swinscope-gpu
mkdir -p "$root/build/gpu/bin" "$root/deps"
cp -r "$build/lib" "$build/gpu_programs" "$root/build/gpu/"
find "$root/build/gpu/lib" -name '*.a' -delete
programs=("$build/bin/swin" "$build/bin/swinscope" "$build"/bin/*_bench)
for test in "${tests[@]}"; do
  [ -x "$build/bin/$test" ] || continue  # one that is a script
  programs+=("$build/bin/$test")
  echo "$test" >>"$root/build/gpu/gpu_tests"
done
programs+=("$build"/bin/workloads_gpu_*_worker)
cp "${programs[@]}" "$root/build/gpu/bin/"
git ls-files scripts tests/gpu tests/peers | xargs cp --parents -t "$root"
pack "$root" "$out"
echo "swinscope: $out: $(du -h "$out" | cut -f1), $(git describe --always --dirty), ${#tests[@]} GPU tests"
