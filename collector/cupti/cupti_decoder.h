// From CUPTI's records to rows of the trace file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/base/source.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/cupti_facts.h"
#include "collector/cupti/recorded_windows.h"
#include "collector/segment/cuda_sink.h"

namespace swinscope {

class CuptiDecoder {
 public:
  // Times are stored relative to `start_ns`. `windows` must outlive this.
  CuptiDecoder(std::uint64_t global_pid, std::int64_t start_ns, const RecordedWindows& windows)
      : global_pid_(global_pid), start_ns_(start_ns), windows_(windows) {}

  // All records of a completed buffer. When the writer throws, what is left of the buffer is counted as unflushed, so
  // that lost() counts it.
  void add_buffer(CudaSink& to, CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes);
  // The same without a file.
  void discard_buffer(CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes, const std::string& reason);

  // All that was added is in the file now, or is not.
  void flushed();
  void lost(const std::string& reason);

  const CuptiFacts& facts() const { return facts_; }
  const DropCounts& drops() const { return drops_; }
  std::uint64_t records() const { return records_; }

 private:
  enum class What : std::uint8_t { kKernel, kCopy, kSet, kCall, kSync, kEvent, kMemory, kOverhead, kGraph, kOther };
  static constexpr std::size_t kWhats = 10;
  struct Names {
    std::string mangled;
    StringId demangled_id = kNoString;
    StringId short_id = kNoString;
    StringId mangled_id = kNoString;
  };

  static What what_of(cupti::Kind kind);
  static const char* text_of(What what);
  void add(CudaSink& to, CuptiApi& api, const cupti::Record& record);
  void add_kernel(CudaSink& to, const cupti::Kernel& k);
  void add_copy(CudaSink& to, const cupti::Memcpy& m);
  void add_peer_copy(CudaSink& to, const cupti::PeerCopy& m);
  void add_set(CudaSink& to, const cupti::Memset& m);
  void add_call(CudaSink& to, CuptiApi& api, const cupti::Api& a);
  void add_sync(CudaSink& to, CuptiApi& api, const cupti::Synchronization& s);
  void add_event(CudaSink& to, CuptiApi& api, const cupti::CudaEvent& e);
  void add_memory(CudaSink& to, const cupti::Memory& m);
  void add_pool(CudaSink& to, const cupti::MemoryPool& p);
  void add_overhead(CudaSink& to, const cupti::Overhead& o);
  void add_graph(CudaSink& to, const cupti::GraphTrace& g);
  // False when there are no times, or none that are right, which is counted.
  template <typename Raw>
  bool set_times(GpuRecord& record, const Raw& raw, What what);
  template <typename Raw>
  bool set_copy(MemcpyRecord& record, const Raw& raw);
  const Names& names_of(CudaSink& to, const char* mangled);
  StringId call_name(CudaSink& to, CuptiApi& api, std::uint32_t domain, std::uint32_t callback);

  std::uint64_t global_pid_;
  std::int64_t start_ns_;
  const RecordedWindows& windows_;
  // CUPTI names a kernel by the same pointer each time; the text is compared still, for modules come and go.
  std::unordered_map<const char*, Names> names_;
  std::array<std::vector<StringId>, 3> call_names_;  // by domain and callback
  CuptiFacts facts_;
  std::array<std::int64_t, kWhats> unflushed_{};
  DropCounts drops_;
  std::uint64_t records_ = 0;
};

}  // namespace swinscope
