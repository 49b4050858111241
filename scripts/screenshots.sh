#!/usr/bin/env bash
# usage: scripts/screenshots.sh [--all DIR]
# Renders the pictures of the desktop program that README.md and docs/gui.md show into docs/images/; needs no display.
# --all: every page (swinscope-gui --list-pages) of a PyTorch trace and of a run of our own, and an experiment, in both themes at 1280x720,
# 1920x1080 and 200 % into DIR, to be looked at after a change.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export QT_QPA_PLATFORM=offscreen
config=$(mktemp -d -t swinscope-screenshots.XXXXXX)
trap 'rm -rf "$config"' EXIT
export XDG_CONFIG_HOME=$config XDG_CACHE_HOME=$config XDG_RUNTIME_DIR=$config
readonly gui=build/dev/bin/swinscope-gui
readonly trace=data/pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz
readonly kernel=upsample_bilinear2d_backward_out_frame

# picture <file> <page> <theme> <size> [option…] <run>
picture() {
  local file=$1 page=$2 theme=$3 size=$4
  shift 4
  [[ $page != timeline || ${!#} != "$trace" ]] || set -- "$@" --find "$kernel"
  "$gui" --page "$page" --theme "$theme" --size "$size" --screenshot "$file" "$@" 2>"$config/log" || {
    cat "$config/log" >&2
    return 1
  }
  echo "$file"
}

configure dev
build_dir build/dev swinscope-gui swinscope swin swinscope_gloo
runs=build/screenshots
if [ ! -d $runs/experiment ]; then
  PATH=$PWD/build/dev/bin:$PATH build/dev/bin/swinscope scale --cpus-only --gpus 1,2 -o $runs/experiment -- \
    swin train --device cpu --model swin_nano --data synthetic --batch-per-gpu 4 --steps 12 --threads 1 --quiet
fi

if [ "${1:-}" = --all ]; then
  folder=${2:?a folder}
  pages=$("$gui" --list-pages | cut -f1)
  mkdir -p "$folder"
  for theme in light dark; do
    for size in 1280x720 1920x1080 1280x720@2; do
      scale=()
      [ "${size#*@}" = "$size" ] || scale=(--scale "${size#*@}")
      for page in $pages; do
        picture "$folder/$page-$theme-$size.png" "$page" $theme "${size%@*}" "${scale[@]}" $trace
        picture "$folder/$page-own-$theme-$size.png" "$page" $theme "${size%@*}" "${scale[@]}" $runs/experiment/gpus1/tracing
      done
      picture "$folder/compare-runs-$theme-$size.png" compare $theme "${size%@*}" "${scale[@]}" data/swinscope_swin_large_train_ladder/{eager,attention}.db
      picture "$folder/scaling-$theme-$size.png" "${pages%%$'\n'*}" $theme "${size%@*}" "${scale[@]}" $runs/experiment
    done
  done
  exit
fi
picture docs/images/gui-timeline.png timeline light 1280x720 $trace
picture docs/images/gui-kernels.png kernels dark 1280x720 $trace
picture docs/images/gui-layers.png layers light 1280x720 data/swinscope_swin_large_weak_2gpu/gpus2/tracing
readonly two_gpus=data/swinscope_swinv2b_upernet_traced_2gpu
picture docs/images/gui-roofline.png roofline light 1280x720 $two_gpus/gpus2
picture docs/images/gui-opportunities.png opportunities dark 1280x720 $trace
picture docs/images/gui-ranks.png ranks light 1280x720 $two_gpus/gpus2
picture docs/images/gui-tables.png tables dark 1280x720 $two_gpus/gpus2
picture docs/images/gui-compare.png compare light 1280x720 $two_gpus/gpus1 $two_gpus/gpus2
picture docs/images/gui-overview.png overview light 1280x720 $trace
picture docs/images/gui-sql.png query dark 1280x720 --query "SELECT name.value AS kernel, start, end, end - start AS ns, deviceId, streamId
FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds name ON name.id = shortName
ORDER BY ns DESC LIMIT 12" data/swinscope_swin_tiny_graph_1gpu.db
