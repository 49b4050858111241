#!/usr/bin/env bash
# usage: scripts/swinv2_scaling.sh [-o DIR] [--gpus 1,2,4,8] [--build build/gpu] [--quick] [--cpus-only]
# The weak-scaling experiment of D. Garrett's thesis: SwinV2-B with UPerNet's head, 512x512, 8 images a GPU, 1,280,000 images,
# synchronized batch normalization. Ours beside PyTorch's (eager and compiled, where python3 has torch and timm), with utilization by
# both definitions, and a report with the thesis's figures and its published values. Goes on where it stopped.
# --quick: one run of each, and none of the compiled mode is recorded: each of its processes compiles for minutes.
# --cpus-only: ours alone, with a small model on CPU ranks.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=runs/swinv2_scaling gpus=1,2,4,8 build=build/gpu cpus_only=no repeat=()
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --gpus) gpus=${2:?--gpus needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --quick) repeat=(--repeat 1) && shift ;;
    --cpus-only) cpus_only=yes && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
use_build "$build"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

if [ $cpus_only = yes ]; then
  echo "swinscope: our training of a small model on CPU ranks ($out/swinscope)"
  "$swinscope" scale --cpus-only "${repeat[@]}" --gpus "$gpus" --warmup-steps 3 -o "$out/swinscope" -- \
    "$swin" train --device cpu --task segmentation --model swinv2_nano --batch-per-gpu 2 --steps 12 --warmup 3 --threads 1 --quiet
else
  steps=48 warmup=16
  echo "swinscope: our training ($out/swinscope)"
  "$swinscope" scale "${repeat[@]}" --gpus "$gpus" --warmup-steps $warmup -o "$out/swinscope" -- \
    "$swin" train --device cuda --task segmentation --model swinv2_base --image 512 --batch-per-gpu 8 --precision fp16 \
    --steps $steps --warmup $warmup --quiet
  if python3 -c 'import torch, timm' 2>/dev/null; then
    peer=tests/peers/torch/train_segmentation.py
    # pytorch <mode> <options of scale>…
    pytorch() {
      echo "swinscope: PyTorch's training, $1 ($out/pytorch_$1)"
      "$swinscope" scale "${repeat[@]}" "${@:2}" --gpus "$gpus" --images-per-step 8 --warmup-steps $warmup -o "$out/pytorch_$1" -- \
        python3 $peer --mode "$1" --steps $steps --warmup $warmup
    }
    pytorch eager
    # As the thesis measured utilization: eight steps under PyTorch's profiler.
    for count in ${gpus//,/ }; do
      point=$out/pytorch_eager/gpus$count
      [ -d "$point/profile" ] && continue
      echo "swinscope: PyTorch's profiler with $count GPUs ($point/profile)"
      rm -rf "$point/kineto"
      python3 -m torch.distributed.run --standalone --nproc_per_node "$count" $peer --warmup $warmup --profile "$point/kineto"
      "$swinscope" import "$point"/kineto/*.json.gz -o "$point/profile"
    done
    compiled=()
    [ ${#repeat[@]} = 0 ] || compiled=(--no-trace)
    pytorch compiled "${compiled[@]}"
  else
    echo "swinscope: python3 has no torch with timm: without PyTorch's side" >&2
  fi
fi

"$swinscope" compare "$out" --beside thesis
for kind in html md; do
  "$swinscope" report "$out" --beside thesis -o "$out/report.$kind" --force
done
printf '\nswinscope: the report is %s; `swinscope gui %s` shows the same\n' "$out/report.html" "$out"
