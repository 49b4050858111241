// A sink that passes everything on and tells how many records went by: readers do not know how far they are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "store/sink.h"

namespace swinscope {

class CountingSink : public TraceSink {
 public:
  // Both must outlive the sink. `on_records`, when not empty, is called with the number of records since its last call.
  CountingSink(TraceSink& next, const std::function<void(std::uint64_t)>& on_records)
      : next_(next), on_records_(on_records) {}

  RecordSink& add_process() override {
    return *processes_.emplace_back(std::make_unique<Process>(next_.add_process(), on_records_));
  }
  void remove_last_process() override {
    processes_.pop_back();
    next_.remove_last_process();
  }

 private:
  class Process : public RecordSink {
   public:
    Process(RecordSink& next, const std::function<void(std::uint64_t)>& on_records)
        : next_(next), on_records_(on_records) {}

    StringId intern(std::string_view text) override { return next_.intern(text); }
    void add(const KernelRecord& record) override { pass(record); }
    void add(const MemcpyRecord& record) override { pass(record); }
    void add(const MemsetRecord& record) override { pass(record); }
    void add(const SyncRecord& record) override { pass(record); }
    void add(const GraphNodeRecord& record) override { pass(record); }
    void add(const GraphTraceRecord& record) override { pass(record); }
    void add(const ApiRecord& record) override { pass(record); }
    void add(const OverheadRecord& record) override { pass(record); }
    void add(const NvtxRecord& record) override { pass(record); }
    void add(const CollectiveRecord& record) override { pass(record); }
    void add(const ThreadCpuRecord& record) override { pass(record); }
    void add(const ProcessRecord& record) override { pass(record); }
    void add(const ProcessCpuRecord& record) override { pass(record); }
    void set_run(const RunInfo& run) override { next_.set_run(run); }

   private:
    static constexpr std::uint64_t kRecordsPerCall = 16'384;

    template <typename Record>
    void pass(const Record& record) {
      if (++count_ == kRecordsPerCall) {
        if (on_records_) on_records_(count_);
        count_ = 0;
      }
      next_.add(record);
    }

    RecordSink& next_;
    const std::function<void(std::uint64_t)>& on_records_;
    std::uint64_t count_ = 0;
  };

  TraceSink& next_;
  const std::function<void(std::uint64_t)>& on_records_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace swinscope
