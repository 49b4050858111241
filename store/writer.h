// Writes one trace file: a RecordSink onto SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "store/sink.h"

namespace swinscope {

// How durable a file must be while it is being written.
enum class WriteMode {
  kLive,    // a recording: every flush() survives the death of the process (write-ahead log)
  kImport,  // a conversion: fast; the file appears under its name only when finished
};

class TraceWriter : public RecordSink {
 public:
  // Creates `path`, which must not exist; a live recording also takes an empty file, by which a process has claimed the
  // name. Throws Error.
  TraceWriter(const std::filesystem::path& path, WriteMode mode);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  TraceWriter(TraceWriter&&) = delete;
  TraceWriter& operator=(TraceWriter&&) = delete;
  // An import that was not finished leaves no file; a live recording keeps what was flushed.
  ~TraceWriter() override;

  StringId intern(std::string_view text) override;
  void add(const KernelRecord& record) override;
  void add(const MemcpyRecord& record) override;
  void add(const MemsetRecord& record) override;
  void add(const SyncRecord& record) override;
  void add(const GraphTraceRecord& record) override;
  void add(const ApiRecord& record) override;
  void add(const GraphNodeRecord& record) override;
  void add(const OverheadRecord& record) override;
  void add(const NvtxRecord& record) override;
  void add(const CollectiveRecord& record) override;
  void add(const ThreadCpuRecord& record) override;
  void add(const ProcessRecord& record) override;
  void add(const ProcessCpuRecord& record) override;
  void set_run(const RunInfo& run) override;
  // As last set.
  const RunInfo& run() const;

  // In the file for queries; no analysis reads them back.
  void add(const CudaEventRecord& record);
  void add(const MemoryRecord& record);
  void add(const MemoryPoolRecord& record);
  void add(const PayloadSchemaRecord& record);
  // `payload`: NVTX_EVENTS.binaryData, none where it is empty.
  void add(const NvtxRecord& record, std::string_view payload);
  // A sampled metric of a GPU (index below 256) and what it is called; `source` as in TARGET_INFO_GPU_METRICS.
  void add_metric(std::int64_t time_ns, int source, std::size_t gpu, int metric, std::int64_t value);
  void name_metric(int source, std::size_t gpu, int metric, std::string_view name);

  // Adds a range that has not ended, so that a file that is cut off has it, and returns its row.
  std::int64_t add_open(const NvtxRecord& record, std::string_view payload = {});
  // Replaces the row of add_open, now that the range has ended.
  void close_open(std::int64_t row, const NvtxRecord& record, std::string_view payload = {});

  // Makes everything added so far readable by others.
  void flush();
  // Of the file, with what was flushed, once its log is merged into it.
  std::int64_t bytes() const;
  // After an Error: takes back all rows since the last flush that succeeded, so that recording can go on. String ids
  // stay valid; what set_run said has to be said again. May throw again.
  void roll_back();
  // Flushes, adds the span and the indexes, and leaves one plain file without a log (unless another program has it
  // open). Nothing can be added afterwards.
  void finish();
  // finish(), then moves the file to its final name, which must not exist unless `replace`.
  void finish_as(const std::filesystem::path& final_path, bool replace);

 private:
  void write_threads();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace swinscope
