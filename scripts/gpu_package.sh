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

command -v xz >/dev/null || { echo "error: xz was not found" >&2 && echo "  hint: apt-get install xz-utils" >&2 && exit 1; }
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
find "$root/build/gpu" -type f -exec sh -c '[ "$(head -c 4 "$1" | tail -c 3)" = ELF ]' _ {} \; -exec strip --strip-unneeded {} +
# What a server may lack. Never libc and the compiler's libraries: those of the other machine are as new or newer.
find "$root/build/gpu" -type f -exec ldd {} \; 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[^/]*|lib(cuda|cudart|cublas|cublasLt|cupti|nccl|cudnn[a-z_]*|nv[A-Za-z]*))\.so' |
  xargs -r cp -L -t "$root/deps"
git ls-files scripts tests/gpu tests/peers | xargs cp --parents -t "$root"
git describe --always --dirty >"$root/version"

mkdir -p "$(dirname "$out")"
tar -C "$folder" -cf - swinscope-gpu | xz -T0 -6 >"$out.new"
mv "$out.new" "$out"
echo "swinscope: $out: $(du -h "$out" | cut -f1), $(git describe --always --dirty), ${#tests[@]} GPU tests"
