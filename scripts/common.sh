# Sourced by the other scripts: the root of the repository as working directory, ccache, building a preset, and what those that
# measure have in common.
set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Paths relative to the clone, so that a second clone finds the first one's objects.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# configure <preset> [cmake argument…]: says something only when it fails.
configure() {
  local log=build/configure-$1.log
  mkdir -p build
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
  cmake --preset "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}

# build_dir <dir> [target…]: progress on a terminal, only warnings and errors in a log.
build_dir() {
  local dir=$1 quiet=()
  shift
  [ -t 1 ] || quiet=(--quiet)
  ninja -C "$dir" "${quiet[@]}" "$@"
}

# refuse_words <message>: of the command line; with the script's usage, its second line.
refuse_words() {
  echo "error: $1" >&2
  echo "  hint: $(sed -n '2s/^# //p' "$script")" >&2
  exit 2
}

# use_build <dir>: its programs as $swinscope and $swin.
use_build() {
  swinscope=$1/bin/swinscope swin=$1/bin/swin
  local program
  for program in "$swinscope" "$swin"; do
    [ -x "$program" ] && continue
    echo "error: $program: not built" >&2
    echo "  hint: cmake --preset gpu && cmake --build --preset gpu, or name another build with --build" >&2
    exit 1
  done
}

# pack <folder> <archive>: for another machine: strips the programs in folder/build, adds as folder/deps the libraries that it
# may lack (scripts/gpu_run.sh finds them there) and packs all. Never libc and the compiler's libraries: the other machine's are as new or newer.
pack() {
  local folder=$1 out=$2
  command -v xz >/dev/null || { echo "error: xz was not found" >&2 && echo "  hint: apt-get install xz-utils" >&2 && return 1; }
  mkdir -p "$folder/deps" "$(dirname "$out")"
  find "$folder/build" -type f -exec ldd {} \; 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[^/]*|lib(cuda|cudart|cublas|cublasLt|cupti|nccl|cudnn[a-z_]*|nv[A-Za-z]*))\.so' |
    xargs -r cp -L -t "$folder/deps"
  find "$folder/build" "$folder/deps" -type f -exec sh -c '[ "$(head -c 4 "$1" | tail -c 3)" = ELF ]' _ {} \; -exec strip --strip-unneeded {} +
  git describe --always --dirty >"$folder/version"
  tar -C "$(dirname "$folder")" -cf - "$(basename "$folder")" | xz -T0 -6 >"$out.new"
  mv "$out.new" "$out"
}
