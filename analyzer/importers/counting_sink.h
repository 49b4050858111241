// A sink that passes everything on, tells how many records went by (readers do not know how far they are), and keeps
// what it has seen of each process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/importers/job.h"
#include "store/sink.h"

namespace swinscope {

class CountingSink : public TraceSink {
 public:
  // Both must outlive the sink. `on_records`, when not empty, is called with the number of records since its last call:
  // every few thousand, and after many bytes of text. What it throws ends the reading.
  CountingSink(TraceSink& next, const std::function<void(std::uint64_t)>& on_records)
      : next_(next), on_records_(on_records) {}

  RecordSink& add_process() override {
    return *processes_.emplace_back(std::make_unique<Process>(next_.add_process(), on_records_));
  }
  void remove_last_process() override {
    processes_.pop_back();
    next_.remove_last_process();
  }

  // Of each process, in the order in which they were added, without the file.
  std::vector<FileProcess> seen() const {
    std::vector<FileProcess> all;
    all.reserve(processes_.size());
    for (const auto& process : processes_)
      all.push_back(process->seen());
    return all;
  }

 private:
  class Process : public RecordSink {
   public:
    Process(RecordSink& next, const std::function<void(std::uint64_t)>& on_records)
        : next_(next), on_records_(on_records) {}

    StringId intern(std::string_view text) override {
      text_bytes_ += text.size();
      if (text_bytes_ >= kTextBytesPerCall) tell();
      return next_.intern(text);
    }
    void take(AnyRecord record) override {
      if (++count_ == kRecordsPerCall) tell();
      std::visit([this](const auto* r) { look_at(*r); }, record);
      next_.take(record);
    }
    void set_run(const RunInfo& run) override {
      seen_.run = run;
      next_.set_run(run);
    }

    const FileProcess& seen() const { return seen_; }

   private:
    static constexpr std::uint64_t kRecordsPerCall = 4'096;
    static constexpr std::size_t kTextBytesPerCall = std::size_t{4} << 20U;

    void tell() {
      if (on_records_) on_records_(count_);
      count_ = 0;
      text_bytes_ = 0;
    }

    template <typename Record>
    void look_at(const Record& record) {
      if constexpr (requires { record.start_ns, record.end_ns; }) {
        if constexpr (requires { record.type == NvtxType::kDomain; }) {
          if (record.type == NvtxType::kDomain || record.type == NvtxType::kCategory) return;
        }
        const std::int64_t end_ns = std::max(record.start_ns, record.end_ns);  // an open end is far in the past
        Interval& span = seen_.span;
        span = seen_.records++ == 0 ? Interval{record.start_ns, end_ns}
                                    : Interval{std::min(span.begin_ns, record.start_ns), std::max(span.end_ns, end_ns)};
      }
      if constexpr (requires { record.correlation; })
        seen_.correlations = std::max<std::uint64_t>(seen_.correlations, record.correlation);
    }

    RecordSink& next_;
    const std::function<void(std::uint64_t)>& on_records_;
    std::uint64_t count_ = 0;
    std::size_t text_bytes_ = 0;
    FileProcess seen_;
  };

  TraceSink& next_;
  const std::function<void(std::uint64_t)>& on_records_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace swinscope
