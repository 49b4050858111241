#!/usr/bin/env bash
# usage: scripts/swinv2_scaling.sh [-o DIR] [--gpus 1,2,4,8] [--build build/gpu] [--cpus-only]
# The weak-scaling experiment of D. Garrett's thesis: SwinV2-B with UPerNet's head, 512x512, 8 images a GPU, 1,280,000 images,
# synchronized batch normalization. Ours beside PyTorch's (eager and compiled, where python3 has torch and timm), with utilization by
# both definitions, and a report with the thesis's figures and its published values. Goes on where it stopped.
# --cpus-only: ours alone, with a small model on CPU ranks.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=runs/swinv2_scaling gpus=1,2,4,8 build=build/gpu cpus_only=no
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --gpus) gpus=${2:?--gpus needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --cpus-only) cpus_only=yes && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
use_build "$build"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

if [ $cpus_only = yes ]; then
  echo "swinscope: our training of a small model on CPU ranks ($out/swinscope)"
  "$swinscope" scale --cpus-only --gpus "$gpus" --warmup-steps 3 -o "$out/swinscope" -- \
    "$swin" train --device cpu --task segmentation --model swinv2_nano --batch-per-gpu 2 --steps 12 --warmup 3 --threads 1 --quiet
else
  steps=48 warmup=16
  echo "swinscope: our training ($out/swinscope)"
  "$swinscope" scale --gpus "$gpus" --warmup-steps $warmup -o "$out/swinscope" -- \
    "$swin" train --device cuda --task segmentation --model swinv2_base --image 512 --batch-per-gpu 8 --precision fp16 \
    --steps $steps --warmup $warmup --quiet
  if python3 -c 'import torch, timm' 2>/dev/null; then
    peer=tests/peers/torch/train_segmentation.py
    for mode in eager compiled; do
      echo "swinscope: PyTorch's training, $mode ($out/pytorch_$mode)"
      "$swinscope" scale --gpus "$gpus" --images-per-step 8 --warmup-steps $warmup -o "$out/pytorch_$mode" -- \
        python3 $peer --mode $mode --steps $steps --warmup $warmup
    done
    # As the thesis measured utilization: eight steps under PyTorch's profiler.
    for count in ${gpus//,/ }; do
      point=$out/pytorch_eager/gpus$count
      [ -d "$point/profile" ] && continue
      echo "swinscope: PyTorch's profiler with $count GPUs ($point/profile)"
      rm -rf "$point/kineto"
      python3 -m torch.distributed.run --standalone --nproc_per_node "$count" $peer --warmup $warmup --profile "$point/kineto"
      "$swinscope" import "$point"/kineto/*.json.gz -o "$point/profile"
    done
  else
    echo "swinscope: python3 has no torch with timm: without PyTorch's side" >&2
  fi
fi

"$swinscope" compare "$out" --beside thesis
for kind in html md; do
  "$swinscope" report "$out" --beside thesis -o "$out/report.$kind" --force
done
printf '\nswinscope: the report is %s; `swinscope gui %s` shows the same\n' "$out/report.html" "$out"
