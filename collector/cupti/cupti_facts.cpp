#include "collector/cupti/cupti_facts.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "collector/cupti/cuda_driver.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// CUPTI says a fact again when recording is switched on again: the newest one stays.
template <typename Fact, typename Same>
void put(std::vector<Fact>& facts, const Fact& fact, Same same) {
  const auto known = std::find_if(facts.begin(), facts.end(), same);
  if (known != facts.end()) {
    *known = fact;
  } else {
    facts.push_back(fact);
  }
}

}  // namespace

std::string gpu_uuid_text(const std::uint8_t (&bytes)[16]) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

void CuptiFacts::add(const cupti::Device& d) {
  if (d.is_visible == 0) return;
  GpuInfo gpu;
  gpu.device = static_cast<std::int32_t>(d.id);
  gpu.name = d.name == nullptr ? "" : replace_invalid_utf8(d.name);
  const cupti::Device copy = d;  // aligned: the record's arrays may not be
  gpu.uuid = gpu_uuid_text(copy.uuid);
  gpu.memory_bytes = static_cast<std::int64_t>(d.memory_bytes);
  gpu.sm_count = static_cast<std::int32_t>(d.multiprocessors);
  gpu.compute_major = static_cast<std::int32_t>(d.compute_major);
  gpu.compute_minor = static_cast<std::int32_t>(d.compute_minor);
  gpu.chip = chip_of_capability(gpu.compute_major, gpu.compute_minor);
  gpu.l2_bytes = static_cast<std::int64_t>(d.l2_bytes);
  gpu.memory_bytes_per_second = static_cast<std::int64_t>(d.memory_bandwidth) * 1000;
  gpu.clock_hz = static_cast<std::int64_t>(d.clock_khz) * 1000;
  gpu.bus_location = driver_bus_location(gpu.device);
  put(gpus_, gpu, [&](const GpuInfo& known) { return known.device == gpu.device; });
}

void CuptiFacts::add(const cupti::Context& c) {
  const ContextInfo context{c.context, static_cast<std::int32_t>(c.device), c.null_stream};
  device_of_context_[context.context] = context.device;
  put(contexts_, context, [&](const ContextInfo& known) { return known.context == context.context; });
}

void CuptiFacts::add(const cupti::Stream& s) {
  const StreamInfo stream{s.stream, s.context, static_cast<std::int32_t>(s.priority),
                          static_cast<std::int32_t>(s.flag)};
  const auto is_same = [&](const StreamInfo& known) {
    return known.stream == stream.stream && known.context == stream.context;
  };
  if (streams_.size() < kMaxStreams) {
    put(streams_, stream, is_same);
  } else if (std::none_of(streams_.begin(), streams_.end(), is_same)) {
    ++streams_left_out_;
  }
}

std::int32_t CuptiFacts::device_of(std::uint32_t context) const {
  const auto found = device_of_context_.find(context);
  return found == device_of_context_.end() ? 0 : found->second;
}

void CuptiFacts::describe(RunInfo& run) const {
  run.gpus = gpus_;
  run.contexts = contexts_;
  run.streams = streams_;
  if (streams_left_out_ == 0) return;
  run.drops.push_back({"facts of a CUDA stream", streams_left_out_,
                       fmt::format("those of the first {} are kept; what ran on it is recorded", kMaxStreams)});
}

}  // namespace swinscope
