#!/usr/bin/env bash
# usage: scripts/check.sh [--all]
# Everything that must hold before a change lands. Runs all phases even when one fails, and closes with
# `checks: N passed, N failed, N skipped`. --all: clang-tidy on every source, not only on what differs from scripts/tidy_base.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tidy_arguments=("$@")
started=$SECONDS
summary=()
passed=0 failed=0 skipped=0
readonly kSkip=77  # Exit status of a phase that had nothing to do; its last line of output says why.

export ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
export CTEST_OUTPUT_ON_FAILURE=1 CTEST_PARALLEL_LEVEL
CTEST_PARALLEL_LEVEL=$(nproc)

# phase <name> <command>…: runs it in a subshell, so that `set -e` holds inside although failures are counted here.
phase() {
  local name=$1 begun=$SECONDS status verdict
  shift
  printf '\n== %s (%d s)\n' "$name" $((SECONDS - started))
  set +e
  (set -e; "$@")
  status=$?
  set -e
  case $status in
    0) verdict=passed passed=$((passed + 1)) ;;
    "$kSkip") verdict=skipped skipped=$((skipped + 1)) ;;
    *) verdict=FAILED failed=$((failed + 1)) ;;
  esac
  summary+=("$(printf '%-8s %5d s  %s' "$verdict" $((SECONDS - begun)) "$name")")
}

skip() {
  echo "skipped: $*"
  exit $kSkip
}

build_asan() {
  configure asan
  build_dir build/asan
}

test_asan() {
  [ -x build/asan/bin/swinscope ] || { echo "not run: the build failed" >&2 && exit 1; }
  ctest --test-dir build/asan
  # GoogleTest counts a skipped test as passed; say which ones they were.
  grep -hE '^\[  SKIPPED \] .*\.' build/asan/Testing/Temporary/LastTest.log | sed 's/ (.*//' | sort -u || true
}

# ThreadSanitizer takes a build of its own, so it is kept to the tests with the label tsan: those that run several threads.
test_tsan() {
  configure tsan
  local names ctest=(ctest)
  mapfile -t names < <(ctest --test-dir build/tsan -N -L '^tsan$' | sed -n 's/^ *Test *#[0-9]*: //p')
  [ ${#names[@]} -gt 0 ] || skip "no test has the label tsan yet; collector/ and the loader of gui/ will bring them"
  build_dir build/tsan "${names[@]}"
  # ThreadSanitizer maps its shadow at fixed addresses, which a kernel with much address randomization refuses.
  ! setarch -R true 2>/dev/null || ctest=(setarch -R ctest)
  "${ctest[@]}" --test-dir build/tsan -L '^tsan$'
}

check_tidy() {
  local version
  version=$(clang-tidy --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')
  [ "$version" = 14 ] || skip "this is clang-tidy $version; .clang-tidy is written for the checks of version 14 (Debian 12)"
  scripts/tidy.sh "${tidy_arguments[@]}"
}

has_nvcc() {
  command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]
}

build_cuda() {
  [ -n "$(git ls-files --cached --others --exclude-standard '*.cu' ':!tests/unit/house')" ] || skip "there is no CUDA source yet"
  has_nvcc || skip "nvcc was not found"
  # The rest of the tree has been built already, with sanitizers: here only what is compiled for GPUs, and its tests. It
  # comes before the tests that run, so that a log does not end with those that are skipped where no GPU answers.
  configure gpu -B build/gpu-90a -DCMAKE_CUDA_ARCHITECTURES=90a-real -DSWINSCOPE_GUI=OFF
  local tests
  mapfile -t tests < <(ctest --test-dir build/gpu-90a -N -L '^(gpu|cuda)$' | sed -n 's/^ *Test *#[0-9]*: //p')
  build_dir build/gpu-90a swin kernels_not_hopper "${tests[@]}"
  ctest --test-dir build/gpu-90a -L '^(gpu|cuda)$'  # those that need a GPU are skipped, and so they say
}

# A disk that fills up fails in a hundred places, none of which says so plainly.
readonly kNeedsGiB=12
free=$(($(stat -f -c '%a * %S' .) >> 30))
[ $free -ge $kNeedsGiB ] || echo "warning: $free GiB are free here; fresh builds of all phases take about $kNeedsGiB" >&2

phase "set-up" scripts/setup.sh check
phase "format" scripts/format.sh --check
phase "build with ASan and UBSan" build_asan
phase "CUDA code for sm_90a" build_cuda
phase "tests with ASan and UBSan" test_asan
phase "tests with TSan" test_tsan
phase "clang-tidy" check_tidy
phase "fuzzers, 10 s each" scripts/fuzz.sh

printf '\n== summary (%d s)\n' $((SECONDS - started))
printf '%s\n' "${summary[@]}"
printf 'checks: %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed = 0 ]
