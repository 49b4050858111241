#!/usr/bin/env bash
# usage: scripts/collector_figures.sh [-o DIR] [--build build/gpu] [--rounds 6] [--kills 10] [PART…]
# What docs/performance-tools.md and docs/notes/ say of recording CUDA programs, measured again, one part after another, with nothing else on the machine.
# DIR/PART.txt has what each part said, DIR/*.json the figures. Needs python3 with torch and timm.
# PART: overhead (of an eager PyTorch program, beside torch.profiler), graph (of a CUDA graph of PyTorch's), own-graph (of ours), checks (what
# was recorded, of programs that are killed, fail, or have several ranks: those need two GPUs); all without.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/figures.sh

out=runs/collector_figures build=build/gpu rounds=6 kills=10 parts=()
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --rounds) rounds=${2:?--rounds needs a value} && shift 2 ;;
    --kills) kills=${2:?--kills needs a value} && shift 2 ;;
    overhead | graph | own-graph | checks) parts+=("$1") && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(overhead graph own-graph checks)
use_build "$build"
begin_figures
measure=(python3 tests/peers/overhead/overhead.py --swinscope "$swinscope" --rounds "$rounds")

for part in "${parts[@]}"; do
  case $part in
    overhead) attempt overhead "${measure[@]}" --json "$out/overhead.json" ;;
    graph)
      attempt graph "${measure[@]}" --graph --model swin_base_patch4_window7_224 --batch 1,128 --loops 200,10 --turns 2 --json "$out/graph.json"
      ;;
    own-graph)
      attempt own-graph python3 scripts/graph_overhead.py --swin "$swin" --swinscope "$swinscope" --rounds "$rounds" --json "$out/own_graph.json"
      ;;
    checks)
      attempt checks python3 tests/gpu/check_collector.py --swinscope "$swinscope" --programs "$build/gpu_programs" --kills "$kills"
      grep -a '^PASS\|^FAIL\|^SKIP' "$out/checks.txt" | cut -c1-180 || true
      ;;
  esac
done
end_figures
