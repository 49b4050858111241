#!/usr/bin/env bash
# usage: scripts/inference_figures.sh [-o DIR] [--build build/gpu] [--cases MODEL:BATCH,…] [--modes MODE,…] [--compile-seconds S] [--checks-gpu N] [PART…]
# What docs/performance.md and docs/notes/ say of inference on one GPU, measured again, one part after another: nothing else is on the GPU while a part
# is timed. PyTorch compiles while other things are checked, which takes the CPU and needs no quiet GPU. With --checks-gpu the second GPU
# of that number (as nvidia-smi counts) has all that is not timed, beside what is timed on GPU 0. DIR/PART.txt has what each part said,
# DIR/*.json the figures. Needs python3 with torch and timm for compile, errors and speed.
# PART, timed: ladder (and attention and normalization beside the copy rate), layers (a recording), speed (beside PyTorch).
# PART, not timed: compile (what speed compares with, into DIR/inductor, beside the parts after it), sanitizers (compute-sanitizer),
# errors (rows of `swin verify`, and logits beside PyTorch's), models (their tests, which count the GPU's memory).
# All without: ladder layers compile sanitizers errors speed models.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/figures.sh

out=runs/inference_figures build=build/gpu compile_seconds=500 modes=reduce-overhead checks_gpu= parts=()
cases=swin_base:1,swin_base:32,swin_base:128,swin_large:1,swin_large:32,swin_tiny:1,swin_tiny:32,swinv2_base:32,swinv2_base:128
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --cases) cases=${2:?--cases needs a value} && shift 2 ;;
    --modes) modes=${2:?--modes needs a value} && shift 2 ;;
    --compile-seconds) compile_seconds=${2:?--compile-seconds needs a value} && shift 2 ;;
    --checks-gpu) checks_gpu=${2:?--checks-gpu needs a value} && shift 2 ;;
    ladder | layers | compile | sanitizers | errors | speed | models) parts+=("$1") && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
[[ -z $checks_gpu || $checks_gpu =~ ^[1-9][0-9]*$ ]] || refuse_words "--checks-gpu $checks_gpu: not the number of a second GPU"
[ ${#parts[@]} -gt 0 ] || parts=(ladder layers compile sanitizers errors speed models)
use_build "$build"
begin_figures
compare=(python3 tests/peers/torch/compare_torch.py)
fastest=("${compare[@]}" speed --swin "$swin" --cases "$cases" --modes "$modes" --jobs "$((($(nproc) + 1) / 2))" --seconds "$compile_seconds")
TORCHINDUCTOR_CACHE_DIR=$(realpath -m "$out")/inductor
export TORCHINDUCTOR_CACHE_DIR
models=swin_tiny,swin_small,swin_base,swin_large,swinv2_tiny,swinv2_small,swinv2_base,swinv2_large
kernels=(products tall-products qkv-attention layernorm normalized-results tall-normalized-results normalized-products attention
  attention-steps position-bias narrow-block normalized-rows elementwise)  # what takes long first

# What is not compiled by then is compiled again when it is timed.
compile() {
  "${fastest[@]}" --compile-only >"$out/compile.txt" 2>&1 || true
  touch "$flags/compiled"
}
compiling=
finish_compiling() {
  [ -n "$compiling" ] || return 0
  until [ -e "$flags/compiled" ]; do sleep 0.2; done
  compiling=
  tail -n 1 "$out/compile.txt"
}

run_part() {
  case $1 in
    compile)
      echo "swinscope: compile ($out/compile.txt)"
      compile &
      compiling=yes
      ;;
    sanitizers)
      attempt sanitizers python3 scripts/gpu_check.py --build "$build" --jobs 12 --logs "$out/sanitizers" \
        "${kernels[@]/#/racecheck-}" "${kernels[@]/#/memcheck-}"
      ;;
    errors)
      attempt rows python3 scripts/gpu_check.py --jobs 2 --build "$build" --logs "$out/rows" verify-models verify-kernels
      attempt errors "${compare[@]}" errors --swin "$swin" --models "$models" --json "$out/errors.json"
      attempt errors_384 "${compare[@]}" errors --swin "$swin" --models "$models" --image 384 --json "$out/errors_384.json"
      attempt errors_384_window_12 "${compare[@]}" errors --swin "$swin" --models "$models" --image 384 --window 12 \
        --json "$out/errors_384_window_12.json"
      ;;
    speed)
      finish_compiling
      attempt speed "${fastest[@]}" --rounds 2 --json "$out/speed.json"
      ;;
    models)
      finish_compiling
      attempt models python3 scripts/gpu_check.py --build "$build" --logs "$out/rows" 'workloads_device_model_test*'
      ;;
    ladder)
      finish_compiling
      attempt ladder python3 scripts/inference_ladder.py --swin "$swin" --json "$out/ladder.json"
      attempt kernels "$swin" peaks --kernels 1,32,128
      ;;
    layers)
      finish_compiling
      for level in attention graph; do
        attempt "layers-$level-recorded" "$swinscope" record -q --force -o "$out/$level" -- "$swin" infer --device cuda --model swin_base \
          --batch 32 --level "$level" --steps 5 --warmup 2 --tune-seconds 0 -q
        attempt "layers-$level" "$swinscope" layers "$out/$level"
      done
      ;;
  esac
}

if [ -n "$checks_gpu" ]; then
  export CUDA_DEVICE_ORDER=PCI_BUS_ID
  timed=() checked=()
  for part in "${parts[@]}"; do
    case $part in
      ladder | layers | speed) timed+=("$part") ;;
      *) checked+=("$part") ;;
    esac
  done
  (
    renice -n 10 -p "$BASHPID" >/dev/null  # what is timed needs a core, too
    export CUDA_VISIBLE_DEVICES=$checks_gpu
    for part in ${checked[@]+"${checked[@]}"}; do run_part "$part"; done
    wait
  ) &
  checks=$!
  export CUDA_VISIBLE_DEVICES=0
  for part in ${timed[@]+"${timed[@]}"}; do
    if [ "$part" = speed ] && [[ " ${checked[*]} " == *" compile "* ]]; then compiling=yes; fi
    run_part "$part"
  done
  wait "$checks"
else
  for part in "${parts[@]}"; do run_part "$part"; done
  finish_compiling
fi
end_figures
