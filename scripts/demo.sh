#!/usr/bin/env bash
# usage: scripts/demo.sh
# From a fresh clone to a scaling experiment and the analysis of a real training trace: installs what is missing, builds,
# measures a small Swin Transformer on 1, 2, 4, ... of this machine's GPUs, or on 1 and 2 ranks of its CPU where there is no
# GPU, and shows what swinscope says. Safe to run again; then it takes seconds (the experiment goes on where it is complete).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

trace=data/pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz
swinscope=build/release/bin/swinscope
swin=build/release/bin/swin

show() {
  printf '\n$ swinscope %s\n' "$*"
  "$swinscope" "$@"
}

# An experiment that an earlier build of the program measured is measured again.
measure() {
  show scale "$@" || show scale --force "$@"
}

scripts/setup.sh build
echo "swinscope: building (build/release)"
configure release
build_dir build/release

show doctor

# 1, 2, 4, ... and all of the GPUs that our programs can use; nothing without any.
gpu_counts() {
  local all count counts=""
  all=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ') || return 0
  "$swin" train --device cuda --model swin_nano --steps 1 --quiet >/dev/null || {
    echo "swinscope: there are GPUs, but a training on one failed (see above): going on with the CPU" >&2
    return 0
  }
  if [ "$all" -gt 1 ] && [ ! -e build/release/lib/libswinscope_nccl.so ]; then
    echo "swinscope: several GPUs need NCCL, which was not found (install libnccl-dev): going on with one" >&2
    all=1
  fi
  for ((count = 1; count < all; count *= 2)); do counts+=$count,; done
  echo "$counts$all"
}

counts=$(gpu_counts)
if [ -n "$counts" ]; then
  experiment=build/demo/gpu
  measure --gpus "$counts" -o "$experiment" -- \
    "$swin" train --device cuda --model swin_tiny --data synthetic --batch-per-gpu 64 --steps 40 --warmup 10 --quiet
else
  experiment=build/demo/cpu
  # One thread a rank: two ranks then have twice the cores of one, as two GPUs would.
  measure --cpus-only --gpus 1,2 -o "$experiment" -- \
    "$swin" train --device cpu --model swin_nano --data synthetic --batch-per-gpu 4 --steps 100 --threads 1 --quiet
fi
show layers "$experiment/gpus1/tracing" --depth 2

# What the desktop program shows of the same trace, as a picture: it needs no display for that.
build/release/bin/swinscope-gui --page timeline --find upsample_bilinear2d_backward_out_frame \
  --screenshot build/demo/timeline.png "$trace"
echo "the timeline of the desktop program: build/demo/timeline.png (\`swinscope gui\` opens it)"

show analyze "$trace"
show kernels "$trace" --top 10

report=build/demo/report.html
show report "$experiment" "$trace" -o "$report" --force
printf '\nswinscope: the report of both is %s\n' "$report"
printf '\nswinscope: demo finished; the program is %s\n' "$swinscope"
