# Sourced, after common.sh, by the scripts that measure figures one part after another into the folder $out: nothing else is on the
# GPU while a part is timed.

begin_figures() {
  mkdir -p "$out"
  flags=$(mktemp -d)
  trap 'rm -rf "$flags"; jobs -p | xargs -r kill 2>/dev/null || true' EXIT
  : >"$flags/failed"
}
end_figures() {
  [ ! -s "$flags/failed" ] || { echo "error: failed: $(paste -sd ' ' "$flags/failed")" >&2 && exit 1; }
  echo "swinscope: $out has the figures"
}

# attempt <name> <command>…: what it says stands in $out/<name>.txt, its last lines are said; what fails is named at the end.
attempt() {
  local log=$out/$1.txt begun=$SECONDS
  echo "swinscope: $1 ($log)"
  "${@:2}" >"$log" 2>&1 || echo "$1" >>"$flags/failed"
  tail -n 12 "$log" | cut -c1-180
  echo "swinscope: $1 took $((SECONDS - begun)) s"
}

# peers <name> <command>…: PyTorch's side of a comparison begins to compile, and both are timed once it is let go.
declare -A waiting
peers() {
  "${@:2}" --time-after "$flags/$1" --json "$out/$1.json" >"$out/$1.txt" 2>&1 &
  waiting[$1]=$!
}
let_go() {
  touch "$flags/$1"
  attempt "$1-timed" finish_peers "$1"
}
finish_peers() {
  local status=0
  wait "${waiting[$1]}" || status=$?
  cat "$out/$1.txt"
  return $status
}
