#!/usr/bin/env bash
# usage: scripts/inference_figures.sh [-o DIR] [--build build/gpu] [--cases MODEL:BATCH,…] [--modes MODE,…] [--compile-seconds S] [PART…]
# What docs/performance.md says of inference on one GPU, measured again, one part after another: nothing else is on the GPU while a part
# is timed. PyTorch compiles while other things are checked, which takes the CPU and needs no quiet GPU. DIR/PART.txt has what each
# part said, DIR/*.json the figures. Needs python3 with torch and timm for compile and speed.
# PART: ladder (and attention and normalization beside the copy rate), layers (a recording), compile (what speed compares with, into
# DIR/inductor, beside the part after it), sanitizers (compute-sanitizer), speed (beside PyTorch; rows of `swin verify` and logits beside
# PyTorch's while it compiles what is not there yet, the models' tests afterwards); all, in this order, without.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/figures.sh

out=runs/inference_figures build=build/gpu compile_seconds=500 modes=reduce-overhead parts=()
cases=swin_base:1,swin_base:32,swin_base:128,swin_large:1,swin_large:32,swin_tiny:1,swin_tiny:32,swinv2_base:32,swinv2_base:128
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --cases) cases=${2:?--cases needs a value} && shift 2 ;;
    --modes) modes=${2:?--modes needs a value} && shift 2 ;;
    --compile-seconds) compile_seconds=${2:?--compile-seconds needs a value} && shift 2 ;;
    ladder | layers | compile | sanitizers | speed) parts+=("$1") && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(ladder layers compile sanitizers speed)
use_build "$build"
begin_figures
compare=(python3 tests/peers/torch/compare_torch.py)
fastest=("${compare[@]}" speed --swin "$swin" --cases "$cases" --modes "$modes" --jobs 8 --seconds "$compile_seconds")
TORCHINDUCTOR_CACHE_DIR=$(realpath -m "$out")/inductor
export TORCHINDUCTOR_CACHE_DIR
models=swin_tiny,swin_small,swin_base,swin_large,swinv2_tiny,swinv2_small,swinv2_base,swinv2_large
kernels=(products tall-products qkv-attention layernorm normalized-results tall-normalized-results normalized-products attention
  attention-steps position-bias narrow-mlp elementwise)  # what takes long first

# What is not compiled by then is compiled again when it is timed.
compiling=
finish_compiling() {
  [ -n "$compiling" ] || return 0
  wait "$compiling" || true
  compiling=
  tail -n 1 "$out/compile.txt"
}

for part in "${parts[@]}"; do
  [ "$part" = sanitizers ] || finish_compiling
  case $part in
    compile)
      echo "swinscope: compile ($out/compile.txt)"
      "${fastest[@]}" --compile-only >"$out/compile.txt" 2>&1 &
      compiling=$!
      ;;
    sanitizers)
      attempt sanitizers python3 scripts/gpu_check.py --build "$build" --jobs 6 --logs "$out/sanitizers" \
        "${kernels[@]/#/racecheck-}" "${kernels[@]/#/memcheck-}"
      ;;
    speed)
      peers speed "${fastest[@]}"
      attempt rows python3 scripts/gpu_check.py --jobs 2 --build "$build" --logs "$out/rows" verify-models verify-kernels
      attempt errors "${compare[@]}" errors --swin "$swin" --models "$models" --json "$out/errors.json"
      attempt errors_384 "${compare[@]}" errors --swin "$swin" --models "$models" --image 384 --json "$out/errors_384.json"
      attempt errors_384_window_12 "${compare[@]}" errors --swin "$swin" --models "$models" --image 384 --window 12 \
        --json "$out/errors_384_window_12.json"
      let_go speed
      attempt models python3 scripts/gpu_check.py --build "$build" --logs "$out/rows" 'workloads_device_model_test*'  # counts the GPU's memory
      ;;
    ladder)
      attempt ladder python3 scripts/inference_ladder.py --swin "$swin" --json "$out/ladder.json"
      attempt kernels "$swin" peaks --kernels 1,32,128
      ;;
    layers)
      for level in attention graph; do
        attempt "layers-$level-recorded" "$swinscope" record -q --force -o "$out/$level" -- "$swin" infer --device cuda --model swin_base \
          --batch 32 --level "$level" --steps 5 --warmup 2 --tune-seconds 0 -q
        attempt "layers-$level" "$swinscope" layers "$out/$level"
      done
      ;;
  esac
done
finish_compiling
end_figures
