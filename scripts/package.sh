#!/usr/bin/env bash
# usage: scripts/package.sh [--cuda] [OUT]
# Installs what is missing (scripts/setup.sh package), builds the release preset and packs it for users into OUT (default: build/packages): .deb
# files, an archive that runs from any folder, and a wheel for pip. They serve this distribution and newer ones. --cuda: with the CUDA parts, where nvcc is found.
# scripts/package_check.sh tries them on bare systems.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cuda=OFF out=build/packages
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) cuda=ON && shift ;;
    -*) refuse_words "$1: unknown" ;;
    *) out=$1 && shift ;;
  esac
done

scripts/setup.sh package
configure release -DSWINSCOPE_CUDA=$cuda
build_dir build/release
rm -rf build/release/packages  # of an earlier version
mkdir -p "$out"
for kind in DEB TGZ; do
  cpack -G $kind --config build/release/CPackConfig.cmake -B "$PWD/build/release/packages" >build/package-$kind.log 2>&1 || {
    cat build/package-$kind.log >&2
    exit 1
  }
  grep -i warning build/package-$kind.log >&2 || true
done
cp build/release/packages/*.deb build/release/packages/*.tar.gz "$out"
python3 packaging/python/build_wheel.py build/release "$out"
ls -l --block-size=K "$out" | awk 'NR > 1 { print "swinscope: " $9 ", " $5 }'
