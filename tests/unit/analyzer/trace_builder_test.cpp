// Records become columns: lanes, order, nesting, launches.
#include "analyzer/trace/trace_builder.h"

#include "tests/unit/analyzer/support.h"
#include "tests/unit/analyzer/view.h"
#include "tests/unit/store/records.h"

namespace swinscope::test {
namespace {

constexpr std::uint64_t kProcess = make_global_pid(10);
constexpr std::uint64_t kOtherProcess = make_global_pid(20);

KernelRecord kernel(RecordSink& sink, std::string_view name, std::int64_t start, std::int64_t end,
                    std::uint32_t stream = 7, std::uint32_t correlation = 0) {
  KernelRecord r;
  r.start_ns = start;
  r.end_ns = end;
  r.stream = stream;
  r.correlation = correlation;
  r.global_pid = kProcess;
  r.demangled_name = sink.intern(name);
  return r;
}

void add_call(RecordSink& sink, std::string_view name, std::int64_t start, std::int64_t end, std::uint32_t correlation,
              std::uint64_t global_tid = kProcess + 1, ApiClass api_class = ApiClass::kRuntime) {
  ApiRecord r;
  r.start_ns = start;
  r.end_ns = end;
  r.correlation = correlation;
  r.global_tid = global_tid;
  r.api_class = api_class;
  r.name = sink.intern(name);
  sink.add(r);
}

void add_range(RecordSink& sink, std::string_view name, std::int64_t start, std::int64_t end,
               std::uint64_t global_tid = kProcess + 1, std::uint32_t domain = 0, NvtxType type = NvtxType::kPushPop) {
  NvtxRecord r;
  r.start_ns = start;
  r.end_ns = end;
  r.global_tid = global_tid;
  r.domain = domain;
  r.type = type;
  r.text = sink.intern(name);
  sink.add(r);
}

class TraceBuilderTest : public testing::Test {
 protected:
  RecordSink& sink() { return builder_.add_process(); }
  // The only rank.
  const Rank& build() {
    builder_.move_into(trace_);
    EXPECT_EQ(trace_.ranks.size(), 1U);
    return trace_.ranks.at(0);
  }
  std::vector<std::string> names(const std::vector<StringId>& column) const {
    std::vector<std::string> texts;
    texts.reserve(column.size());
    for (const StringId id : column)
      texts.emplace_back(trace_.text(id));
    return texts;
  }

  TraceBuilder builder_;
  Trace trace_;
};

using Names = std::vector<std::string>;

TEST_F(TraceBuilderTest, CallsAreNamedAsCudasDocumentsHaveThem) {
  RecordSink& into = sink();
  const std::vector<const char*> given = {
      "cudaMalloc_v3020", "cudaLaunchKernel_ptsz_v7000", "cuMemAlloc_v2", "cudaMalloc_v3020",
      "_v3020",           "cudaGraphLaunch_v10000",      "sum_v123"};
  for (std::int64_t i = 0; i < std::ssize(given); ++i)
    add_call(into, given[static_cast<std::size_t>(i)], i, i + 1, 0);
  EXPECT_EQ(names(build().api.name), (std::vector<std::string>{"cudaMalloc", "cudaLaunchKernel_ptsz", "cuMemAlloc_v2",
                                                               "cudaMalloc", "_v3020", "cudaGraphLaunch", "sum_v123"}));
}

TEST_F(TraceBuilderTest, GpuLanesAreSortedByDeviceContextStreamAndStart) {
  RecordSink& to = sink();
  const auto add = [&](const char* name, std::int32_t device, std::uint32_t context, std::uint32_t stream,
                       std::int64_t start) {
    auto r = kernel(to, name, start, start + 1, stream);
    r.device = device;
    r.context = context;
    to.add(r);
  };
  add("g", 1, 1, 7, 0);
  add("f", 0, 2, 3, 5);
  add("e", 0, 1, 9, 1);
  add("c", 0, 1, 7, 30);
  add("b", 0, 1, 7, 20);
  add("a", 0, 1, 7, 10);
  const Rank& rank = build();
  EXPECT_EQ(names(rank.gpu.name), (Names{"a", "b", "c", "e", "f", "g"}));
  ASSERT_EQ(rank.gpu_lanes.size(), 4U);
  EXPECT_EQ(rank.gpu_lanes[0].events.begin, 0U);
  EXPECT_EQ(rank.gpu_lanes[0].events.end, 3U);
  EXPECT_EQ(rank.gpu_lanes[1].stream, 9U);
  EXPECT_EQ(rank.gpu_lanes[2].context, 2U);
  EXPECT_EQ(rank.gpu_lanes[3].device, 1);
  EXPECT_EQ(rank.gpu_lanes[3].events.size(), 1U);
  EXPECT_EQ(rank.gpu.lane, (std::vector<std::uint32_t>{0, 0, 0, 1, 2, 3}));
}

TEST_F(TraceBuilderTest, EventsOfEveryKindShareALane) {
  RecordSink& to = sink();
  MemsetRecord set;
  set.start_ns = 1;
  set.end_ns = 2;
  set.bytes = 64;
  set.kind = MemoryKind::kDevice;
  to.add(set);
  MemcpyRecord copy;
  copy.start_ns = 3;
  copy.end_ns = 4;
  copy.bytes = 128;
  copy.kind = CopyKind::kHostToDevice;
  copy.src_kind = MemoryKind::kPinned;
  copy.dst_kind = MemoryKind::kDevice;
  to.add(copy);
  GraphTraceRecord graph;
  graph.start_ns = 5;
  graph.end_ns = 6;
  graph.graph = 12;
  to.add(graph);
  auto comm = kernel(to, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", 7, 8, 0);
  to.add(comm);
  const Rank& rank = build();
  EXPECT_EQ(rank.gpu_lanes.size(), 1U);
  EXPECT_EQ(names(rank.gpu.name), (Names{"Memset (Device)", "Memcpy HtoD (Pinned -> Device)", "CUDA graph 12",
                                         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"}));
  EXPECT_EQ(rank.gpu.kind,
            (std::vector<GpuKind>{GpuKind::kMemset, GpuKind::kMemcpy, GpuKind::kGraph, GpuKind::kKernel}));
  EXPECT_EQ(rank.gpu.gpu_class, (std::vector<GpuClass>{GpuClass::kMemory, GpuClass::kMemory, GpuClass::kUnknown,
                                                       GpuClass::kCommunication}));
  EXPECT_EQ(rank.gpu.bytes, (std::vector<std::int64_t>{64, 128, 0, 0}));
}

TEST_F(TraceBuilderTest, ShortNamesAreMadeWhereTheSourceHasNone) {
  RecordSink& to = sink();
  to.add(kernel(to, "void ns::gemm<float>(int)", 0, 1));
  auto named = kernel(to, "void ns::gemm<half>(int)", 2, 3);
  named.short_name = to.intern("given");
  to.add(named);
  auto only_short = kernel(to, "", 4, 5);
  only_short.short_name = to.intern("only");
  to.add(only_short);
  to.add(kernel(to, "", 6, 7));
  const Rank& rank = build();
  EXPECT_EQ(names(rank.gpu.short_name), (Names{"gemm", "given", "only", ""}));
  EXPECT_EQ(names(rank.gpu.name), (Names{"void ns::gemm<float>(int)", "void ns::gemm<half>(int)", "only", ""}));
}

TEST_F(TraceBuilderTest, OfEndlessNamesTheBeginningStays) {
  RecordSink& to = sink();
  const std::string longest(kMostTextBytes, 'a');
  add_range(to, longest, 10, 20);
  add_range(to, longest + "b", 30, 40);
  add_range(to, longest.substr(1) + "\u00e9", 50, 60);  // its last character does not fit
  builder_.set_run(0, RunInfo{});
  const Rank& rank = build();
  EXPECT_EQ(trace_.text(rank.ranges.name[0]), longest);
  EXPECT_EQ(rank.ranges.name[1], rank.ranges.name[0]);
  EXPECT_EQ(trace_.text(rank.ranges.name[2]), longest.substr(1));
  ASSERT_EQ(rank.run.drops.size(), 1U);
  EXPECT_EQ(rank.run.drops[0].what, "end of a name");
  EXPECT_EQ(rank.run.drops[0].count, 2);
}

TEST_F(TraceBuilderTest, SymbolsAreFoundByTheFullName) {
  RecordSink& to = sink();
  for (const char* name : {"b", "a", "c"}) {
    auto r = kernel(to, name, 0, 1);
    if (*name != 'c') r.mangled_name = to.intern(std::string("_Z1") + name + "v");
    to.add(r);
  }
  const Rank& rank = build();
  for (EventIndex i = 0; i < 3; ++i) {
    const std::string name(trace_.text(rank.gpu.name[i]));
    EXPECT_EQ(trace_.text(rank.mangled_name(rank.gpu.name[i])), name == "c" ? "c" : "_Z1" + name + "v");
  }
}

TEST_F(TraceBuilderTest, LaunchConfigurationsAreShared) {
  RecordSink& to = sink();
  for (int i = 0; i < 6; ++i) {
    auto r = kernel(to, "k", i, i + 1);
    r.grid = {1, 2, 3};
    r.block = {32, 1, 1};
    r.dynamic_shared_bytes = i % 2;
    to.add(r);
  }
  const Rank& rank = build();
  EXPECT_EQ(rank.configs.size(), 2U);
  EXPECT_EQ(rank.gpu.config, (std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(rank.configs[1].dynamic_shared_bytes, 1);
  EXPECT_EQ(rank.configs[1].grid, (Dim3{1, 2, 3}));
}

TEST_F(TraceBuilderTest, KernelsFindTheirLaunch) {
  RecordSink& to = sink();
  to.add(kernel(to, "k2", 20, 21, 7, 2));
  to.add(kernel(to, "k1", 10, 11, 7, 1));
  to.add(kernel(to, "no launch recorded", 30, 31, 7, 3));
  to.add(kernel(to, "no correlation", 40, 41, 7, 0));
  add_call(to, "second", 5, 6, 2);
  add_call(to, "first", 1, 2, 1);
  add_call(to, "uncorrelated", 3, 4, 0);
  const Rank& rank = build();
  EXPECT_EQ(names(rank.api.name), (Names{"first", "uncorrelated", "second"}));
  EXPECT_EQ(rank.gpu.launch, (std::vector<EventIndex>{0, 2, kNoEvent, kNoEvent}));
}

// A runtime call makes a driver call with the same id inside: the outer one is what the program did. On whichever
// thread.
TEST_F(TraceBuilderTest, TheRuntimeCallIsTheLaunchAndNotTheDriverCallInside) {
  RecordSink& to = sink();
  add_call(to, "cuLaunchKernel", 6, 8, 1, kProcess + 1, ApiClass::kDriver);
  add_call(to, "cudaLaunchKernel", 5, 9, 1, kProcess + 1, ApiClass::kRuntime);
  add_call(to, "cuLaunchKernelEx", 20, 21, 2, kProcess + 1, ApiClass::kDriver);
  add_call(to, "cudaLaunchKernelExC", 20, 22, 2, kProcess + 1, ApiClass::kRuntime);  // began within the same nanosecond
  to.add(kernel(to, "a", 30, 31, 7, 1));
  to.add(kernel(to, "b", 40, 41, 7, 2));
  const Rank& rank = build();
  ASSERT_NE(rank.gpu.launch[0], kNoEvent);
  EXPECT_EQ(trace_.text(rank.api.name[rank.gpu.launch[0]]), "cudaLaunchKernel");
  EXPECT_EQ(trace_.text(rank.api.name[rank.gpu.launch[1]]), "cudaLaunchKernelExC");
}

TEST_F(TraceBuilderTest, ACallThatIsRecordedTwiceIsOneCall) {
  RecordSink& into = sink();
  add_call(into, "cudaMemcpy_v3020", 101, 199, 5);
  add_call(into, "cudaMemcpy", 100, 200, 5);
  add_call(into, "cudaLaunchKernel", 300, 310, 6);
  add_call(into, "cudaLaunchKernel_v7000", 301, 310, 6);
  add_call(into, "cudaLaunchKernel", 400, 410, 0);  // of unknown correlation: not known to be the same
  add_call(into, "cudaLaunchKernel", 401, 409, 0);
  add_call(into, "cudaLaunchKernel", 500, 510, 7, kProcess + 2);  // another thread's
  add_call(into, "cudaMemcpy", 600, 610, 8);                      // behind each other
  add_call(into, "cudaMemcpy", 610, 620, 8);
  into.add(kernel(into, "k", 305, 400, 7, 6));
  const Rank& rank = build();
  EXPECT_EQ(names(rank.api.name), (Names{"cudaMemcpy", "cudaLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernel",
                                         "cudaMemcpy", "cudaMemcpy", "cudaLaunchKernel"}));
  EXPECT_EQ(rank.api.start_ns, (std::vector<std::int64_t>{100, 300, 400, 401, 600, 610, 500}));
  EXPECT_EQ(rank.gpu.launch, (std::vector<EventIndex>{1}));
  EXPECT_TRUE(rank.run.drops.empty());
}

TEST_F(TraceBuilderTest, CorrelationsCountWithinAProcess) {
  RecordSink& to = sink();
  RunInfo run;
  run.global_pid = kOtherProcess;
  to.set_run(run);
  add_call(to, "of the first", 1, 2, 5, kProcess + 1);
  add_call(to, "of the other", 1, 2, 5, kOtherProcess + 1);
  auto r = kernel(to, "k", 10, 11, 7, 5);
  r.global_pid = kProcess;
  to.add(r);
  r.start_ns = 20;
  r.end_ns = 21;
  r.global_pid = kOtherProcess;
  to.add(r);
  r.start_ns = 30;
  r.end_ns = 31;
  r.global_pid = 0;  // the source does not say: the process of the rank
  to.add(r);
  r.start_ns = 40;
  r.end_ns = 41;
  r.global_pid = make_global_pid(30);
  to.add(r);
  const Rank& rank = build();
  Names launches;
  for (const EventIndex launch : rank.gpu.launch) {
    launches.emplace_back(launch == kNoEvent ? "none" : trace_.text(rank.api.name[launch]));
  }
  EXPECT_EQ(launches, (Names{"of the first", "of the other", "of the other", "none"}));
}

TEST_F(TraceBuilderTest, CallsAreSortedByThreadAndStart) {
  RecordSink& to = sink();
  add_call(to, "d", 1, 2, 0, kProcess + 2);
  add_call(to, "c", 5, 6, 0, kProcess + 1);
  add_call(to, "b", 3, 4, 0, kProcess + 1);
  add_call(to, "a", 3, 9, 0, kProcess + 1);  // the outer one of two that start together
  const Rank& rank = build();
  EXPECT_EQ(names(rank.api.name), (Names{"a", "b", "c", "d"}));
  ASSERT_EQ(rank.api_lanes.size(), 2U);
  EXPECT_EQ(rank.api_lanes[0].global_tid, kProcess + 1);
  EXPECT_EQ(rank.api_lanes[0].events.end, 3U);
  EXPECT_EQ(rank.api.lane, (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

TEST_F(TraceBuilderTest, RangesNest) {
  RecordSink& to = sink();
  add_range(to, "inner2", 60, 80);
  add_range(to, "inner1", 10, 50);
  add_range(to, "outer", 10, 100);
  add_range(to, "leaf", 20, 30);
  add_range(to, "touches", 30, 50);  // begins where leaf ends: not inside it
  add_range(to, "after", 100, 110);
  const Rank& rank = build();
  EXPECT_EQ(names(rank.ranges.name), (Names{"outer", "inner1", "leaf", "touches", "inner2", "after"}));
  EXPECT_EQ(rank.ranges.depth, (std::vector<std::uint16_t>{0, 1, 2, 2, 1, 0}));
}

TEST_F(TraceBuilderTest, EachThreadAndDomainIsALaneOfRanges) {
  RecordSink& to = sink();
  add_range(to, "swinscope", 0, kOpenEnd, 0, 3, NvtxType::kDomain);
  add_range(to, "d", 0, 100, kProcess + 2, 0);
  add_range(to, "c", 0, 100, kProcess + 1, 3);
  add_range(to, "a", 0, 100, kProcess + 1, 0);
  add_range(to, "b", 10, 20, kProcess + 1, 0, NvtxType::kStartEnd);
  const Rank& rank = build();
  EXPECT_EQ(names(rank.ranges.name), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(rank.ranges.depth, (std::vector<std::uint16_t>{0, 1, 0, 0}));
  EXPECT_EQ(rank.ranges.lane, (std::vector<std::uint32_t>{0, 0, 1, 2}));
  ASSERT_EQ(rank.range_lanes.size(), 3U);
  EXPECT_EQ(rank.domain_name(rank.range_lanes[1].domain, trace_.strings), "swinscope");
  EXPECT_EQ(rank.domain_name(0, trace_.strings), "");
  EXPECT_EQ(rank.domain_name(99, trace_.strings), "domain 99");
}

TEST_F(TraceBuilderTest, OpenRangesEndWithTheRecording) {
  RecordSink& to = sink();
  add_range(to, "closed", 5, 40);
  add_range(to, "open", 10, kOpenEnd);
  add_call(to, "last", 50, 70, 0);
  const Rank& rank = build();
  EXPECT_EQ(names(rank.ranges.name), (Names{"closed", "open"}));
  EXPECT_EQ(rank.ranges.end_ns, (std::vector<std::int64_t>{40, 70}));
}

// Times before the start of the session are negative; 0 is no time to end with.
TEST_F(TraceBuilderTest, OpenRangesOfARecordingBeforeZero) {
  RecordSink& to = sink();
  add_range(to, "open", -100, kOpenEnd);
  add_call(to, "last", -50, -20, 0);
  EXPECT_EQ(build().ranges.end_ns, std::vector<std::int64_t>{-20});
}

TEST_F(TraceBuilderTest, OpenRangesOutlastTheGpu) {
  RecordSink& to = sink();
  add_range(to, "open", 10, kOpenEnd);
  to.add(kernel(to, "k", 20, 90));
  EXPECT_EQ(build().ranges.end_ns, std::vector<std::int64_t>{90});
}

TEST_F(TraceBuilderTest, AnOpenRangeAloneEndsWhereItBegins) {
  RecordSink& to = sink();
  add_range(to, "open", 10, kOpenEnd);
  EXPECT_EQ(build().ranges.end_ns, std::vector<std::int64_t>{10});
}

TEST_F(TraceBuilderTest, MoreNestingThanTheDepthCanCount) {
  RecordSink& to = sink();
  constexpr int kDeep = 70'000;
  for (int i = 0; i < kDeep; ++i)
    add_range(to, "r", i, 2 * kDeep - i);
  const Rank& rank = build();
  EXPECT_EQ(rank.ranges.depth[100], 100);
  EXPECT_EQ(rank.ranges.depth[kDeep - 1], 65535);
}

TEST_F(TraceBuilderTest, MarksAndTheRestAreSortedByStart) {
  RecordSink& to = sink();
  for (const std::int64_t start : {30, 10, 20}) {
    add_range(to, fmt::format("mark {}", start), start, kOpenEnd, kProcess + 1, 0, NvtxType::kMark);
    SyncRecord sync;
    sync.start_ns = sync.end_ns = start;
    to.add(sync);
    OverheadRecord overhead;
    overhead.start_ns = overhead.end_ns = start;
    overhead.name = to.intern(fmt::format("overhead {}", start));
    to.add(overhead);
    CollectiveRecord collective;
    collective.correlation = static_cast<std::uint32_t>(start);
    collective.name = to.intern(fmt::format("collective {}", start));
    to.add(collective);
  }
  const Rank& rank = build();
  EXPECT_EQ(rank.ranges.size(), 0U);
  Names found;
  for (std::size_t i = 0; i < 3; ++i) {
    found.emplace_back(trace_.text(rank.marks.at(i).text));
    found.emplace_back(std::to_string(rank.syncs.at(i).start_ns));
    found.emplace_back(trace_.text(rank.overheads.at(i).name));
    found.emplace_back(trace_.text(rank.collectives.at(i).name));
  }
  EXPECT_EQ(found, (Names{"mark 10", "10", "overhead 10", "collective 10", "mark 20", "20", "overhead 20",
                          "collective 20", "mark 30", "30", "overhead 30", "collective 30"}));
}

TEST_F(TraceBuilderTest, FilesShareOnePoolOfStrings) {
  RecordSink& first = sink();
  first.add(kernel(first, "shared", 0, 1));
  first.add(kernel(first, "only here", 2, 3));
  RecordSink& second = sink();
  second.intern("shifts the ids");
  second.add(kernel(second, "shared", 0, 1));
  add_range(second, "only there", 0, 1);
  builder_.move_into(trace_);
  ASSERT_EQ(trace_.ranks.size(), 2U);
  EXPECT_EQ(trace_.ranks[0].gpu.name[0], trace_.ranks[1].gpu.name[0]);
  EXPECT_EQ(names(trace_.ranks[0].gpu.name), (Names{"shared", "only here"}));
  EXPECT_EQ(names(trace_.ranks[1].ranges.name), Names{"only there"});
  EXPECT_EQ(trace_.gpu_event_count(), 3);
}

// Copies of one kind between the same two places share a row; how a copy is called says nothing of the GPUs.
TEST_F(TraceBuilderTest, CopiesSayWhatTheyWentBetween) {
  RecordSink& to = sink();
  const auto copy = [&](std::int64_t start, CopyKind kind, std::int32_t from, std::int32_t onto) {
    MemcpyRecord r;
    r.start_ns = start;
    r.end_ns = start + 10;
    r.kind = kind;
    r.src_kind = MemoryKind::kDevice;
    r.dst_kind = MemoryKind::kDevice;
    r.src_device = from;
    r.dst_device = onto;
    to.add(r);
  };
  copy(0, CopyKind::kPeerToPeer, 0, 1);
  copy(20, CopyKind::kDeviceToDevice, 1, 0);  // between GPUs, though it is not called so
  copy(40, CopyKind::kDeviceToDevice, 1, 1);
  copy(60, CopyKind::kHostToDevice, -1, -1);
  copy(80, CopyKind::kPeerToPeer, 0, 1);
  to.add(kernel(to, "k", 100, 110, 0));
  const Rank& rank = build();
  ASSERT_EQ(rank.gpu.size(), 6U);
  EXPECT_EQ(rank.copy_ends.size(), 4U);
  EXPECT_EQ(rank.ends_of(5), nullptr);
  std::vector<bool> between_gpus;
  std::vector<bool> with_host;
  for (EventIndex i = 0; i < 5; ++i) {
    between_gpus.push_back(rank.ends_of(i)->is_between_gpus());
    with_host.push_back(rank.ends_of(i)->is_with_host());
  }
  EXPECT_EQ(between_gpus, (std::vector<bool>{true, true, false, false, true}));
  EXPECT_EQ(with_host, (std::vector<bool>{false, false, false, true, false}));
  EXPECT_EQ(rank.ends_of(1)->src_device, 1);
  using enum GpuClass;
  EXPECT_EQ(rank.gpu.gpu_class,
            (std::vector<GpuClass>{kCommunication, kCommunication, kMemory, kMemory, kCommunication, kUnknown}));
}

TEST_F(TraceBuilderTest, EventsOfCudaAreKeptByTime) {
  RecordSink& to = sink();
  for (const std::int64_t time : {30, 10, 20}) {
    CudaEventRecord r;
    r.time_ns = time;
    r.stream = 7;
    r.event_sync = static_cast<std::uint64_t>(time);
    to.add(r);
  }
  const Rank& rank = build();
  ASSERT_EQ(rank.cuda_events.size(), 3U);
  EXPECT_EQ(rank.cuda_events[0].event_sync, 10U);
  EXPECT_EQ(rank.cuda_events[2].event_sync, 30U);
}

TEST_F(TraceBuilderTest, MetricsAreASeriesForEachGpuAndMetric) {
  RecordSink& to = sink();
  const auto sample = [&](std::int64_t time, std::uint8_t gpu, std::int32_t metric, std::int64_t value) {
    to.add(MetricRecord{time, MetricSource::kNvml, gpu, metric, value});
  };
  sample(20, 1, 5, 1700);
  sample(10, 1, 5, 1980);  // samplers of two threads may write out of order
  sample(10, 0, 5, 1500);
  to.add(MetricNameRecord{MetricSource::kNvml, 1, 5, "SM clock [MHz]"});
  to.add(MetricNameRecord{MetricSource::kNvml, 1, 6, "never sampled [%]"});
  const Rank& rank = build();
  ASSERT_EQ(rank.metrics.size(), 2U);
  EXPECT_EQ(rank.metrics[0].gpu, 0);
  EXPECT_EQ(rank.metrics[0].name, "");
  EXPECT_EQ(rank.metrics[1].name, "SM clock [MHz]");
  EXPECT_EQ(rank.metrics[1].time_ns, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(rank.metrics[1].value, (std::vector<std::int64_t>{1980, 1700}));
}

// The file of the launcher has no rank: it describes the processes below.
TEST_F(TraceBuilderTest, ALauncherIsNoRank) {
  RecordSink& to = sink();
  RunInfo run;
  run.rank = kNoRank;
  run.host = "node1";
  to.set_run(run);
  add_full_cpu_records(to);
  builder_.move_into(trace_);
  EXPECT_EQ(trace_.ranks.size(), 0U);
  ASSERT_EQ(trace_.launchers.size(), 1U);
  EXPECT_EQ(trace_.launchers[0].run.host, "node1");
  ASSERT_EQ(trace_.launchers[0].processes.size(), 1U);
  EXPECT_EQ(trace_.text(trace_.launchers[0].processes[0].command), "python3 loader.py");
  EXPECT_EQ(trace_.launchers[0].process_cpu.size(), 1U);
}

TEST_F(TraceBuilderTest, NothingAtAll) {
  sink();
  const Rank& rank = build();
  EXPECT_EQ(rank.gpu.size(), 0U);
  EXPECT_EQ(rank.gpu_lanes.size(), 0U);
  EXPECT_EQ(trace_.gpu_event_count(), 0);
}

// The order in which records come does not matter.
TEST_F(TraceBuilderTest, AnyOrderGivesTheSameView) {
  std::vector<std::function<void(RecordSink&)>> steps;
  for (std::uint32_t i = 1; i <= 40; ++i) {
    const std::int64_t at = (i * 37) % 101;
    steps.emplace_back([=](RecordSink& to) { to.add(kernel(to, fmt::format("k{}", i % 5), at, at + 3, i % 3, i)); });
    steps.emplace_back([=](RecordSink& to) { add_call(to, "launch", at - 200, at - 199, i, kProcess + i % 2); });
    steps.emplace_back(
        [=](RecordSink& to) { add_range(to, fmt::format("r{}", i), at, at + 7, kProcess + i % 2, i % 2); });
  }
  const auto view = [&](std::size_t stride) {
    TraceBuilder builder;
    RecordSink& to = builder.add_process();
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[(i * stride) % steps.size()](to);
    Trace trace;
    builder.move_into(trace);
    return describe(trace);
  };
  EXPECT_EQ(first_difference(view(1), view(7)), "");
  EXPECT_EQ(first_difference(view(1), view(119)), "");
}

}  // namespace
}  // namespace swinscope::test
