#!/usr/bin/env bash
# usage: scripts/setup.sh [build|check|package]
# Installs with apt what is missing to build swinscope (build, the default), also to check it (check) or to pack it (package), on Debian 12 and 13 and
# Ubuntu 24.04, and fetches the NVTX headers where no CUDA toolkit has them. When nothing is missing it touches neither apt
# nor the network. SWINSCOPE_SKIP_SETUP=1 skips it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates
  libfmt-dev libsqlite3-dev zlib1g-dev libisal-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev
  libre2-dev libopenblas-dev libgloo-dev libpng-dev libjpeg-dev # libjpeg-turbo on Debian and on Ubuntu
  qt6-base-dev fonts-dejavu-core # the desktop program, and a font for pictures of it where there is no desktop
)
# From PyPI, pinned: the NVTX 3 headers, where no CUDA toolkit brings them, the Python binding that a test records
# (wheels for Python 3.11 to 3.13), the client that a test of `swinscope mcp` runs, and clang-format: one version everywhere,
# because each lays out code differently.
readonly nvtx_headers_package=nvidia-nvtx==13.0.85 nvtx_headers=build/deps/nvtx3/include
readonly nvtx_python_package=nvtx==0.2.13 python_packages=build/deps/python
readonly clang_format_package=clang-format==14.0.6 clang_format=build/deps/clang-format
readonly mcp_requirements=tests/peers/mcp/requirements.txt mcp_packages=build/deps/mcp
declare -A package_hashes=(
  [$nvtx_headers_package]=4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4
  [$nvtx_python_package]="5640ca4b8be2c19a8fc4ca8403d3c2598165ea27541940b4897138a7b0a717fe
    453d838dd1424a04303281ee57a73e2b8dca0e03039bc609a945861b8fe7d7d9
    edd7b729ed0211350258a21dd13422f59bc521de2b2fd21feb6c177af492f4e1"
  [$clang_format_package]=d7c1c5e404c58e55f0170f01b3c5611dce6c119e62b5d1020347e0ad97d5a047
)
# llvm: llvm-symbolizer, for readable findings of the fuzzers. zsh, fish: shells whose completions are tested.
check_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev
  clang clang-tidy llvm zsh fish
)
package_packages=(dpkg-dev file) # CPack asks them for what a .deb needs

fail() {
  printf 'error: %s\n  cause: %s\n  hint: %s\n' "$@" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Fills `missing` with the arguments that are not installed.
find_missing() {
  missing=()
  local package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

require_apt() {
  local name=unknown family=""
  if [ -r /etc/os-release ]; then
    name=$(. /etc/os-release && echo "${PRETTY_NAME:-unknown}")
    family=$(. /etc/os-release && echo "${ID:-} ${ID_LIKE:-}")
  fi
  case " $family " in
    *" debian "* | *" ubuntu "*) ;;
    *) fail "cannot install the $# missing packages" "this system is $name; only Debian and Ubuntu are supported" \
      "install the equivalents of: $*; then set SWINSCOPE_SKIP_SETUP=1" ;;
  esac
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "cannot install the $# missing packages" "not running as root, and there is no sudo" \
      "as root: apt-get install $*"
  fi
}

apt_install() {
  require_apt "$@"
  echo "swinscope: installing $# packages with apt: $*"
  as_root apt-get -qq -o Acquire::Retries=3 update
  as_root apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install --yes --no-install-recommends "$@" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "apt-get could not install the packages" "see above, or all of it in $log" "mend apt, then run this again"
  }
}

has_nvtx_headers() {
  local folder
  for folder in $nvtx_headers {"${CUDA_HOME:-}","${CUDA_PATH:-}",/usr/local/cuda}/include; do
    [ -f "$folder/nvtx3/nvToolsExtPayload.h" ] && return
  done
  return 1
}

# pip_fetch <command> <package> <option>…: pip with exactly this package, in the version and with a hash given above.
pip_fetch() {
  local command=$1 package=$2 requirements
  shift 2
  requirements=$(mktemp -t swinscope-pip.XXXXXX)
  printf '%s' "$package" >"$requirements"
  printf ' --hash=sha256:%s' ${package_hashes[$package]} >>"$requirements"
  pip_fetch_all "$command" "$package" "$requirements" "$@"
  rm -f "$requirements"
}

# pip_fetch_all <command> <name> <requirements> <option>…: pip with exactly what the file lists, with its hashes.
pip_fetch_all() {
  local command=$1 name=$2 requirements=$3
  shift 3
  find_missing python3-pip
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  echo "swinscope: fetching $name"
  python3 -m pip --disable-pip-version-check "$command" --quiet --no-deps --only-binary=:all: --require-hashes \
    --requirement "$requirements" "$@" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "$name could not be fetched" "see above" "run this again with a connection to PyPI"
  }
}

fetch_nvtx_headers() {
  local folder
  folder=$(mktemp -d -t swinscope-nvtx.XXXXXX)
  # The wheel holds headers and a library that is not used; the headers of the one for x86-64 serve everywhere.
  pip_fetch download "$nvtx_headers_package" --platform manylinux2014_x86_64 --dest "$folder"
  python3 -m zipfile -e "$folder"/nvidia_nvtx-*.whl "$folder/wheel"
  mkdir -p $nvtx_headers
  cp -r "$folder/wheel/nvidia/cu13/include/nvtx3" $nvtx_headers/
  rm -rf "$folder"
}

# libFuzzer and the sanitizers of clang are in a package that carries clang's version in its name.
clang_runtime_package() {
  local version
  version=$(dpkg-query -W -f '${Depends}' clang | grep -o 'clang-[0-9]*' | head -n 1)
  echo "libclang-rt-${version#clang-}-dev"
}

main() {
  local wanted=("${build_packages[@]}") missing
  case ${1:-build} in
    build) ;;
    check) wanted+=("${check_packages[@]}") ;;
    package) wanted+=("${package_packages[@]}") ;;
    *) fail "unknown list '$1'" "scripts/setup.sh knows build, check and package" "scripts/setup.sh check" ;;
  esac
  if [ "${SWINSCOPE_SKIP_SETUP:-}" = 1 ]; then
    echo "swinscope: set-up skipped (SWINSCOPE_SKIP_SETUP=1)"
    return
  fi
  log=$(mktemp -t swinscope-apt.XXXXXX)
  find_missing "${wanted[@]}"
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
  has_nvtx_headers || fetch_nvtx_headers
  if [ "${1:-build}" = check ]; then
    find_missing "$(clang_runtime_package)"
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    [ -d $python_packages/nvtx ] || pip_fetch install "$nvtx_python_package" --target $python_packages
    command -v clang-format-14 >/dev/null || [ -d $clang_format ] || pip_fetch install "$clang_format_package" --target $clang_format
    [ -d $mcp_packages/mcp ] || pip_fetch_all install "the client of $mcp_requirements" $mcp_requirements --target $mcp_packages
  fi
  rm -f "$log"
  echo "swinscope: all packages are installed"
}

main "$@"
