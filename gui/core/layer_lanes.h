// Layers on the GPU: when the work that a layer launched was done, as lanes above the streams of its device. Replays of
// a CUDA graph have the layers of its capture.
//
// A level of a lane is the phase (forward, backward, …), then the first, the second and the other components of the
// layer's path ("stage3", "block5", "attn.qkv"). The work of a device in the order in which it started is cut where the
// path up to that level changes; a piece lasts from its first start to its last end, or to where the next one begins.
#pragma once

#include <string>
#include <vector>

#include "analyzer/facts/operations.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct LayerLanes {
  // Lanes of ranges by process, device and level (LaneKey::depth), called by what they hold; no steps.
  Timeline timeline;
  std::vector<std::string> paths;  // by LaneEvent::ref: "backward, stage3.block5"
};

// On the axis of the timeline that is of the same trace. Empty where no layer is known, or none launched anything.
LayerLanes layer_lanes(const Trace& trace, const std::vector<RankOperations>& operations, const Timeline& timeline);

}  // namespace swinscope::gui
