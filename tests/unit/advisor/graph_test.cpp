// Graphs that other tools got wrong, and traces of which there is none.
#include "advisor/graph.h"

#include <gmock/gmock.h>

#include "analyzer/importers/open.h"
#include "tests/unit/advisor/replayed.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

const Stream kMain{7};
const Stream kSide{8};
using Lines = std::vector<std::string>;

// Holistic Trace Analysis #290: a graph launch on the path, whose kernels were lost.
TEST(OthersBugs, HtaNumber290AGraphLaunchOnThePath) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::uint32_t graph = rank.call("cudaGraphLaunch", 0, 10);
  rank.kernel("first", graph, 5, 30, kMain, 1);
  rank.kernel("second", graph, 31, 50, kMain, 2);
  rank.kernel("third", graph, 51, 70, kMain, 3);
  rank.call("cudaDeviceSynchronize", 12, 74);
  rank.launch("after", 80, 85, 90);
  rank.step(0, 100);
  Replayed run(hand.build());
  EXPECT_EQ(run.call_node(0).ops.size(), 3U);
  EXPECT_EQ(run.differences(), Lines{});
  run.last("second", 9);
  run.again();
  EXPECT_EQ(run.at("third"), Times(41, 60));
  EXPECT_EQ(run.call_at(12), Times(12, 64));
  EXPECT_EQ(run.step(), 90);
}

// A graph launch takes far longer than a launch until its first kernel starts, and there are few of them.
TEST(OthersBugs, HtaNumber290AGraphLaunchHasALatencyOfItsOwn) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 20; ++i)
    rank.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  for (std::int64_t s = 0; s < 3; ++s) {
    const std::int64_t begin = 1'000 * (s + 1);
    const std::uint32_t graph = rank.call("cudaGraphLaunch", begin, begin + 700);
    rank.kernel(fmt::format("first {}", s), graph, begin + 600, begin + 700, kMain, 1);
    rank.kernel(fmt::format("second {}", s), graph, begin + 701, begin + 900, kMain, 2);
    rank.call("cudaDeviceSynchronize", begin + 702, begin + 904);
    rank.step(begin, begin + 950);
  }
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), run.traced_step());
}

// Holistic Trace Analysis #113: nested calls of a thread made a cycle. What another call encloses is part of it.
TEST(OthersBugs, HtaNumber113ACycleFromNestedStacks) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("a", 0, 5, 45);
  rank.call("cudaDeviceSynchronize", 4, 48);
  rank.call("cuCtxSynchronize", 6, 48);
  rank.call("cuStreamSynchronize", 7, 47);
  const std::uint32_t outer = rank.call("cudaMemsetAsync", 50, 60);
  rank.kernel("b", outer, 62, 64);
  rank.call("cuMemsetD8Async", 51, 61);  // outlasts it by a tick of the clock
  rank.launch("c", 62, 67, 70);
  rank.launch("meanwhile", 5, 10, 20, kSide, 2);  // between the begins of the outer and the inner wait
  rank.step(0, 80);
  Replayed run(hand.build());
  EXPECT_EQ(run.graph.ranks[0].calls.size(), 5U);
  EXPECT_EQ(run.times.unmatched, 0);
  EXPECT_EQ(run.violations(), Lines{});
  EXPECT_EQ(run.call_at(4), Times(4, 48));
  EXPECT_EQ(run.at("c").first, 67);
}

// Chakra #126: streams were serialized that were not.
TEST(OthersBugs, ChakraNumber126StreamsThatRunSideBySideStaySo) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 6; ++i) {
    rank.launch(fmt::format("a{}", i), 20 * i, 20 * i + 5, 20 * i + 24);
    rank.launch(fmt::format("b{}", i), 20 * i + 4, 20 * i + 9, 20 * i + 28, kSide);
  }
  rank.step(0, 130);
  Replayed run(hand.build());
  EXPECT_EQ(run.graph.ranks[0].op_waits.size(), 0U);
  EXPECT_EQ(run.differences(), Lines{});
  run.last("a2", 60);
  run.again();
  EXPECT_EQ(run.at("b3"), Times(69, 88));
}

// Chakra #215: GPU operations without successors were dropped, and the end of the step with them.
TEST(OthersBugs, ChakraNumber215GpuOperationsWithoutSuccessors) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 6; ++i)
    rank.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  rank.launch("nobody waits", 110, 115, 400, kSide);
  rank.step(0, 130);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 400);
  run.last("nobody waits", 185);
  run.again();
  EXPECT_EQ(run.step(), 300);
}

// TraceLens #577: two ranks in one file have the same correlation ids, and kernels went to the other's launches.
TEST(OthersBugs, TraceLensNumber577CorrelationIdsOfTwoRanksInOneFile) {
  const TempFolder folder;
  std::string events;
  for (int rank = 0; rank < 2; ++rank) {
    const int pid = 10 + 10 * rank;
    events += fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":{},"tid":1,"ts":{},"dur":200}},)", pid,
        10 + 500 * rank);
    for (int i = 1; i < 6; ++i) {
      const int ts = 10 + 500 * rank + 20 * i;
      events += launch_event(i, ts, 2, pid, 1) + ",";
      events += fmt::format(R"({{"ph":"X","cat":"kernel","name":"k{}","pid":{},"tid":7,"ts":{},"dur":3,"args":{{)"
                            R"("device":{},"context":1,"stream":7,"correlation":{}}}}})",
                            i, rank, ts + 5, rank, i) +
                (rank == 1 && i == 5 ? "" : ",");
    }
  }
  write_file(folder / "t.json", kineto_document(events));
  const Trace trace = open_trace(folder / "t.json");
  ASSERT_EQ(trace.ranks.size(), 2U);
  const RunFacts facts(trace, {});
  const DependencyGraph graph = make_graph(facts);
  ASSERT_EQ(graph.ranks.size(), 2U);
  const Replay times = replay(graph);
  for (std::size_t r = 0; r < 2; ++r) {
    const Rank& rank = trace.ranks[graph.ranks[r].rank_index];
    ASSERT_EQ(graph.ranks[r].ops.size(), 5U);
    for (NodeIndex op = 0; op < 5; ++op) {
      const OpNode& node = graph.ranks[r].ops[op];
      ASSERT_NE(node.call, kNoNode);
      EXPECT_EQ(rank.gpu.start_ns[node.event] - rank.api.start_ns[graph.ranks[r].calls[node.call].event], 5'000);
      EXPECT_EQ(times.ranks[r].ops[op].start_ns, rank.gpu.start_ns[node.event]);
    }
  }
}

// nsys-ai: shares above 100 %, from times of threads that were added up although they passed side by side.
TEST(OthersBugs, NsysAiTimesOfThreadsAreNotAddedUp) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::uint64_t thread = 1; thread <= 4; ++thread) {
    for (std::int64_t i = 0; i < 10; ++i) {
      const Stream stream{static_cast<std::uint32_t>(thread)};
      rank.kernel(fmt::format("k{} of {}", i, thread), rank.call("cudaLaunchKernel", 10 * i, 10 * i + 9, thread),
                  10 * i + 5, 10 * i + 12, stream);
    }
  }
  rank.step(0, 110);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 110);
  // A call of each thread that is 5 shorter saves 5, not 20.
  for (CallNode& call : run.graph.ranks[0].calls)
    if (call.before == kNoNode) call.own_ns -= 5'000;
  run.again();
  EXPECT_EQ(run.step(), 105);
}

class Refusals : public testing::Test {
 protected:
  Error refusal() {
    trace_ = hand_.build();
    const RunFacts facts(trace_, {});
    const std::optional<Error> error = error_of([&] { make_graph(facts); });
    if (!error) throw std::runtime_error("there is a graph");
    EXPECT_EQ(error->kind(), ErrorKind::kUsage);
    return *error;
  }
  HandTrace hand_;
  HandRank& rank_ = hand_.add_rank();
  Trace trace_;
};

TEST_F(Refusals, WithoutSteps) {
  for (std::int64_t i = 0; i < 5; ++i)
    rank_.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  const Error error = refusal();
  EXPECT_STREQ(error.what(), "there is no step to replay");
  EXPECT_EQ(error.hint(), "name them with --step REGEX, or annotate them with NVTX");
}

TEST_F(Refusals, WithoutLaunches) {
  rank_.kernel("from nowhere", 0, 200, 210);
  rank_.step(0, 220);
  const Error error = refusal();
  EXPECT_EQ(error.cause(), "of 1 GPU events 1 have no launch that was recorded");
  EXPECT_THAT(error.hint(), testing::HasSubstr("record the runtime's calls"));
}

TEST_F(Refusals, WhereLaunchesWereLost) {
  for (std::int64_t i = 0; i < 9; ++i)
    rank_.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  rank_.kernel("from nowhere", 0, 200, 210);
  rank_.step(0, 220);
  const Error error = refusal();
  EXPECT_EQ(error.cause(), "of 10 GPU events 1 have no launch that was recorded");
  EXPECT_THAT(error.hint(), testing::HasSubstr("calls were lost"));
}

// The host runs ahead: three kernels of 30 were launched before the recording began, two of 10 within the step.
TEST(Graph, KeepsWhatWasLaunchedBeforeTheRecordingBegan) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 3; ++i)
    rank.kernel(fmt::format("early{}", i), 0, 30 * i + 1, 30 * (i + 1));
  rank.kernel("first", rank.call("cudaLaunchKernel", 5, 7), 91, 101);
  rank.kernel("second", rank.call("cudaLaunchKernel", 9, 11), 102, 112);
  rank.call("cudaDeviceSynchronize", 20, 117);
  rank.step(2, 120);
  Replayed run(hand.build());
  EXPECT_THAT(run.differences(), testing::IsEmpty());
  run.last("second", 20);
  run.again();
  EXPECT_EQ(run.at("early2"), Times(61, 90));
  EXPECT_EQ(run.at("second"), Times(102, 122));
  EXPECT_EQ(run.call_at(20), Times(20, 127));
}

TEST_F(Refusals, WithGraphsThatWereRecordedAsAWhole) {
  rank_.whole_graph(rank_.call("cudaGraphLaunch", 0, 5), 10, 100);
  rank_.step(0, 110);
  const Error error = refusal();
  EXPECT_NE(error.cause().find("1 CUDA graphs were recorded as one event each"), std::string::npos);
  EXPECT_EQ(error.hint(), "record with --cuda-graph-trace node");
}

TEST_F(Refusals, WithoutGpuEvents) {
  rank_.call("cudaLaunchKernel", 0, 5);
  rank_.step(0, 110);
  const Error error = refusal();
  EXPECT_EQ(error.cause(), "the trace has no GPU events");
  EXPECT_EQ(error.hint(), "record CUDA, too");
}

}  // namespace
}  // namespace swinscope::test
