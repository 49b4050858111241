// Writes one trace file: a RecordSink onto SQLite.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "store/sink.h"

namespace swinscope {

// How durable a file must be while it is being written.
enum class WriteMode {
  kLive,    // a recording: every flush() survives the death of the process (write-ahead log)
  kImport,  // a conversion: fast; the file appears under its name only when finished
};

class TraceWriter : public RecordSink {
 public:
  // Creates `path`, which must not exist. Throws Error.
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
  void add(const OverheadRecord& record) override;
  void add(const NvtxRecord& record) override;
  void add(const CollectiveRecord& record) override;
  void set_run(const RunInfo& run) override;
  // As last set.
  const RunInfo& run() const;

  // Makes everything added so far readable by others.
  void flush();
  // Flushes, adds the span and the indexes, and leaves one plain file without a log. Nothing can be added afterwards.
  void finish();
  // finish(), then moves the file to its final name, which must not exist unless `replace`.
  void finish_as(const std::filesystem::path& final_path, bool replace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace swinscope
