// Records of CUDA activity straight into a file, without the memory that lies between a program and its recorder.
#pragma once

#include <string_view>

#include "collector/segment/cuda_sink.h"
#include "store/writer.h"

namespace swinscope::test {

class CudaWriter : public CudaSink {
 public:
  explicit CudaWriter(TraceWriter& to) : to_(to) {}

  StringId intern(std::string_view text) override { return to_.intern(text); }
  void add(const KernelRecord& record) override { to_.add(record); }
  void add(const MemcpyRecord& record) override { to_.add(record); }
  void add(const MemsetRecord& record) override { to_.add(record); }
  void add(const SyncRecord& record) override { to_.add(record); }
  void add(const GraphTraceRecord& record) override { to_.add(record); }
  void add(const ApiRecord& record) override { to_.add(record); }
  void add(const OverheadRecord& record) override { to_.add(record); }
  void add(const CudaEventRecord& record) override { to_.add(record); }
  void add(const MemoryRecord& record) override { to_.add(record); }
  void add(const MemoryPoolRecord& record) override { to_.add(record); }

 private:
  TraceWriter& to_;
};

}  // namespace swinscope::test
