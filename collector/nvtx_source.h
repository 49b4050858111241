// The NVTX events of all threads as a source of the recorder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/nvtx_registry.h"
#include "collector/range_assembler.h"
#include "collector/source.h"
#include "collector/thread_buffers.h"

namespace swinscope {

class NvtxSource : public Source {
 public:
  NvtxSource(ThreadBuffers& buffers, const NvtxRegistry& registry, std::uint64_t global_pid, std::int64_t start_ns)
      : buffers_(buffers), registry_(registry), global_pid_(global_pid), assembler_(registry, start_ns) {}

  bool poll(TraceWriter& to) override;
  void before_flush(TraceWriter& to) override;
  void flushed() override;
  void lost(const std::string& reason) override;
  void discard(const std::string& reason) override;
  void finish(TraceWriter& to) override;
  void describe(RunInfo& run) override;

 private:
  void add_names(TraceWriter& to);

  ThreadBuffers& buffers_;
  const NvtxRegistry& registry_;
  std::uint64_t global_pid_;
  RangeAssembler assembler_;
  DropCounts drops_;
  std::uint32_t domains_added_ = 0;
  std::uint32_t domains_flushed_ = 0;
  std::size_t categories_added_ = 0;
  std::size_t categories_flushed_ = 0;
};

}  // namespace swinscope
