// Several ranks in one PyTorch trace: which events become whose.
#include "analyzer/importers/kineto_ranks.h"

#include "analyzer/importers/kineto.h"
#include "analyzer/trace/trace_builder.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

TEST(RankLabel, IsReadFromNames) {
  const auto number = [](std::string_view text) { return parse_rank_label(text).number.value_or(-1); };
  EXPECT_EQ(number("rank0 123"), 0);
  EXPECT_EQ(number("[rank3] python"), 3);
  EXPECT_EQ(number("Rank: 12"), 12);
  EXPECT_EQ(number("[TP-1] 4000"), 1);
  EXPECT_EQ(number("[TP01] 0"), 1);
  EXPECT_EQ(number("[TP01-DP02] 0"), -1);
  EXPECT_EQ(number("node1 rank 9"), 9);
  for (const char* text : {"GPU 0", "python3", "4000", "", "stream 7", "CPU", "step1 2"})
    EXPECT_EQ(parse_rank_label(text).identity, "") << text;
  EXPECT_EQ(parse_rank_label("[TP00] 4000").identity, parse_rank_label("[TP00] 0").identity);
  EXPECT_NE(parse_rank_label("[TP00-DP01]").identity, parse_rank_label("[TP01-DP00]").identity);
}

// One rank of a merged trace: two steps, in each an operator, a launch and its kernel, 20 us later. Ranks count their
// correlation ids from 1, and begin 100 us apart.
struct Part {
  std::string pid;  // as JSON
  std::string gpu;  // the process id of GPU rows, as JSON
  int device = 0;
  int shift = 0;  // us
  int correlation = 1;
  int launches = 2;
};

struct Line {
  int ts;
  std::string text;
};

std::vector<Line> lines_of(const Part& part) {
  std::vector<Line> lines;
  for (int i = 0; i < part.launches; ++i) {
    const int ts = 1000 * (i + 1) + part.shift;
    const int id = part.correlation + i;
    const auto host = [&](const char* category, const std::string& name, int at, int dur, const std::string& args) {
      lines.push_back({at, fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":11,"ts":{},"dur":{},)"
                                       R"("args":{{{}}}}})",
                                       category, name, part.pid, at, dur, args)});
    };
    host("user_annotation", fmt::format("ProfilerStep#{}", i), ts, 900, "");
    host("cpu_op", "aten::mm", ts + 5, 20, R"("External id":1)");
    host("cuda_runtime", "cudaLaunchKernel", ts + 10, 4, fmt::format(R"("correlation":{})", id));
    lines.push_back(
        {ts + 30, fmt::format(R"({{"ph":"X","cat":"kernel","name":"gemm","pid":{},"tid":7,"ts":{},"dur":400,)"
                              R"("args":{{"device":{},"context":1,"stream":7,"correlation":{}}}}})",
                              part.gpu, ts + 30, part.device, id)});
  }
  return lines;
}

std::string merged(const std::vector<Part>& parts, bool by_time, const std::string& metadata = "") {
  std::vector<Line> all;
  for (const Part& part : parts) {
    for (Line& line : lines_of(part))
      all.push_back(std::move(line));
  }
  if (by_time) std::stable_sort(all.begin(), all.end(), [](const Line& a, const Line& b) { return a.ts < b.ts; });
  std::string events = metadata;
  for (const Line& line : all)
    events += (events.empty() ? "" : ",\n") + line.text;
  return kineto_document(events, R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},)"
                                 R"("deviceProperties": [{"id": 0, "name": "A"}, {"id": 1, "name": "A"}],)");
}

std::string process_name(const std::string& pid, const std::string& name) {
  return fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"ts":0,"args":{{"name":"{}"}}}})", pid, name);
}

class MergedTrace : public testing::Test {
 protected:
  // The ranks, each as "number pid: steps, kernels, launch delay in us of every kernel".
  std::vector<std::string> ranks(const std::string& bytes) {
    write_file(folder_ / "t.json", bytes);
    TraceBuilder builder;
    report_ = import_kineto(folder_ / "t.json", builder);
    trace_ = Trace();
    builder.move_into(trace_);
    std::vector<std::string> lines;
    for (const Rank& rank : trace_.ranks)
      lines.push_back(describe_rank(rank));
    return lines;
  }
  std::string describe_rank(const Rank& rank) const {
    int steps = 0;
    for (const StringId name : rank.ranges.name)
      steps += trace_.text(name).starts_with("ProfilerStep#") ? 1 : 0;
    std::string line = fmt::format("{} {}: {} steps, delays", rank.run.rank, pid_of(rank.run.global_pid), steps);
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      const EventIndex launch = rank.gpu.launch[i];
      line +=
          launch == kNoEvent ? " none" : fmt::format(" {}", (rank.gpu.start_ns[i] - rank.api.start_ns[launch]) / 1000);
    }
    return line;
  }

  TempFolder folder_;
  Trace trace_;
  ImportReport report_;
};

using Lines = std::vector<std::string>;

const Lines kTwoRanks = {"0 4000: 2 steps, delays 20 20", "1 4001: 2 steps, delays 20 20"};

TEST_F(MergedTrace, OneBehindTheOther) {
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}, {"4001", "1", 1, 100}}, false)), kTwoRanks);
  EXPECT_EQ(trace_.ranks[0].run.world_size, 2);
  ASSERT_EQ(trace_.ranks[1].run.gpus.size(), 1U);
  EXPECT_EQ(trace_.ranks[1].run.gpus[0].device, 1);
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(
      report_.warnings[0].find("2 ranks in one file: processes 4000, 4001; the ranks are numbered in the order of "
                               "the processes"),
      std::string::npos)
      << report_.warnings[0];
}

// Each process sees one GPU, which it calls 0.
TEST_F(MergedTrace, OneBehindTheOtherOnTheSameDevice) {
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}, {"4001", "0", 0, 100}}, false)), kTwoRanks);
}

TEST_F(MergedTrace, AsAList) {
  std::string text = merged({{"4000", "0", 0, 0}, {"4001", "1", 1, 100}}, false);
  const std::size_t begin = text.find('[', text.find("traceEvents"));
  EXPECT_EQ(ranks(text.substr(begin, text.rfind(']') + 1 - begin)), kTwoRanks);
}

TEST_F(MergedTrace, LabelledProcesses) {
  for (const bool by_time : {false, true}) {
    EXPECT_EQ(ranks(merged({{R"("[TP00] 4000")", R"("[TP00] 0")", 0, 0}, {R"("[TP01] 4001")", R"("[TP01] 0")", 0, 100}},
                           by_time)),
              kTwoRanks);
    // The labels say which rank is which, not the order.
    EXPECT_EQ(ranks(merged({{R"("rank5 4001")", R"("rank5 0")", 0, 0}, {R"("rank2 4000")", R"("rank2 0")", 0, 100}},
                           by_time)),
              (Lines{"2 4000: 2 steps, delays 20 20", "5 4001: 2 steps, delays 20 20"}));
  }
}

TEST_F(MergedTrace, LabelledByProcessNames) {
  const std::string names = process_name("4000", "rank 1: python") + "," + process_name("4001", "rank 0: python") +
                            "," + process_name("100", "rank 1: GPU 0") + "," + process_name("101", "rank 0: GPU 0");
  EXPECT_EQ(ranks(merged({{"4000", "100", 0, 0}, {"4001", "101", 0, 100}}, true, names)),
            (Lines{"0 4001: 2 steps, delays 20 20", "1 4000: 2 steps, delays 20 20"}));
}

TEST_F(MergedTrace, OffsetsThatAMergerAdded) {
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}, {"1004000", "1000000", 0, 100}}, true)),
            (Lines{"0 4000: 2 steps, delays 20 20", "1 1004000: 2 steps, delays 20 20"}));
}

TEST_F(MergedTrace, SortedByTimeWithCorrelationsOfTheirOwn) {
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0, 1}, {"4001", "0", 0, 100, 50}}, true)), kTwoRanks);
}

// Rank 1 launches later than the kernels of device 0 begin.
TEST_F(MergedTrace, SortedByTimeOnDevicesOfTheirOwn) {
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}, {"4001", "1", 1, 100}}, true)), kTwoRanks);
}

TEST_F(MergedTrace, WhatCannotBeToldApartIsRefused) {
  const auto error = error_of([&] { ranks(merged({{"4000", "0", 0, 0}, {"4001", "0", 0, 100}}, true)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(std::string(error->what()).find("2 ranks in one file that cannot be told apart"), std::string::npos);
  EXPECT_EQ(error->cause(), "4 of 4 GPU events may belong to more than one of the processes 4000, 4001");
}

// Of the same device, more launches in one rank: ids that only it has do not decide for the others.
TEST_F(MergedTrace, IdsOfOneRankDoNotDecideForTheOther) {
  const auto error = error_of([&] { ranks(merged({{"4000", "0", 0, 0, 1, 4}, {"4001", "0", 0, 100, 1, 2}}, true)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "4 of 6 GPU events may belong to more than one of the processes 4000, 4001");
}

TEST_F(MergedTrace, OtherProcessesOfOneRankAreNoRanks) {
  const std::string loader =
      R"({"ph":"X","cat":"cpu_op","name":"aten::stack","pid":4100,"tid":1,"ts":900,"dur":5},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGetDeviceCount","pid":4200,"tid":1,"ts":900,"dur":5,"args":{"correlation":900}})";
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}}, false, loader)), Lines{"0 4000: 2 steps, delays 20 20"});
  EXPECT_EQ(report_.warnings, Lines{});
  // With two ranks a worker goes to the rank whose process id comes before.
  EXPECT_EQ(ranks(merged({{"4000", "0", 0, 0}, {"5000", "1", 1, 100}}, true, loader)),
            (Lines{"0 4000: 2 steps, delays 20 20", "1 5000: 2 steps, delays 20 20"}));
  EXPECT_EQ(trace_.ranks[0].ranges.size() - trace_.ranks[1].ranges.size(), 1U);
}

}  // namespace
}  // namespace swinscope::test
