// Where the records of CUDA activity go while a program runs: into its trace file, or through memory that another
// process reads (collector/segment/record_stream.h).
#pragma once

#include <string_view>

#include "store/records.h"

namespace swinscope {

class CudaSink {
 public:
  CudaSink() = default;
  CudaSink(const CudaSink&) = delete;
  CudaSink& operator=(const CudaSink&) = delete;
  CudaSink(CudaSink&&) = delete;
  CudaSink& operator=(CudaSink&&) = delete;
  virtual ~CudaSink() = default;

  // The id of a string, the same for equal strings; "" is kNoString.
  virtual StringId intern(std::string_view text) = 0;

  virtual void add(const KernelRecord& record) = 0;
  virtual void add(const MemcpyRecord& record) = 0;
  virtual void add(const MemsetRecord& record) = 0;
  virtual void add(const SyncRecord& record) = 0;
  virtual void add(const GraphTraceRecord& record) = 0;
  virtual void add(const ApiRecord& record) = 0;
  virtual void add(const OverheadRecord& record) = 0;
  virtual void add(const CudaEventRecord& record) = 0;
  virtual void add(const MemoryRecord& record) = 0;
  virtual void add(const MemoryPoolRecord& record) = 0;
};

}  // namespace swinscope
