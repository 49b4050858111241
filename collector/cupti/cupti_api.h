// The narrow seam between the collector and CUPTI: opened at run time, so that the injected library loads anywhere, and
// virtual, so that tests hand fabricated records through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/cupti/cupti_abi.h"
#include "store/records.h"

namespace swinscope {

class CuptiApi {
 public:
  CuptiApi() = default;
  CuptiApi(const CuptiApi&) = delete;
  CuptiApi& operator=(const CuptiApi&) = delete;
  CuptiApi(CuptiApi&&) = delete;
  CuptiApi& operator=(CuptiApi&&) = delete;
  virtual ~CuptiApi() = default;

  virtual std::uint32_t version() = 0;
  // Claims CUPTI for this process. On kMultipleSubscribers `holder` says who has it, as far as CUPTI tells.
  virtual cupti::Result subscribe(cupti::Callback callback, void* user_data, std::string& holder) = 0;
  virtual cupti::Result enable_callback(std::uint32_t domain, std::uint32_t callback, bool enable) = 0;
  virtual cupti::Result register_buffers(cupti::BufferRequested requested, cupti::BufferCompleted completed) = 0;
  virtual cupti::Result register_clock(cupti::Timestamp clock) = 0;
  virtual cupti::Result use_system_thread_ids() = 0;
  virtual cupti::Result set_attribute(int attribute, std::size_t bytes, void* value) = 0;
  virtual cupti::Result enable(cupti::Kind kind, bool enable) = 0;
  // One function of the runtime or the driver. Works only while no CUDA context exists, or when another one was enabled
  // at that time (measured with CUDA 13.0).
  virtual cupti::Result enable_call(std::uint32_t domain, std::uint32_t callback, bool enable) = 0;
  // Questions whether an event or a stream is done, answered with no, make no synchronization records: programs ask
  // them all the time. Does nothing before CUDA 12.8, whose CUPTI has no records for them.
  virtual void leave_out_queries() = 0;
  virtual cupti::Result flush(std::uint32_t flag) = 0;
  // The record after `previous` (null: the first) of a completed buffer; null at its end.
  virtual const cupti::Record* next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                                           const cupti::Record* previous) = 0;
  // Records that CUPTI could not keep, since the last call.
  virtual std::size_t dropped_records() = 0;
  // Null when there is no such function.
  virtual const char* callback_name(std::uint32_t domain, std::uint32_t callback) = 0;
  // The id by which records name the node of a CUDA graph; 0 when unknown.
  virtual std::uint64_t node_id(void* node) = 0;
  virtual std::string error_text(cupti::Result result) = 0;
  // driver_devices(), for those whose records CUPTI gave before anybody listened.
  virtual std::vector<GpuInfo> devices() = 0;
  // wait_for_context()
  virtual void wait_for_gpu() = 0;
};

struct OpenedCupti {
  std::unique_ptr<CuptiApi> api;  // null: `problem` says why
  std::string path;
  std::string problem;
};

// Whether records of this version have the layout of cupti_abi.h.
constexpr bool is_supported_cupti(std::uint32_t version) {
  constexpr std::uint32_t kFirst = 22;  // CUDA 12.4
  constexpr std::uint32_t kLastOfOldScheme = 99;
  constexpr std::uint32_t kFirstOf13 = 130'000;
  constexpr std::uint32_t kEndOf13 = 140'000;
  return (version >= kFirst && version <= kLastOfOldScheme) || (version >= kFirstOf13 && version < kEndOf13);
}
// "13.0", "API 26".
std::string cupti_version_text(std::uint32_t version);

// Through the libcupti that is in the process already, if there is one; else SWINSCOPE_CUPTI, the loader's path and the
// usual folders of the toolkit, in this order.
OpenedCupti open_cupti();

}  // namespace swinscope
