#!/usr/bin/env bash
# usage: scripts/package_check.sh [--packages build/packages] [--keep] [SUITE…]
# Tries the packages of scripts/package.sh on bare systems, fresh ones of Debian in a folder each (SUITE: bookworm, trixie; default
# both): the .deb files where they are at home, the archive and the wheel everywhere, with the commands that a user begins with, and the
# Dockerfile's commands. Says how long each took. Needs root, debootstrap and Debian's mirror; where one is missing it says `skipped`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=build/packages keep=no suites=()
readonly mirror=${SWINSCOPE_DEBIAN_MIRROR:-http://deb.debian.org/debian} chroots=build/chroots
readonly trace=swinscope_swin_tiny_graph_1gpu.db
while [ $# -gt 0 ]; do
  case $1 in
    --packages) packages=${2:?--packages needs a folder} && shift 2 ;;
    --keep) keep=yes && shift ;;
    -*) refuse_words "$1: unknown" ;;
    *) suites+=("$1") && shift ;;
  esac
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)

passed=0 failed=0 skipped=0

skip() {
  echo "skipped: $*"
  skipped=$((skipped + 1))
}

inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    bash -euc "$1" </dev/null
}

# try <what> <commands>: in the system, with a stopwatch.
try() {
  local begun=$EPOCHREALTIME seconds log=$chroots/$suite.log
  if inside "$2" >"$log" 2>&1; then
    passed=$((passed + 1))
    seconds=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $begun }")
    printf 'passed %6s s  %s: %s\n' "$seconds" "$suite" "$1"
  else
    failed=$((failed + 1))
    tail -n 15 "$log" >&2
    printf 'FAILED           %s: %s\n' "$suite" "$1"
  fi
}

# A bare system, kept for the next time; the tests get a copy.
bare_system() {
  local kept=$chroots/$suite.bare
  if [ ! -e "$kept/etc/debian_version" ]; then
    rm -rf "$kept"
    debootstrap --variant=minbase "$suite" "$kept" "$mirror" >"$chroots/$suite.log" 2>&1 || return 1
  fi
  root=$chroots/$suite
  leave_system
  cp -a "$kept" "$root"
  mount --bind /proc "$root/proc"
  mount --bind /dev "$root/dev"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  mkdir "$root/packages"
  cp "$packages"/* "data/$trace" "$root/packages/"
}

leave_system() {
  local place
  for place in proc dev; do
    ! mountpoint -q "$root/$place" || umount "$root/$place"
  done
  rm -rf --one-file-system "$root"
}

has_window() {
  compgen -G "$packages/swinscope-gui_*.deb" >/dev/null || { skip "$suite: the packages were made without Qt" && return 1; }
}

check_deb() {
  try "apt update" "apt-get -qq update"
  try "apt install ./swinscope_*.deb" "cd /packages; apt-get -qq install --yes --no-install-recommends ./swinscope_*.deb"
  try "swinscope analyze" "swinscope analyze /packages/$trace | grep '^bound by'"
  try "the installed example" "swinscope kernels /usr/share/swinscope/$trace --top 3"
  try "swinscope record" "cd /tmp; swinscope record -o run -- ls /; swinscope info run"
  try "completions" "test -s /usr/share/bash-completion/completions/swinscope; test -s /usr/share/zsh/vendor-completions/_swinscope"
  try "swin" "cd /packages; apt-get -qq install --yes --no-install-recommends ./swinscope-workloads_*.deb
    cd /tmp; swinscope launch --ranks 2 -- swin train --model swin_nano --batch-per-gpu 1 --steps 2 --quiet"
  ! has_window || try "swinscope gui" "cd /packages; apt-get -qq install --yes --no-install-recommends ./swinscope-gui_*.deb fonts-dejavu-core
    QT_QPA_PLATFORM=offscreen swinscope-gui --screenshot /tmp/window.png /packages/$trace; test -s /tmp/window.png"
  try "apt remove" "apt-get -qq remove --yes swinscope; test ! -e /usr/bin/swinscope-gui -a ! -e /usr/lib/swinscope"
}

check_archive() {
  try "tar xf, as nobody" "mkdir -m 777 /opt/any; setpriv --reuid 65534 --clear-groups tar xf /packages/swinscope-*.tar.gz -C /opt/any"
  local bin="PATH=\$(echo /opt/any/swinscope-*/bin):\$PATH; cd \$(mktemp -d)"
  try "swinscope analyze of the archive" "$bin; swinscope analyze /packages/$trace | grep '^bound by'"
  try "swinscope record of the archive" "$bin; swinscope record -o run -- ls /; swinscope info run"
  try "swin of the archive, two ranks" \
    "$bin; swinscope launch --ranks 2 -- swin train --model swin_nano --batch-per-gpu 1 --steps 2 --quiet"
}

check_wheel() {
  try "apt install python3-venv" "apt-get -qq update; apt-get -qq install --yes --no-install-recommends python3-venv"
  try "pip install, without a network" "cd /opt; python3 -m venv venv; unshare -n venv/bin/pip install -q --no-index /packages/swinscope-*.whl"
  try "swinscope analyze of the wheel" "/opt/venv/bin/swinscope analyze /packages/$trace | grep '^bound by'"
  try "a table of the wheel" "/opt/venv/bin/python -c \"
import swinscope
assert swinscope.open('/packages/$trace').table('kernels', kind='rows')\""
}

# The window of the archive is linked with the machine's Qt.
check_window() {
  has_window || return 0
  try "apt install Qt" "apt-get -qq update; apt-get -qq install --yes --no-install-recommends libqt6widgets6 fonts-dejavu-core"
  try "swinscope gui of the archive" "mkdir -p /opt/any; tar xf /packages/swinscope-*.tar.gz -C /opt/any
    QT_QPA_PLATFORM=offscreen /opt/any/swinscope-*/bin/swinscope-gui --screenshot /tmp/archive.png /packages/$trace; test -s /tmp/archive.png"
}

# What the Dockerfile runs, with what it copies where it copies it.
check_dockerfile() {
  local commands
  commands=$(sed -n '/^RUN /,/[^\\]$/p' packaging/Dockerfile | sed 's/^RUN //' | sed -e ':a' -e '/\\$/N; s/\\\n//; ta')
  [ -n "$commands" ] || return 1
  try "the Dockerfile's RUN" "mkdir -p /tmp/swinscope; cp /packages/*.deb /tmp/swinscope/; cd /; $commands"
  try "the Dockerfile's ENTRYPOINT" "$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]/\1/p' packaging/Dockerfile) analyze /packages/$trace"
}

[ "$(id -u)" = 0 ] || { echo "skipped: bare systems need root" && exit 0; }
command -v debootstrap >/dev/null || { echo "skipped: debootstrap is not installed (apt install debootstrap)" && exit 0; }
compgen -G "$packages/swinscope_*.deb" >/dev/null || { echo "error: $packages has no packages" >&2 && echo "  hint: scripts/package.sh" >&2 && exit 1; }
mkdir -p $chroots
home=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
for suite in "${suites[@]}"; do
  root=$chroots/$suite
  trap leave_system EXIT
  bare_system || { skip "$suite: debootstrap failed (see $chroots/$suite.log)" && continue; }
  check_archive
  if [ "$suite" = "$home" ]; then
    check_deb
    leave_system && bare_system
    check_dockerfile
  else
    skip "$suite: the .deb files are made for $home"
  fi
  check_wheel
  check_window
  if [ $keep = no ]; then leave_system; else echo "kept: $root"; fi
done
printf 'packages: %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed = 0 ]
