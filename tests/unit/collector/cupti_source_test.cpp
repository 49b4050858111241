// From CUPTI's records, fabricated, to the rows of the file.
#include "collector/cupti/cupti_source.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/base/clock.h"
#include "store/writer.h"
#include "tests/unit/collector/cupti_fixture.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(CuptiSourceTest, ClaimsCuptiBeforeItTouchesAnything) {
  begin();
  ASSERT_GE(state.order.size(), 4U);
  EXPECT_EQ(std::vector<std::string>(state.order.begin(), state.order.begin() + 4),
            (std::vector<std::string>{"subscribe", "clock", "buffers", "enable"}));
}

TEST_F(CuptiSourceTest, EnablesTheCallsThatAreUsedAndNoOthers) {
  begin();
  using Call = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(state.calls, ElementsAre(Call(cupti::kDriverDomain, 110), Call(cupti::kRuntimeDomain, 41),
                                       Call(cupti::kRuntimeDomain, 90), Call(cupti::kRuntimeDomain, 211)));
  EXPECT_THAT(state.kinds, Not(Contains(cupti::Kind::kRuntime)));
  EXPECT_THAT(state.kinds, Not(Contains(cupti::Kind::kSynchronization)));
}

TEST_F(CuptiSourceTest, OptionsAddKinds) {
  TraceOptions options;
  options.sync = options.overhead = options.graph_level = options.all_calls = true;
  begin(options);
  EXPECT_THAT(state.kinds, AllOf(Contains(cupti::Kind::kSynchronization), Contains(cupti::Kind::kOverhead),
                                 Contains(cupti::Kind::kGraphTrace)));
  EXPECT_EQ(state.calls.size(), state.names.size());
  RunInfo run;
  source.describe(run);
  EXPECT_TRUE(run.graph_level_only);
}

TEST_F(CuptiSourceTest, AKernelAndItsLaunchJoin) {
  begin();
  test::emit(state, test::fake_launch(5, kStart + 1000));
  test::emit(state, test::fake_kernel(5, kStart + 2000, "_ZN2at6native3fooILi4EfEEvi"));
  flush();
  EXPECT_EQ(
      row("SELECT k.start || ' ' || k.end || ' ' || r.start || ' ' || n.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
          "CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) JOIN StringIds n ON n.id = r.nameId WHERE "
          "k.globalPid = r.globalTid & 0xFFFFFFFFFF000000"),
      "2000 2500 1000 cudaLaunchKernel_v7000");
  EXPECT_THAT(rows("SELECT d.value, s.value, m.value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds d ON d.id = "
                   "demangledName JOIN StringIds s ON s.id = shortName JOIN StringIds m ON m.id = mangledName"),
              ElementsAre("void at::native::foo<4, float>(int)", "foo", "_ZN2at6native3fooILi4EfEEvi"));
  EXPECT_EQ(row("SELECT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME"), std::to_string(make_global_tid(kPid, 99)));
}

TEST_F(CuptiSourceTest, EveryColumnOfAKernelHasItsValue) {
  begin();
  cupti::Kernel k = test::fake_kernel(6, kStart, "gemm");
  k.cache_config = 0x21;
  k.device = 3;
  k.grid[1] = 9;
  k.grid[2] = 10;
  k.block[1] = 5;
  k.block[2] = 6;
  k.static_shared = 11;
  k.dynamic_shared = 12;
  k.local_per_thread = 13;
  k.local_total_64 = std::uint64_t{1} << 40U;
  k.launch_type = 1;
  k.shared_executed = 14;
  k.graph_node = std::uint64_t{7} << 32U;
  k.graph = 15;
  k.cluster[0] = 2;
  k.cluster[1] = 3;
  k.cluster[2] = 4;
  test::emit(state, k);
  flush();
  EXPECT_THAT(
      rows("SELECT deviceId, contextId, streamId, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, "
           "blockX, "
           "blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, "
           "sharedMemoryExecuted, graphNodeId, graphId, clusterX, clusterY, clusterZ FROM CUPTI_ACTIVITY_KIND_KERNEL"),
      ElementsAre("3", "1", "7", "2", "2", "32", "8", "9", "10", "4", "5", "6", "11", "12", "13", "1099511627776", "14",
                  "30064771072", "15", "2", "3", "4"));
}

TEST_F(CuptiSourceTest, CopiesAndSetsHaveTheNumberingOfNsightSystems) {
  begin();
  cupti::Memcpy copy{};
  copy.kind = cupti::Kind::kMemcpy;
  copy.copy_kind = 1;
  copy.src_kind = 1;  // CUPTI's pageable
  copy.dst_kind = 3;  // CUPTI's device
  copy.bytes = 4096;
  copy.start = copy.end = kStart + 10;
  test::emit(state, copy);
  cupti::PeerCopy peer{};
  peer.kind = cupti::Kind::kPeerCopy;
  peer.copy_kind = 10;
  peer.bytes = 8;
  peer.start = kStart + 20;
  peer.end = kStart + 30;
  peer.src_device = 1;
  peer.dst_device = 2;
  test::emit(state, peer);
  cupti::Memset set{};
  set.kind = cupti::Kind::kMemset;
  set.value = 255;
  set.bytes = 64;
  set.start = kStart + 40;
  set.end = kStart + 50;
  set.memory_kind = 0;
  test::emit(state, set);
  flush();
  EXPECT_THAT(
      rows("SELECT copyKind, srcKind, dstKind, bytes, coalesce(srcDeviceId, 'none') FROM CUPTI_ACTIVITY_KIND_MEMCPY "
           "ORDER BY start"),
      ElementsAre("1", "0", "2", "4096", "none", "10", "7", "7", "8", "1"));
  EXPECT_THAT(rows("SELECT value, bytes, memKind FROM CUPTI_ACTIVITY_KIND_MEMSET"), ElementsAre("255", "64", "7"));
}

TEST_F(CuptiSourceTest, SynchronizationsFindTheirDevice) {
  TraceOptions options;
  options.sync = options.overhead = true;
  begin(options);
  cupti::Context context{};
  context.kind = cupti::Kind::kContext;
  context.context = 4;
  context.device = 2;
  test::emit(state, context);
  cupti::Synchronization sync{};
  sync.kind = cupti::Kind::kSynchronization;
  sync.type = 4;
  sync.start = kStart + 10;
  sync.end = kStart + 20;
  sync.context = 4;
  sync.stream = 0xFFFFFFFF;
  sync.event = 0xFFFFFFFF;
  test::emit(state, sync);
  cupti::Overhead overhead{};
  overhead.kind = cupti::Kind::kOverhead;
  overhead.overhead_kind = 1U << 16U;
  overhead.start = kStart + 30;
  overhead.end = kStart + 40;
  test::emit(state, overhead);
  flush();
  EXPECT_THAT(rows("SELECT deviceId, streamId, syncType, eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
              ElementsAre("2", "0", "4", "0"));
  EXPECT_THAT(rows("SELECT overheadType, value FROM CUPTI_ACTIVITY_KIND_OVERHEAD JOIN StringIds ON id = nameId"),
              ElementsAre("3", "CUPTI buffer flush"));
}

TEST_F(CuptiSourceTest, ANameThatComesAgainAtTheSamePlaceIsReadAnew) {
  begin();
  char name[] = "first";  // a module that was unloaded, and another one in its place
  test::emit(state, test::fake_kernel(1, kStart, name));
  flush();
  std::memcpy(name, "other", sizeof(name));
  test::emit(state, test::fake_kernel(2, kStart, name));
  flush();
  EXPECT_THAT(
      rows("SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName ORDER BY correlationId"),
      ElementsAre("first", "other"));
}

TEST_F(CuptiSourceTest, KernelsWithoutTimesAreCountedNotStored) {
  begin();
  cupti::Kernel kernel = test::fake_kernel(1, kStart, "k");
  kernel.start = kernel.end = 0;
  test::emit(state, kernel);
  test::emit(state, test::fake_kernel(2, kStart, "k"));
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "1");
  EXPECT_THAT(drops(), ElementsAre("1 kernel: CUPTI gave no times for it"));
}

TEST_F(CuptiSourceTest, WithoutBuffersRecordsAreCountedNotWaitedFor) {
  begin();
  int refused = 0;
  for (std::uint32_t i = 0; i < 500; ++i)
    refused += test::emit(state, test::fake_kernel(i + 1, kStart + i, "k")) ? 0 : 1;
  EXPECT_GT(refused, 0);  // eight buffers of 4096 bytes
  state.dropped = static_cast<std::size_t>(refused);
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), std::to_string(500 - refused));
  EXPECT_THAT(drops(), ElementsAre(HasSubstr(fmt::format("{} CUDA record: CUPTI had no buffer", refused))));
  EXPECT_EQ(fact("cuda.buffers_high_water_bytes"), std::to_string(8 * 4096));
  EXPECT_TRUE(test::emit(state, test::fake_kernel(1000, kStart, "k"))) << "buffers are used again";
}

TEST_F(CuptiSourceTest, ABurstAfterAQuietTimeHasMostOfTheMemory) {
  begin();
  flush();  // buffers are small now
  int kept = 0;
  for (std::uint32_t i = 0; i < 100; ++i)  // of 216 bytes: 2 buffers of 1024 bytes and 6 of 4096 hold 116
    kept += test::emit(state, test::fake_kernel(i + 1, kStart + i, "k")) ? 1 : 0;
  EXPECT_EQ(kept, 100);
}

// CUPTI makes the records of a graph's nodes when it is flushed, and waits for nobody.
TEST_F(CuptiSourceTest, AFlushThatNeedsMoreBuffersThanThereAreLosesNothing) {
  begin();
  constexpr std::uint32_t kKernels = 2000;  // 216 bytes each
  for (std::uint32_t i = 0; i < kKernels; ++i)
    state.unmade.push_back(test::fake_kernel(i + 1, kStart + i, "k"));
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), std::to_string(kKernels));
  EXPECT_THAT(drops(), IsEmpty());
  EXPECT_GT(std::stoll(fact("cuda.flush_cpu_ns")), 0) << "what it costs is said";
}

TEST_F(CuptiSourceTest, WhatWasNotCommittedIsCountedByKind) {
  begin();
  test::emit(state, test::fake_launch(1, kStart));
  test::emit(state, test::fake_kernel(1, kStart, "k"));
  flush();
  test::emit(state, test::fake_launch(2, kStart));
  test::emit(state, test::fake_launch(3, kStart));
  test::emit(state, test::fake_kernel(2, kStart, "k"));
  source.before_flush(sink);
  source.lost("the disk is full");
  EXPECT_THAT(drops(), ElementsAre("1 kernel: the disk is full", "2 CUDA call: the disk is full"));
  test::emit(state, test::fake_kernel(3, kStart, "k"));
  source.discard("the disk is full");
  EXPECT_THAT(drops(), ElementsAre("2 kernel: the disk is full", "2 CUDA call: the disk is full"));
}

TEST_F(CuptiSourceTest, AnotherToolIsNamedAndLeftAlone) {
  state.subscribe_result = cupti::kMultipleSubscribers;
  state.holder = "CUPTI for Nsight";
  begin();
  EXPECT_THAT(state.order, ElementsAre("subscribe"));
  EXPECT_EQ(fact("cuda.activity"), "not recorded: \"CUPTI for Nsight\" holds CUPTI, and only one tool can");
  flush();
  EXPECT_EQ(row("SELECT value FROM SWINSCOPE_COLLECTOR WHERE name = 'cuda.activity'"), fact("cuda.activity"));
}

TEST_F(CuptiSourceTest, WithoutCuptiTheReasonIsInTheFile) {
  source.begin([] { return OpenedCupti{nullptr, "", "no libcupti was found"}; }, {}, {}, &captured);
  EXPECT_EQ(fact("cuda.activity"), "not recorded: no libcupti was found");
  flush();
  EXPECT_TRUE(source.poll(sink));
}

TEST_F(CuptiSourceTest, CudaThatIsNotAskedForIsLeftAloneAndSaidToBe) {
  TraceOptions options;
  options.cuda = false;
  source.begin(
      []() -> OpenedCupti {
        ADD_FAILURE() << "CUPTI was opened";
        return {};
      },
      options, {}, &captured);
  source.open();
  EXPECT_EQ(fact("cuda.activity"), "left out: --trace nvtx");
  flush();
  EXPECT_TRUE(source.poll(sink));
}

TEST_F(CuptiSourceTest, ARefusedKindEndsWithItsReason) {
  state.enable_result = 35;
  begin();
  EXPECT_EQ(fact("cuda.activity"), "not recorded: CUPTI refused: error 35");
}

TEST_F(CuptiSourceTest, AWindowLeavesCuptiAloneUntilItOpens) {
  begin({}, "armed");
  EXPECT_THAT(state.order, IsEmpty());
  EXPECT_THAT(fact("cuda.activity"), HasSubstr("the window did not open: armed"));
  flush();
  source.open();
  EXPECT_THAT(state.kinds, Contains(cupti::Kind::kConcurrentKernel));
  test::emit(state, test::fake_kernel(1, kStart, "k"));
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "1");
  EXPECT_EQ(fact("cuda.activity"), "recorded: cuda,nvtx in the window armed");
}

// CUPTI selects single functions only before a context exists.
TEST_F(CuptiSourceTest, OpenedLateAllCallsAreOnAndTheUnwantedOff) {
  begin({}, "nvtx:hot");
  source.open();
  EXPECT_THAT(state.kinds, AllOf(Contains(cupti::Kind::kRuntime), Contains(cupti::Kind::kDriver)));
  using Call = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_THAT(state.calls, Not(Contains(Call(cupti::kRuntimeDomain, test::kFakeLaunch))));
  EXPECT_THAT(state.calls, Contains(Call(cupti::kRuntimeDomain, 17)));
}

TEST_F(CuptiSourceTest, AClosedWindowOpensAgain) {
  begin({}, "nvtx:hot");
  for (int i = 0; i < 2; ++i) {
    source.open();
    EXPECT_TRUE(source.is_open());
    EXPECT_THAT(state.kinds, Contains(cupti::Kind::kConcurrentKernel));
    source.close();
    EXPECT_FALSE(source.is_open());
    EXPECT_THAT(state.kinds, Not(Contains(cupti::Kind::kConcurrentKernel)));
  }
  EXPECT_EQ(std::count(state.order.begin(), state.order.end(), "subscribe"), 1);
}

TEST_F(CuptiSourceTest, TheProfilerCallsOpenAndClose) {
  state.names[{cupti::kDriverDomain, 70}] = "cuProfilerStart";
  state.names[{cupti::kDriverDomain, 71}] = "cuProfilerStop";
  begin({}, "cudaProfilerApi");
  EXPECT_THAT(state.kinds, Not(Contains(cupti::Kind::kConcurrentKernel)));
  const std::uint32_t enter = 0;
  const std::uint32_t exit = 1;
  state.callback(state.user_data, cupti::kDriverDomain, 70, &enter);
  EXPECT_TRUE(source.is_open());
  state.callback(state.user_data, cupti::kDriverDomain, 71, &enter);
  EXPECT_TRUE(source.is_open());
  state.callback(state.user_data, cupti::kDriverDomain, 71, &exit);
  EXPECT_FALSE(source.is_open());
}

TEST_F(CuptiSourceTest, TheTriggerFileOpensAndCloses) {
  const std::filesystem::path trigger = folder / "trigger";
  source.set_trigger_file(trigger.string());
  begin({}, "armed");
  flush();
  EXPECT_FALSE(source.is_open());
  std::ofstream(trigger) << "";
  flush();
  EXPECT_TRUE(source.is_open());
  std::filesystem::remove(trigger);
  flush();
  EXPECT_FALSE(source.is_open());
}

TEST_F(CuptiSourceTest, TheDurationEndsTheWindowForGood) {
  WindowOptions window;
  window.duration_ns = 1;  // has passed at the next look
  source.begin(
      [this] {
        return OpenedCupti{std::make_unique<test::FakeCupti>(state), "fake", ""};
      },
      {}, window, &captured);
  EXPECT_TRUE(source.is_open());
  flush();
  EXPECT_FALSE(source.is_open());
  source.open();
  EXPECT_FALSE(source.is_open());
}

TEST_F(CuptiSourceTest, GraphNodesReachTheThreadThatCapturesThem) {
  begin();
  cupti::GraphData graph{};
  graph.node = reinterpret_cast<void*>(std::uintptr_t{17});  // NOLINT(performance-no-int-to-ptr)
  cupti::ResourceData data{nullptr, nullptr, &graph};
  state.callback(state.user_data, cupti::kResourceDomain, cupti::kGraphNodeCreated, &data);
  graph.node = reinterpret_cast<void*>(std::uintptr_t{23});           // NOLINT(performance-no-int-to-ptr)
  graph.original_node = reinterpret_cast<void*>(std::uintptr_t{17});  // NOLINT(performance-no-int-to-ptr)
  state.callback(state.user_data, cupti::kResourceDomain, cupti::kGraphNodeCloned, &data);
  EXPECT_THAT(nodes(), ElementsAre("17 of 0", "23 of 17"));
}

TEST_F(CuptiSourceTest, TheGpuIsDescribed) {
  begin();
  cupti::Device device{};
  device.kind = cupti::Kind::kDevice;
  device.name = "NVIDIA H200";
  device.memory_bytes = 150'000;
  device.multiprocessors = 132;
  device.compute_major = 9;
  device.l2_bytes = 60;
  device.memory_bandwidth = 4'814'540'000;  // kB/s
  device.clock_khz = 1'980'000;
  device.is_visible = 1;
  for (int i = 0; i < 16; ++i)
    device.uuid[i] = static_cast<std::uint8_t>(i);
  test::emit(state, device);
  device.id = 1;
  device.is_visible = 0;  // CUDA_VISIBLE_DEVICES
  test::emit(state, device);
  flush();
  EXPECT_THAT(rows("SELECT name, totalMemory, smCount, computeMajor, uuid FROM TARGET_INFO_GPU"),
              ElementsAre("NVIDIA H200", "150000", "132", "9", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"));
  EXPECT_THAT(rows("SELECT chipName, busLocation, l2CacheSize, memoryBandwidth, clockRate FROM TARGET_INFO_GPU"),
              ElementsAre("GH100", "NULL", "60", "4814540000000", "1980000000"))
      << "no driver here that could tell the bus";
}

// Armed: CUPTI told of its devices before anybody listened.
TEST_F(CuptiSourceTest, AWindowThatOpensLateAsksTheDriverForTheGpus) {
  begin({}, "armed");
  GpuInfo gpu;
  gpu.device = 1;
  gpu.name = "NVIDIA H200";
  gpu.sm_count = 132;
  state.devices = {gpu};
  flush();
  EXPECT_THAT(rows("SELECT name FROM TARGET_INFO_GPU"), IsEmpty()) << "nothing is recorded yet";
  source.open();
  flush();
  EXPECT_THAT(rows("SELECT id, name, smCount FROM TARGET_INFO_GPU"), ElementsAre("1", "NVIDIA H200", "132"));
  cupti::Device device{};
  device.kind = cupti::Kind::kDevice;
  device.name = "NVIDIA H100";
  device.is_visible = 1;
  test::emit(state, device);
  flush();
  EXPECT_THAT(rows("SELECT name FROM TARGET_INFO_GPU"), ElementsAre("NVIDIA H100")) << "CUPTI's own word counts";
}

// A graph that is captured before the window opens may be replayed within it.
TEST_F(CuptiSourceTest, UntilTheWindowOpensOnlyFactsAndNodesOfGraphsAreAsked) {
  begin({}, "steps:2:4");
  EXPECT_EQ(state.kinds, (std::set<cupti::Kind>{cupti::Kind::kDevice, cupti::Kind::kContext, cupti::Kind::kStream}));
  EXPECT_THAT(state.callbacks, Contains(std::pair(cupti::kResourceDomain, cupti::kGraphNodeCreated)));
  EXPECT_THAT(fact("cuda.activity"), HasSubstr("the window did not open: steps:2:4"));
}

TEST_F(CuptiSourceTest, TheFileSaysWhenCudaWasRecorded) {
  begin({}, "nvtx:hot");
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM SWINSCOPE_WINDOW"), "0");
  const std::int64_t before = monotonic_ns() - kStart;
  source.open();
  source.close();
  source.open();
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM SWINSCOPE_WINDOW WHERE start >= " + std::to_string(before) +
                " AND end >= start AND end <= " + std::to_string(monotonic_ns() - kStart)),
            "2");
}

TEST_F(CuptiSourceTest, TheWholeRunIsNoWindow) {
  begin();
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM SWINSCOPE_WINDOW"), "0");
}

// What was launched within a step is done when its window closes, and what was launched before it when it opens; a wait
// would end the capture of a graph.
TEST_F(CuptiSourceTest, OpeningAndClosingWaitForTheGpuButNotWithinACapture) {
  begin({}, "steps:2:4");
  int node = 0;
  cupti::GraphData graph{};
  graph.node = &node;
  cupti::ResourceData data{nullptr, nullptr, &graph};
  const auto happens = [&](std::uint32_t callback) {
    state.callback(state.user_data, cupti::kResourceDomain, callback, &data);
  };
  happens(cupti::kGraphExecCreated);
  source.open(true);
  source.close(true);
  EXPECT_EQ(state.waits, 2);
  happens(cupti::kGraphNodeCreated);
  source.open(true);
  source.close(true);
  EXPECT_EQ(state.waits, 2);
  happens(cupti::kGraphExecCreated);
  source.open(true);
  source.close();
  EXPECT_EQ(state.waits, 3) << "only where it is asked for";
}

// The next replay would overwrite what CUPTI still holds of a graph's nodes.
TEST_F(CuptiSourceTest, WhatIsCompleteIsHandedOverWhenTheWindowCloses) {
  begin({}, "steps:2:4");
  source.open();
  test::emit(state, test::fake_kernel(1, kStart, "k"));
  const int flushes = state.flushes;
  source.close();
  EXPECT_EQ(state.flushes, flushes + 1);
  EXPECT_LT(std::find(state.order.begin(), state.order.end(), "flush"),
            std::find(state.order.begin(), state.order.end(), "disable"));
}

// CUPTI gives such nodes the end of a later replay.
TEST_F(CuptiSourceTest, NodesThatRanWhileTheWindowClosedAreCountedNotStored) {
  begin({}, "steps:2:4");
  source.open();
  const auto opened = static_cast<std::uint64_t>(monotonic_ns());
  cupti::Kernel whole = test::fake_kernel(1, static_cast<std::int64_t>(opened), "k");
  whole.end = opened;
  whole.graph_node = 3;
  source.close();
  cupti::Kernel cut = whole;
  cut.end = static_cast<std::uint64_t>(monotonic_ns()) + 1'000'000'000;
  cupti::Kernel launched = cut;  // its times are its own
  launched.graph_node = 0;
  for (const cupti::Kernel& kernel : {whole, cut, launched})
    test::emit(state, kernel);
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "2");
  EXPECT_THAT(drops(), ElementsAre("1 kernel: its CUDA graph was still running when the recording of CUDA ended"));
}

// Threads of the program emit, and CUPTI asks for buffers and completes them on them, while the writer empties.
TEST_F(CuptiSourceTest, ThreadsAndTheWriterMeetInTheBuffers) {
  begin();
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kPerThread = 5000;
  std::atomic<std::uint32_t> refused = 0;
  std::atomic<std::uint32_t> running = kThreads;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kPerThread; ++i) {
        if (!test::emit(state, test::fake_kernel(t * kPerThread + i + 1, kStart, "k"))) ++refused;
      }
      --running;
    });
  }
  while (running != 0) {
    poll();
    flush();
  }
  for (std::thread& thread : threads)
    thread.join();
  source.stop();
  source.finish(sink);
  EXPECT_TRUE(source.is_drained());
  writer.flush();
  EXPECT_EQ(row("SELECT count(DISTINCT correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
            std::to_string(kThreads * kPerThread - refused));
}

}  // namespace
}  // namespace swinscope
