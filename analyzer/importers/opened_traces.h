// Traces of which several questions are asked one after the other: read when they are asked for, and kept for whoever
// asks next, as far as there is room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

class OpenedTraces {
 public:
  // Of what is kept, but for what was asked for last, which is always.
  static constexpr std::int64_t kMostEvents = 2'000'000;

  // As open_trace() does.
  std::shared_ptr<const Trace> open(const std::filesystem::path& path);
  // How often one was read.
  std::size_t reads() const { return reads_; }

 private:
  struct Kept {
    std::filesystem::path path;
    std::shared_ptr<const Trace> trace;
    std::int64_t events = 0;
  };

  std::vector<Kept> kept_;  // what was asked for last is at the end
  std::size_t reads_ = 0;
};

}  // namespace swinscope
