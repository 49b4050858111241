// Moves the records of a later profiling window into the time of the first one, and its correlation ids beyond those
// that the first one has used.
#pragma once

#include <cstdint>
#include <variant>

#include "store/sink.h"

namespace swinscope {

struct RecordShift {
  std::int64_t offset_ns = 0;
  std::uint64_t correlations = 0;

  template <typename Record>
  void apply(Record& r) const {
    if constexpr (requires { r.start_ns; }) r.start_ns += offset_ns;
    if constexpr (requires { r.end_ns; }) {
      if (r.end_ns != kOpenEnd) r.end_ns += offset_ns;
    }
    if constexpr (requires { r.time_ns; }) {
      if (r.time_ns != kUnknownTime) r.time_ns += offset_ns;
    }
    if constexpr (requires { r.timestamp_ns; }) r.timestamp_ns += offset_ns;
    if constexpr (requires { r.correlation; }) apply_to(r.correlation);
  }
  // Of a correlation id.
  template <typename Id>
  void apply_to(Id& id) const {
    if (id != 0) id += static_cast<Id>(correlations);
  }
};

// Passes everything but the run on to another sink, shifted.
class ShiftingSink : public TraceSink, private RecordSink {
 public:
  ShiftingSink(RecordSink& next, const RecordShift& shift) : next_(next), shift_(shift) {}

  RecordSink& add_process() override { return *this; }
  void remove_last_process() override {}  // a file of ours is one process

 private:
  StringId intern(std::string_view text) override { return next_.intern(text); }
  void take(AnyRecord record) override {
    std::visit(
        [this](const auto* r) {
          auto shifted = *r;
          shift_.apply(shifted);
          next_.add(shifted);
        },
        record);
  }
  void set_run(const RunInfo& /*run*/) override {}

  RecordSink& next_;
  RecordShift shift_;
};

}  // namespace swinscope
