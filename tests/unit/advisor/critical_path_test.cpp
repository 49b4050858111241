// What a step waits for: chains that are known by hand, and sums that hold for whatever trace.
#include "advisor/critical_path.h"

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/advisor/random_runs.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using Lines = std::vector<std::string>;

const Stream kSide{8};
constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32(Args)";

CriticalPath path_of(const Replayed& run) { return find_critical_path(run.graph, run.times, run.facts); }

// "0 memory a 5..45": rank, cause, what, and times in microseconds.
Lines pieces_of(const Replayed& run) {
  Lines lines;
  for (const PathPiece& piece : path_of(run).pieces) {
    const RankGraph& nodes = run.graph.ranks[piece.rank];
    const Rank& rank = run.trace.ranks[nodes.rank_index];
    std::string_view name = "-";
    if (piece.op != kNoNode) name = run.trace.text(rank.gpu.short_name[nodes.ops[piece.op].event]);
    if (piece.call != kNoNode) name = run.trace.text(rank.api.name[nodes.calls[piece.call].event]);
    lines.push_back(fmt::format("{} {} {} {}..{}", piece.rank, path_cause_name(piece.cause), name,
                                piece.time.begin_ns / 1'000, piece.time.end_ns / 1'000));
  }
  return lines;
}

TEST(CriticalPath, GoesFromTheHostThroughKernelsAndBack) {
  const Replayed run(trace_of_step([](HandStep& step) { step.kernel(kGemm, 100).kernel(kNorm, 50); }));
  EXPECT_EQ(
      pieces_of(run),
      (Lines{"0 delay of the GPU ampere_sgemm_128x64_tn 0..5", "0 compute ampere_sgemm_128x64_tn 5..105",
             "0 delay of the GPU layer_norm_kernel 105..106", "0 memory layer_norm_kernel 106..156",
             "0 CUDA calls cudaDeviceSynchronize 156..161", "0 host between calls cudaDeviceSynchronize 161..163"}));
  const CriticalPath path = path_of(run);
  EXPECT_EQ(path.steps, 1);
  EXPECT_EQ(path.total_ns(), 163'000);

  const Table causes = path_cause_table(path);
  const std::size_t ns = find_column(causes, "per_step_ns");
  const std::size_t count = find_column(causes, "pieces");
  const std::array<std::tuple<std::string, std::int64_t, std::int64_t>, 7> expected = {
      {{"compute", 100'000, 1},
       {"memory", 50'000, 1},
       {"unknown kernels", 0, 0},
       {"transfer of collectives", 0, 0},
       {"delay of the GPU", 6'000, 2},
       {"CUDA calls", 5'000, 1},
       {"host between calls", 2'000, 1}}};
  ASSERT_EQ(causes.rows.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(causes.rows[i][0], Cell(std::get<0>(expected[i])));
    EXPECT_EQ(causes.rows[i][ns], Cell(std::get<1>(expected[i]))) << std::get<0>(expected[i]);
    EXPECT_EQ(causes.rows[i][count], Cell(std::get<2>(expected[i]))) << std::get<0>(expected[i]);
  }
  const Table names = path_name_table(path, run.graph, run.facts);
  ASSERT_EQ(names.rows.size(), 6U);
  EXPECT_EQ(names.rows[0][0], Cell("ampere_sgemm_128x64_tn"));
  EXPECT_EQ(names.rows[2][0], Cell("before ampere_sgemm_128x64_tn"));  // before the wait, which takes 5 as well
  EXPECT_EQ(names.rows[4][0], Cell("after cudaDeviceSynchronize"));
}

TEST(CriticalPath, WorkIsNamedAsInOtherTables) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", 0, 5, 45);
  rank.launch("void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)", 4, 45, 75);
  rank.sync(SyncType::kContext, 8, 80);
  rank.step(0, 85);
  const Replayed run(hand.build());
  const CriticalPath path = path_of(run);
  const auto work = [&](NameStyle style) {
    std::vector<std::string> names;
    for (const auto& row : path_name_table(path, run.graph, run.facts, style).rows) {
      if (row[1] == Cell("unknown kernels") || row[1] == Cell("memory")) names.push_back(std::get<std::string>(row[0]));
    }
    return names;
  };
  EXPECT_EQ(work(NameStyle::kShort), (std::vector<std::string>{"vectorized_elementwise_kernel [CUDAFunctor_add]",
                                                               "vectorized_elementwise_kernel [MulFunctor]"}));
  EXPECT_EQ(work(NameStyle::kFull).at(1),
            "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)");
}

// "b" of the other stream waits for "a": what "a" takes is on the path, the launch of "b" is not.
TEST(CriticalPath, GoesThroughAWaitOfAStream) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch(kGemm, 0, 5, 45);
  rank.record({1, 41}, 4);
  rank.sync(SyncType::kStreamWaitEvent, 6, 7, kSide, {1, 41});
  rank.launch(kAdd, 8, 47, 60, kSide);
  rank.launch(kNorm, 12, 17, 19, {9});
  rank.sync(SyncType::kContext, 20, 65);
  rank.step(0, 70);
  const Replayed run(hand.build());
  ASSERT_EQ(run.differences(), Lines{});
  EXPECT_EQ(
      pieces_of(run),
      (Lines{"0 delay of the GPU ampere_sgemm_128x64_tn 0..5", "0 compute ampere_sgemm_128x64_tn 5..45",
             "0 delay of the GPU vectorized_elementwise_kernel 45..47", "0 memory vectorized_elementwise_kernel 47..60",
             "0 CUDA calls cudaDeviceSynchronize 60..65", "0 host between calls cudaDeviceSynchronize 65..70"}));
}

// Rank 0 comes to the collective at 5, rank 1 at 101 after its product; the transfer takes 54, and what follows on rank
// 0 ends its step, the longer one.
TEST(CriticalPath, GoesToTheRankThatACollectiveWaitedFor) {
  HandTrace hand;
  HandRank& early = hand.add_rank();
  early.launch(kAllReduce, 0, 5, 155);
  early.launch(kNorm, 4, 156, 176);
  early.step(0, 170);
  HandRank& late = hand.add_rank();
  late.launch(kGemm, 0, 5, 100);
  late.launch(kAllReduce, 4, 101, 155);
  late.step(0, 170);
  const Replayed run(hand.build());
  ASSERT_EQ(run.differences(), Lines{});
  EXPECT_EQ(pieces_of(run),
            (Lines{"1 delay of the GPU ampere_sgemm_128x64_tn 0..5", "1 compute ampere_sgemm_128x64_tn 5..100",
                   "1 delay of the GPU ncclDevKernel_AllReduce_Sum_f32 100..101",
                   "0 transfer of collectives ncclDevKernel_AllReduce_Sum_f32 101..155",
                   "0 delay of the GPU layer_norm_kernel 155..156", "0 memory layer_norm_kernel 156..176"}));
  EXPECT_EQ(path_of(run).total_ns(), 176'000);
}

// The queue has 1,024 places: launch i returns when kernel i - 1,024 has ended. The last one, on a stream of its own,
// launches what outlasts everything: its path leads to the kernel that made room, and along that one's stream.
TEST(CriticalPath, GoesThroughALaunchThatWaitedForRoom) {
  constexpr std::int64_t kPlaces = 1'024;
  constexpr std::int64_t kLaunches = 1'200;
  constexpr std::int64_t kLast = kLaunches - 1;
  constexpr std::int64_t kDuration = 20'000'000;
  constexpr std::int64_t kBefore = 40;  // often enough to show what a launch into an idle stream takes
  constexpr std::int64_t kBegin = 20 * kBefore;
  const auto end_of = [](std::int64_t kernel) { return kBegin + 10'005 + std::int64_t{10'001} * kernel; };
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < kBefore; ++i)
    rank.launch("before", 20 * i, 20 * i + 5, 20 * i + 8);
  std::int64_t now = kBegin;
  for (std::int64_t i = 0; i < kLaunches; ++i) {
    const std::int64_t begin = now;
    now = i < kPlaces ? begin + 2 : end_of(i - kPlaces) + 2;
    const std::uint32_t call = rank.call("cudaLaunchKernel", begin, now);
    if (i < kLast) rank.kernel(kGemm, call, end_of(i) - 10'000, end_of(i));
  }
  const std::int64_t start = end_of(kLast - kPlaces) + 5;
  rank.kernel("outlasts", kBefore + kLaunches, start, start + kDuration, kSide);
  rank.step(kBegin, now);
  const Replayed run(hand.build());
  ASSERT_EQ(run.graph.ranks[0].queue_length, kPlaces);
  ASSERT_EQ(run.at("outlasts"), Times(start, start + kDuration));

  const CriticalPath path = path_of(run);
  EXPECT_EQ(path.total_ns(), 1'000 * (start + kDuration - kBegin));
  // Each kernel until then with the delay before it, and so the last one.
  constexpr std::size_t kKernels = kLast - kPlaces + 1;
  ASSERT_EQ(path.pieces.size(), 2 * kKernels + 2);
  for (std::size_t i = 0; i < path.pieces.size(); ++i) {
    EXPECT_EQ(path.pieces[i].op, i < 2 * kKernels ? static_cast<NodeIndex>(kBefore + i / 2) : run.op("outlasts")) << i;
    EXPECT_EQ(path.pieces[i].cause == PathCause::kDelay, i % 2 == 0) << i;
  }
  EXPECT_EQ(path.pieces[2 * kKernels].time.length(), 5'000);
  EXPECT_EQ(path.pieces.back().time.length(), 1'000 * kDuration);
}

TEST(CriticalPath, IsOfTheSlowestRank) {
  HandTrace hand;
  for (const std::int64_t duration : {100, 300, 200}) {
    HandStep step(hand.add_rank());
    step.kernel(kGemm, duration).wait().end();
  }
  const Replayed run(hand.build());
  const CriticalPath path = path_of(run);
  EXPECT_EQ(path.total_ns(), 312'000);
  for (const PathPiece& piece : path.pieces)
    EXPECT_EQ(piece.rank, 1U);
}

// Each piece begins where the one before it ends, on the common clock, and together they are the steps.
void expect_whole(const Replayed& run, unsigned seed) {
  const CriticalPath path = path_of(run);
  ASSERT_FALSE(path.pieces.empty()) << "seed " << seed;
  const auto common = [&](const PathPiece& piece, std::int64_t ns) {
    return ns + run.graph.ranks[piece.rank].clock_offset_ns;
  };
  for (std::size_t i = 0; i < path.pieces.size(); ++i) {
    const PathPiece& piece = path.pieces[i];
    ASSERT_GT(piece.time.length(), 0) << "seed " << seed << ", piece " << i;
    if (i == 0) continue;
    const PathPiece& before = path.pieces[i - 1];
    ASSERT_EQ(common(piece, piece.time.begin_ns), common(before, before.time.end_ns)) << "seed " << seed << ", " << i;
  }
  ASSERT_EQ(path.total_ns() / path.steps, replayed_step_ns(run.graph, run.times, run.facts)) << "seed " << seed;
  std::int64_t causes_ns = 0;
  const Table causes = path_cause_table(path);
  for (const auto& row : causes.rows)
    causes_ns += std::get<std::int64_t>(row[find_column(causes, "per_step_ns")]);
  ASSERT_NEAR(static_cast<double>(causes_ns), static_cast<double>(path.total_ns()) / static_cast<double>(path.steps),
              8.0)
      << "seed " << seed;
}

TEST(RandomPath, IsTheStepOfAProgram) {
  for (unsigned seed = 0; seed < 60; ++seed)
    expect_whole(Replayed(Program(seed, 1'000).run()), seed);
}

TEST(RandomPath, IsTheStepOfWhateverHappened) {
  for (unsigned seed = 0; seed < 100; ++seed)
    expect_whole(Replayed(random_hand_trace(seed, 1, seed % 2 == 0)), seed);
}

TEST(RandomPath, IsTheStepOfRanksThatWaitForEachOther) {
  std::int64_t through_others = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Replayed run(random_hand_trace(seed, 3, seed % 2 == 0));
    expect_whole(run, seed);
    const CriticalPath path = path_of(run);
    for (const PathPiece& piece : path.pieces)
      through_others += piece.rank == path.pieces.back().rank ? 0 : 1;
  }
  EXPECT_GT(through_others, 0);
}

}  // namespace
}  // namespace swinscope::test
