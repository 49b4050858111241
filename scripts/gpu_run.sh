#!/usr/bin/env bash
# usage: scripts/gpu_run.sh COMMAND [ARGUMENT…]
# Runs a command with the libraries that packed programs need: CUDA's of this machine, and of those that
# scripts/gpu_package.sh or scripts/attack_package.sh brought the ones that this machine lacks. COMMAND's paths are seen from the root of the repository or package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || {
  sed -n '2s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

known=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
has_library() {
  grep -qF "$1" <<<"$known"
}

# A folder of CUDA's toolkit that ldconfig does not know, the newest first.
paths=()
for library in libcublasLt.so.13 libcupti.so.13; do
  has_library $library && continue
  found=$(find /usr/local/cuda*/ -name $library 2>/dev/null | sort -Vr | head -n 1 || true)
  [ -n "$found" ] && paths+=("$(dirname "$found")")
done
if [ -d deps ]; then
  mkdir -p deps/used
  for library in deps/*.so*; do
    has_library "${library##*/}" || ln -sf "../${library##*/}" deps/used/
  done
  paths+=("$PWD/deps/used")
fi
for path in ${paths[@]+"${paths[@]}"}; do
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$path
done
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
exec "$@"
