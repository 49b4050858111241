// Between the files of host_device.h: streams, graphs, and values of any element type as floats.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/device.h"

struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};
struct CUstream_st {
  CUgraphExec_st* capturing = nullptr;
};

namespace swinscope::test {

// Runs the work or, while the stream is captured, keeps it.
void launch(cuda::Stream stream, std::function<void()> work);

std::vector<float> load(ElementType type, const void* from, std::int64_t count);
// Rounds to nearest.
void store(ElementType type, const std::vector<float>& values, void* to);

}  // namespace swinscope::test
