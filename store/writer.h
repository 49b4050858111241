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
  void take(AnyRecord record) override;
  void set_run(const RunInfo& run) override;
  // As last set.
  const RunInfo& run() const;

  // Adds a range that has not ended, so that a file that is cut off has it, and returns its row.
  std::int64_t add_open(const NvtxRecord& record, std::string_view payload = {});
  // Replaces the row of add_open, now that the range has ended.
  void close_open(std::int64_t row, const NvtxRecord& record, std::string_view payload = {});

  // Makes everything added so far readable by others.
  void flush();
  // Of the file, with what was flushed, once its log is merged into it. Room that was made counts no more.
  std::int64_t bytes() const;
  // Removes the older half of the events; the next flush() makes it so. Returns what is gone, by kind.
  std::vector<DropInfo> make_room();
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
