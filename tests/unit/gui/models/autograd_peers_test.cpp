// Forward and backward of operators, of a trace written by hand.
#include "gui/core/autograd_peers.h"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::gui {
namespace {

// Ranges of PyTorch's operators, by thread.
class AutogradPeers : public testing::Test {
 protected:
  void range(std::uint64_t thread, std::string name, std::int64_t begin, std::int64_t end, std::int64_t sequence) {
    ranges_.push_back({thread, std::move(name), begin, end, sequence});
  }
  // Of the trace; the numbers are written as the importers of PyTorch's traces do.
  OpenedRun open() {
    TraceBuilder builder;
    RecordSink& sink = builder.add_process();
    RunInfo info;
    info.source = "kineto";
    info.global_pid = make_global_pid(100);
    NvtxRecord domain;
    domain.domain = 2;
    domain.type = NvtxType::kDomain;
    domain.text = sink.intern(kDomainTorchOp);
    sink.add(domain);
    for (const Part& part : ranges_) {
      NvtxRecord r;
      r.domain = 2;
      r.type = NvtxType::kPushPop;
      r.start_ns = part.begin;
      r.end_ns = part.end;
      r.global_tid = info.global_pid + part.thread;
      r.text = sink.intern(part.name);
      if (part.sequence >= 0) r.value_type = NvtxValueType::kInt64;
      r.int64_value = part.sequence;
      sink.add(r);
    }
    sink.set_run(info);
    Trace trace;
    builder.move_into(trace);
    classify(trace, {});
    OpenedRun run;
    run.trace = std::make_shared<const Trace>(std::move(trace));
    run.timeline = std::make_shared<const Timeline>(build_timeline(*run.trace));
    return run;
  }
  static TimelineEventId named(const OpenedRun& run, std::string_view name) {
    for (LaneId lane = 0; lane < run.timeline->lanes.size(); ++lane)
      for (LanePosition i = 0; i < run.timeline->lanes[lane].size(); ++i)
        if (run.timeline->name({lane, i}) == name) return {lane, i};
    return {};
  }

 private:
  struct Part {
    std::uint64_t thread;
    std::string name;
    std::int64_t begin;
    std::int64_t end;
    std::int64_t sequence;
  };
  std::vector<Part> ranges_;
};

// aten::linear, number 7, holds aten::addmm of the same number; backward is on the autograd thread, 10 behind it.
// Number 8 has no backward, and aten::view no number.
TEST_F(AutogradPeers, JoinForwardAndBackwardByTheirNumber) {
  range(1, "aten::linear", 0, 20, 7);
  range(1, "aten::addmm", 2, 10, 7);
  range(1, "aten::gelu", 21, 25, 8);
  range(1, "aten::view", 26, 27, -1);
  range(2, "evaluate_function: AddmmBackward0", 30, 60, 7);
  range(2, "AddmmBackward0", 31, 59, 7);
  const OpenedRun run = open();
  for (const char* name : {"aten::linear", "aten::addmm", "evaluate_function: AddmmBackward0", "AddmmBackward0"}) {
    const CollectivePeers peers = autograd_peers(run, named(run, name));
    EXPECT_EQ(peers.last, named(run, "aten::linear")) << name;
    EXPECT_EQ(peers.others, (std::vector<TimelineEventId>{named(run, "evaluate_function: AddmmBackward0")})) << name;
    EXPECT_EQ(peers.text, QStringLiteral("forward aten::linear, backward evaluate_function: AddmmBackward0"));
  }
  for (const char* name : {"aten::gelu", "aten::view"})
    EXPECT_EQ(autograd_peers(run, named(run, name)).last.position, kNoPosition) << name;
}

}  // namespace
}  // namespace swinscope::gui
