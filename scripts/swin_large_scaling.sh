#!/usr/bin/env bash
# usage: scripts/swin_large_scaling.sh [-o DIR] [--gpus 1,2,4,8] [--build build/gpu] [--data SHAPES] [--seconds S] [--cpus-only] [PART…]
# Data-parallel training of swin_large, bf16, 64 images a GPU: weak and strong scaling, the ladder with one and with all GPUs, what room
# for all-reduces is worth, sums by copies and by NCCL's kernels, gradients in bf16, no direct way between GPUs, images from JPEG files with 2, 4 and 8 cores a rank,
# a rank that is killed, and PyTorch's DistributedDataParallel (where python3 has torch and timm). Goes on where it stopped; nothing
# is begun after S seconds. PART: weak, copies, blocks, reduce, strong, p2p, ladder, files, kill, torch; all without.
# --cpus-only: a small model on CPU ranks, and only the parts that need no GPU (weak, strong, files, kill).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=runs/swin_large_scaling gpus=1,2,4,8 build=build/gpu data='' seconds=1000000 cpus_only=no parts=()
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=${2:?-o needs a value} && shift 2 ;;
    --gpus) gpus=${2:?--gpus needs a value} && shift 2 ;;
    --build) build=${2:?--build needs a value} && shift 2 ;;
    --data) data=${2:?--data needs a value} && shift 2 ;;
    --seconds) seconds=${2:?--seconds needs a value} && shift 2 ;;
    --cpus-only) cpus_only=yes && shift ;;
    weak | copies | blocks | reduce | strong | p2p | ladder | files | kill | torch) parts+=("$1") && shift ;;
    *) refuse_words "$1: unknown" ;;
  esac
done
use_build "$build"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
most=${gpus##*,} batch=64 global=512 steps=(--steps 40 --warmup 10)
train=("$swin" train --device cuda --model swin_large --precision bf16 --quiet) scale=()
if [ $cpus_only = yes ]; then
  batch=2 global=8 steps=(--steps 6 --warmup 2) scale=(--cpus-only)
  train=("$swin" train --device cpu --model swin_nano --threads 1 --quiet)
fi
mkdir -p "$out"
failed=()

# is_wanted <part>: asked for, and in time.
is_wanted() {
  case " ${parts[*]:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
  if [ $cpus_only = yes ]; then
    case $1 in weak | strong | files | kill) ;; *) return 1 ;; esac
  fi
  [ $SECONDS -lt "$seconds" ] || { echo "swinscope: left out: $1 (no time is left)" && failed+=("$1") && return 1; }
}

# attempt <part> <what> <command>…: says what it does; what fails is named at the end.
attempt() {
  local left=$((seconds - SECONDS))
  echo "swinscope: $2"
  timeout --foreground "$((left > 1 ? left : 1))" "${@:3}" || { echo "swinscope: $1 failed: $2" >&2 && failed+=("$1"); }
}

# measure <part> <what> <folder> <options of scale>… -- <options of train>…
measure() {
  local part=$1 what=$2 folder=$3 options=()
  shift 3
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  attempt "$part" "$what ($out/$folder)" "$swinscope" scale "${scale[@]}" --warmup-steps "${steps[3]}" "${options[@]}" -o "$out/$folder" -- \
    "${train[@]}" "${steps[@]}" "${@:2}"
}

# process_of <rank>: of the training that writes to $out/kill.
process_of() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/exe")" = "$(realpath "$swin")" ] || continue
    tr '\0' '\n' <"$process/cmdline" | grep -qxF "$out/kill/log.jsonl" || continue
    tr '\0' '\n' <"$process/environ" | grep -qx "RANK=$1" && echo "${process#/proc/}" && return
  done 2>/dev/null # processes end meanwhile
  return 1
}

# One rank of all is killed in the middle: the others have to end, say who is missing, and leave recordings that open.
kill_a_rank() {
  rm -rf "$out/kill" && mkdir -p "$out/kill"
  local job victim=$((most - 1)) status=0 begun process
  "$swinscope" record -q -o "$out/kill/recording" -- "$swinscope" launch --ranks "$most" -- \
    "${train[@]}" --batch-per-gpu $batch --steps 1000000 --log "$out/kill/log.jsonl" >"$out/kill/said" 2>&1 &
  job=$!
  until [ -e "$out/kill/log.jsonl" ] && [ "$(wc -l <"$out/kill/log.jsonl")" -ge 5 ]; do
    kill -0 $job 2>/dev/null || { tail -n 5 "$out/kill/said" && return 1; }
    sleep 0.2
  done
  process=$(process_of $victim) || { kill $job && return 1; }
  begun=$EPOCHREALTIME
  kill -9 "$process"
  wait $job || status=$?
  printf 'rank %d of %d killed; the job ended with status %d after %.1f s\n' $victim "$most" $status "$(awk "BEGIN { print $EPOCHREALTIME - $begun }")"
  grep -m 3 -i "rank $victim" "$out/kill/said" || { echo "nobody named rank $victim" && return 1; }
  local file
  for file in "$out"/kill/recording/rank*.db; do
    "$swinscope" info "$file" >"$out/kill/info" || { echo "$file cannot be read" && return 1; }
    echo "$file: $("$swinscope" query "$file" 'SELECT count(*) AS ranges FROM NVTX_EVENTS' --format csv | tail -n 1) ranges"
  done
  [ $status != 0 ]
}

if is_wanted weak; then
  measure weak "weak scaling" weak --gpus "$gpus" -- --batch-per-gpu $batch
fi
if is_wanted copies; then
  measure copies "sums by NCCL's kernels" kernels --no-trace --repeat 3 --gpus "$most" -- --batch-per-gpu $batch --all-reduce kernels
  for mib in 25 100; do
    measure copies "sums by copies, buckets of $mib MiB" copies$mib --no-trace --repeat 3 --gpus "$most" -- --batch-per-gpu $batch --all-reduce copies --bucket-mib $mib
  done
fi
if is_wanted blocks; then
  for blocks in 4 8 16 24; do
    measure blocks "room for all-reduces: $blocks multiprocessors" blocks$blocks --no-trace --repeat 1 --gpus "$most" -- --batch-per-gpu $batch --all-reduce kernels --comm-blocks $blocks
  done
fi
if is_wanted reduce; then
  measure reduce "gradients travel in bf16" reduce_bf16 --no-trace --repeat 1 --gpus "$most" -- --batch-per-gpu $batch --reduce-precision bf16
  measure reduce "buckets of 100 MiB" bucket100 --no-trace --repeat 1 --gpus "$most" -- --batch-per-gpu $batch --bucket-mib 100
fi
if is_wanted p2p; then
  NCCL_P2P_DISABLE=1 measure p2p "no direct way between GPUs" no_p2p --repeat 1 --gpus "$most" -- --batch-per-gpu $batch
fi
if is_wanted strong; then
  measure strong "strong scaling, $global images in all" strong --no-trace --repeat 1 --mode strong --batch $global --gpus "$gpus" -- --batch-per-gpu '{batch}'
fi
if is_wanted ladder; then
  attempt ladder "the ladder with 1 and $most GPUs ($out/ladder)" "$swinscope" sweep --no-trace --repeat 1 --warmup-steps 3 --vary gpus=1,"$most" \
    --vary level=eager,tensorcore,fused,window,attention,graph -o "$out/ladder" -- \
    "$swin" train --device cuda --model swin_large --quiet --batch-per-gpu $batch --level '{level}' --steps 10 --warmup 3
fi
if is_wanted files; then
  if [ -z "$data" ]; then
    echo "swinscope: left out: files (needs --data, a folder that \`swin make-data\` wrote)"
  else
    for cores in 2 4 8; do
      for count in ${gpus//,/ }; do
        folder=$out/files${cores}_gpus$count
        pinned=(taskset -c 0-$((cores * count - 1)))
        [ $cpus_only = no ] || pinned=()
        attempt files "JPEG files, $count GPUs, $cores cores a rank ($folder)" \
          "${pinned[@]}" "$swinscope" scale "${scale[@]}" --repeat 1 --warmup-steps "${steps[3]}" --gpus "$count" -o "$folder" -- \
          "${train[@]}" "${steps[@]}" --batch-per-gpu $batch --data "$data" --loader-threads $cores
        traced=$folder/gpus$count/tracing
        [ ! -d "$traced" ] || "$swinscope" analyze "$traced" | sed -n '1p; /^Where the time goes (sum /,/^$/p' || failed+=(files)
      done
    done
  fi
fi
if is_wanted kill; then
  kill_a_rank || { echo "swinscope: kill failed" >&2 && failed+=(kill); }
fi
if is_wanted torch && python3 -c 'import torch, timm' 2>/dev/null; then
  attempt torch "beside PyTorch's DistributedDataParallel ($out/torch.json)" python3 tests/peers/torch/compare_scaling.py speed --swin "$swin" \
    --swinscope "$swinscope" --gpus "$gpus" --seconds $((seconds - SECONDS)) --json "$out/torch.json"
fi

if [ -e "$out/weak" ]; then
  "$swinscope" analyze "$out/weak"
  [ "$(find "$out" -mindepth 2 -maxdepth 2 -name experiment.json | wc -l)" -lt 2 ] || "$swinscope" compare "$out"
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "swinscope: failed or left out: ${failed[*]}" >&2
  exit 1
fi
