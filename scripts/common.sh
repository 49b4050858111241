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
