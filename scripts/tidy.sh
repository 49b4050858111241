#!/usr/bin/env bash
# usage: scripts/tidy.sh [--all] [FILE.cpp…]
# clang-tidy on the sources that differ from scripts/tidy_base, the last commit on which every source passed, and on one
# source for every other header that differs; on everything with --all or where there is no base. A source that passed is not
# looked at again until it, one of those headers or .clang-tidy changes (build/tidy/). Needs build/asan built, for the
# compile commands and the header lists. SWINSCOPE_BASE names another commit to compare with. Where --all passes on a
# commit, that commit is written to scripts/tidy_base, for the next commit to take along.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

dir=build/asan
stamps=build/tidy
if [ ! -f $dir/compile_commands.json ]; then
  echo "error: $dir is not configured" >&2
  echo "  hint: cmake --preset asan && cmake --build --preset asan" >&2
  exit 1
fi
mkdir -p $stamps

# One line per source: the source, then the headers of ours that it includes, as paths from the root. ccache writes
# paths relative to the build folder, the compiler absolute ones.
sources_with_headers() {
  ninja -C $dir -t deps | awk -v root="$PWD/" '
    /^[^ ].*: #deps/ { if (line != "") print line; line = ""; next }
    NF == 1 {
      path = $1
      if (index(path, root) == 1) path = substr(path, length(root) + 1)
      else if (path !~ /^\.\.\/\.\.\/[^.]/) next
      sub(/^\.\.\/\.\.\//, "", path)
      if (path !~ /^build\//) line = line (line == "" ? "" : " ") path
    }
    END { if (line != "") print line }' | grep '^[^ ]*\.cpp' | sort -u
}

# The commit to compare with. Without tidy_base's (a shallow clone) where the branch left main; on main itself, as in a
# fresh clone, the commit before this one.
find_base() {
  local ref base
  for ref in ${SWINSCOPE_BASE:-} "$(cat scripts/tidy_base 2>/dev/null)" origin/main main; do
    base=$(git merge-base HEAD "$ref" 2>/dev/null) || continue
    if [ "$base" = "$(git rev-parse HEAD)" ] && [ -z "$(git status --porcelain)" ]; then
      base=$(git rev-parse --verify --quiet HEAD~1) || return 0
    fi
    git rev-parse "$base"
    return
  done
}

select_changed() {
  local base=$1 changed
  changed=$(git diff --name-only "$base" && git ls-files --others --exclude-standard)
  if grep -qx '\.clang-tidy' <<<"$changed"; then
    cat
  else
    # A header is looked at through one source: that of its own name where there is one, else the first that includes it.
    awk '
      function stem(path) { sub(/\.(h|cpp)$/, "", path); return path }
      NR == FNR { changed[$0]; next }
      { line[++lines] = $0
        if ($1 in changed) { chosen[lines]; for (i = 2; i <= NF; i++) delete changed[$i] }
        for (i = 2; i <= NF; i++) if ($i in changed && (!($i in through) || stem($i) == stem($1))) through[$i] = lines }
      END {
        for (header in through) if (header in changed) chosen[through[header]]
        for (i = 1; i <= lines; i++) if (i in chosen) print line[i] }' <(echo "$changed") -
  fi
}

tidy_one() {
  local source=$1 stamp
  stamp=$stamps/$({ clang-tidy --version && cat .clang-tidy "$@"; } | sha256sum | cut -c1-32)
  [ -f "$stamp" ] && return
  # The commands are GCC's, whose warnings clang does not all know.
  if clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p $dir "$source" 2>"$stamp.err"; then
    rm -f "$stamp.err"
    echo "$source" >"$stamp"
  else
    grep -v 'warnings\? generated\|warnings treated as errors' "$stamp.err" >&2
    rm -f "$stamp.err"
    return 1
  fi
}
export -f tidy_one
export dir stamps

all=$(sources_with_headers)
if [ "${1:-}" = --all ]; then
  selected=$all
elif [ $# -gt 0 ]; then
  selected=$(awk 'NR == FNR { wanted[$0]; next } $1 in wanted' <(printf '%s\n' "$@") <(echo "$all"))
else
  base=$(find_base)
  if [ -n "$base" ]; then
    selected=$(select_changed "$base" <<<"$all")
    echo "compared with $(git rev-parse --short "$base")"
  else
    selected=$all
  fi
fi
echo "clang-tidy: $(grep -c . <<<"$selected") of $(grep -c . <<<"$all") sources"
[ -n "$selected" ] || exit 0
xargs -P "$(nproc)" -d '\n' -I{} bash -c 'tidy_one {}' <<<"$selected"
if [ "${1:-}" = --all ] && [ -z "$(git status --porcelain)" ]; then
  git rev-parse HEAD >scripts/tidy_base
  echo "scripts/tidy_base: $(cut -c1-7 scripts/tidy_base)"
fi
