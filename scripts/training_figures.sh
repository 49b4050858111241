#!/usr/bin/env bash
# usage: scripts/training_figures.sh [-o DIR] [--build build/gpu] [--data SHAPES] [--workers 14] [--compile-seconds S] [PART…]
# What docs/performance.md and docs/notes/ say of training on one GPU, measured again, one part after another: nothing else is on the GPU while a part is
# timed. PyTorch compiles while rows and gradients are checked, which takes the CPU and needs no quiet GPU. DIR/PART.txt has what each
# part said, DIR/*.json the figures. Needs python3 with torch, timm and torchvision for the parts that say so.
# PART: sanitizers (compute-sanitizer), speed (beside PyTorch; rows of `swin verify`, the trainer's tests, gradients, recovery and loss
# curves meanwhile), ladder, files (speed from JPEG files), accuracy (beside PyTorch), stall; all without.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/figures.sh

out=runs/training_figures build=build/gpu data='' workers=14 compile_seconds=400 parts=()
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --data) data=${2:?--data needs a value} && shift 2 ;;
    --workers) workers=${2:?--workers needs a value} && shift 2 ;;
    --compile-seconds) compile_seconds=${2:?--compile-seconds needs a value} && shift 2 ;;
    sanitizers | speed | ladder | files | accuracy | stall) parts+=("$1") && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(sanitizers speed ladder files accuracy stall)
use_build "$build"
begin_figures
compare=(python3 tests/peers/torch/compare_training.py)
speed=("${compare[@]}" speed --swin "$swin" --precisions fp16 --ahead --jobs 8 --seconds "$compile_seconds")

need_data() {
  [ -n "$data" ] && return
  data=$out/shapes
  [ -d "$data" ] || attempt make_data "$swin" make-data "$data" --probe
}

for part in "${parts[@]}"; do
  case $part in
    sanitizers)
      attempt sanitizers python3 scripts/gpu_check.py --build "$build" --jobs 4 --logs "$out/sanitizers" 'memcheck*' 'racecheck*'
      ;;
    speed)
      peers speed "${speed[@]}" --cases swin_large:64 --modes reduce-overhead,default
      peers speed_v2 "${speed[@]}" --cases swinv2_base:64 --modes reduce-overhead
      attempt rows python3 scripts/gpu_check.py --build "$build" --logs "$out/rows" verify-kernels 'workloads_device_trainer_test*'
      attempt gradients "${compare[@]}" gradients --swin "$swin"
      attempt recovery python3 tests/gpu/check_training.py --swin "$swin"
      attempt curve "${compare[@]}" curve --swin "$swin" --models swin_tiny,swinv2_tiny
      let_go speed
      let_go speed_v2
      ;;
    ladder)
      attempt ladder python3 scripts/training_ladder.py --swin "$swin" --swinscope "$swinscope" --steps 10 --warmup 3 \
        --keep "$out/ladder" --json "$out/ladder.json"
      ;;
    files)
      need_data
      peers speed_files "${speed[@]}" --cases swin_large:64 --modes reduce-overhead --layouts channels_last --data "$data" --loader-workers "$workers"
      let_go speed_files
      ;;
    accuracy)
      need_data
      attempt accuracy "${compare[@]}" accuracy --swin "$swin" --data "$data" --loader-workers "$workers" --seconds 200 --json "$out/accuracy.json"
      ;;
    stall)
      need_data
      attempt stall-recorded "$swinscope" record -q --force -o "$out/stall" -- "$swin" train --device cuda --model swin_tiny --data "$data" \
        --batch 64 --precision fp16 --loader-threads 1 --steps 12 --warmup 2 -q
      attempt stall "$swinscope" analyze "$out/stall"
      ;;
  esac
done
end_figures
