// What CUPTI tells once of the devices, contexts and streams of the process.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/base/source.h"
#include "collector/cupti/cupti_abi.h"
#include "store/records.h"

namespace swinscope {

// "GPU-" and the groups of digits that nvidia-smi writes.
std::string gpu_uuid_text(const std::uint8_t (&bytes)[16]);

class CuptiFacts {
 public:
  void add(const cupti::Device& device);
  void add(const cupti::Context& context);
  void add(const cupti::Stream& stream);

  // 0 for a context that is not known.
  std::int32_t device_of(std::uint32_t context) const;
  void describe(RunInfo& run) const;

 private:
  // A program may make streams for ever; each is written again whenever something new is known.
  static constexpr std::size_t kMaxStreams = 4096;

  std::vector<GpuInfo> gpus_;
  std::vector<ContextInfo> contexts_;
  std::vector<StreamInfo> streams_;
  std::unordered_map<std::uint32_t, std::int32_t> device_of_context_;
  std::int64_t streams_left_out_ = 0;
};

}  // namespace swinscope
