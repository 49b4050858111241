// What PyTorch's allocator has of a device's memory (torch.profiler.profile(profile_memory=True)), as series of
// samples: each instant event "[memory]" says what is allocated, and reserved of CUDA for that, from then on.
#pragma once

#include <cstdint>
#include <set>

#include "analyzer/importers/kineto_event.h"
#include "store/sink.h"

namespace swinscope {

class KinetoMemory {
 public:
  // Whether it is such an event, of a device, and was handed on. Those of the host stay marks.
  bool add(const KinetoEvent& event, std::int64_t time_ns, RecordSink& sink);

 private:
  std::set<std::uint8_t> named_;  // devices
};

}  // namespace swinscope
