// The importer on small traces: which records come out of which events.
#include "analyzer/importers/kineto.h"

#include "analyzer/facts/dependencies.h"
#include "analyzer/importers/open.h"
#include "analyzer/trace/trace.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/store/describe.h"

namespace swinscope::test {
namespace {

constexpr std::uint64_t kPid = make_global_pid(10);

class Kineto : public testing::Test {
 protected:
  // Reads a whole file.
  const KeptProcess& read(const std::string& bytes) {
    write_file(folder_ / "t.json", bytes);
    trace_.processes.clear();
    report_ = import_kineto(folder_ / "t.json", trace_);
    return trace_.processes.at(0);
  }
  const KeptProcess& read_events(const std::string& events) { return read(kineto_document(events)); }
  std::optional<Error> refusal(const std::string& bytes) {
    return error_of([&] { read(bytes); });
  }

  static std::vector<std::string> drops(const KeptProcess& process) {
    std::vector<std::string> lines;
    for (const DropInfo& d : process.run.drops)
      lines.push_back(fmt::format("{} {}: {}", d.count, d.what, d.reason));
    return lines;
  }
  // The ranges without the four rows that name the domains.
  static std::vector<NvtxRecord> ranges(const KeptProcess& process) {
    std::vector<NvtxRecord> found;
    for (const NvtxRecord& r : process.ranges) {
      if (r.type != NvtxType::kDomain) found.push_back(r);
    }
    return found;
  }
  static std::string domain(const KeptProcess& process, const NvtxRecord& range) {
    for (const NvtxRecord& r : process.ranges) {
      if (r.type == NvtxType::kDomain && r.domain == range.domain) return process.text(r.text);
    }
    return "none";
  }

  TempFolder folder_;
  KeptTrace trace_;
  ImportReport report_;
};

TEST_F(Kineto, AKernelAndItsLaunch) {
  const KeptProcess& p = read_events(launch_event(9, 1, 2) + "," + kernel_event(9, 4.001, 3.002));
  ASSERT_EQ(p.kernels.size(), 1U);
  EXPECT_EQ(describe(p, p.kernels[0]),
            "CUPTI_ACTIVITY_KIND_KERNEL start=4001 end=7003 deviceId=0 contextId=1 greenContextId=NULL "
            "streamId=7 correlationId=9 globalPid=281475144482816 demangledName=string 'void "
            "ns::gemm<float>(int)' shortName=string 'gemm' mangledName=NULL launchType=NULL "
            "cacheConfig=NULL registersPerThread=32 gridX=4 gridY=5 gridZ=6 blockX=7 blockY=8 blockZ=9 "
            "staticSharedMemory=0 dynamicSharedMemory=1024 localMemoryPerThread=0 localMemoryTotal=0 "
            "gridId=0 sharedMemoryExecuted=NULL graphNodeId=NULL sharedMemoryLimitConfig=NULL graphId=NULL "
            "clusterX=NULL clusterY=NULL clusterZ=NULL");
  ASSERT_EQ(p.apis.size(), 1U);
  EXPECT_EQ(describe(p, p.apis[0]),
            "CUPTI_ACTIVITY_KIND_RUNTIME start=1000 end=3000 eventClass=0 globalTid=281475144482827 "
            "correlationId=9 nameId=string 'cudaLaunchKernel' returnValue=0 callchainId=NULL");
  EXPECT_EQ(p.run.global_pid, kPid);
  EXPECT_EQ(p.run.source, "kineto");
  EXPECT_EQ(p.run.source_file, "t.json");
  EXPECT_TRUE(p.run.complete);
  EXPECT_EQ(drops(p), std::vector<std::string>{});
  EXPECT_EQ(report_.description, "PyTorch trace (Kineto), 2 events");
  EXPECT_EQ(report_.warnings, std::vector<std::string>{});
  EXPECT_FALSE(report_.corrupt);
}

// In a double the first is off by 128 ns, and starts plus durations do not meet.
TEST_F(Kineto, TimesAreExactToTheNanosecond) {
  const KeptProcess& p =
      read_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":11,"ts":1152921504606846.971,"dur":0.004},)"
                  R"({"ph":"X","cat":"cpu_op","name":"b","pid":10,"tid":11,"ts":1.5e3,"dur":0},)"
                  R"({"ph":"X","cat":"cpu_op","name":"c","pid":10,"tid":11,"ts":-1.001})");
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].start_ns, 1152921504606846971);
  EXPECT_EQ(found[0].end_ns, 1152921504606846975);
  EXPECT_EQ(found[1].start_ns, 1'500'000);
  EXPECT_EQ(found[1].end_ns, 1'500'000);
  EXPECT_EQ(found[2].start_ns, -1001);
  EXPECT_EQ(found[2].end_ns, -1001);
}

TEST_F(Kineto, CopiesAndSets) {
  const KeptProcess& p = read_events(
      R"_({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":1,"tid":7,"ts":1,"dur":2,)_"
      R"("args":{"device":1,"context":1,"stream":20,"correlation":5,"bytes":4096,"graph node id":8}},)"
      R"_({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":2,"tid":9,"ts":3,"dur":1,"args":{"bytes":64}})_");
  ASSERT_EQ(p.copies.size(), 1U);
  EXPECT_EQ(describe(p, p.copies[0]),
            "CUPTI_ACTIVITY_KIND_MEMCPY start=1000 end=3000 deviceId=1 contextId=1 greenContextId=NULL "
            "streamId=20 correlationId=5 globalPid=NULL bytes=4096 copyKind=1 srcKind=1 dstKind=2 "
            "srcDeviceId=NULL dstDeviceId=NULL graphNodeId=8");
  ASSERT_EQ(p.sets.size(), 1U);
  // Without arguments the process is the device and the thread the stream.
  EXPECT_EQ(describe(p, p.sets[0]),
            "CUPTI_ACTIVITY_KIND_MEMSET start=3000 end=4000 deviceId=2 contextId=0 greenContextId=NULL "
            "streamId=9 correlationId=NULL globalPid=NULL value=0 bytes=64 graphNodeId=NULL memKind=2");
}

TEST_F(Kineto, CollectivesKeepTheirArguments) {
  const KeptProcess& p = read_events(
      launch_event(3, 1, 1) +
      R"_(,{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",)_"
      R"("pid":0,"tid":28,"ts":5,"dur":9,"args":{"correlation":3,"graph node id":12,"Collective name":"allreduce","dtype":"Half",)"
      R"("In msg nelems":26214400,"Out msg nelems":26214401,"Group size":8,"Process Group Name":"default_pg",)"
      R"("Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, 7]","Seq":42}},)"
      R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather","pid":0,"tid":28,"ts":15,"dur":9,)"
      R"("args":{"correlation":4,"Collective name":"allgather","Process Group Ranks":[0, 1]}})");
  ASSERT_EQ(p.collectives.size(), 2U);
  EXPECT_EQ(describe(p, p.collectives[0]),
            "SWINSCOPE_COLLECTIVE globalPid=281475144482816 correlationId=3 graphNodeId=12 name='allreduce' "
            "inElements=26214400 outElements=26214401 dtype='Half' groupSize=8 groupName='default_pg' "
            "ranks='[0, 1, 2, 3, 4, 5, 6, 7]' seq=42");
  EXPECT_EQ(p.text(p.collectives[1].ranks), "[0, 1]");
  EXPECT_EQ(p.collectives[1].seq, -1);
  EXPECT_EQ(p.kernels[0].graph_node, 12U);
  EXPECT_EQ(p.kernels[0].stream, 28U);
}

TEST_F(Kineto, CudaGraphs) {
  const KeptProcess& p = read_events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":3,"graph node id":4294967300,"graph id":5}})");
  EXPECT_EQ(p.kernels.at(0).graph_node, 4294967300U);
  EXPECT_EQ(p.kernels.at(0).graph, 5U);
}

TEST_F(Kineto, ArgumentsOfConvolutions) {
  const auto op = [](std::string_view name, std::string_view values) {
    return fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":10,"tid":11,"ts":1,"dur":2,"args":{{"Input Dims":[[2],[]],"Concrete Inputs":{}}}}})",
        name, values);
  };
  const KeptProcess& p = read_events(op("aten::cudnn_convolution", R"(["","[4, 4]"])") + "," +
                                     op("aten::add", R"(["","7"])") + "," + op("aten::convolution", R"("none")"));
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(p.text(found[0].json), R"({"input_dims":[[2],[]],"input_types":[],"concrete_inputs":["","[4, 4]"]})");
  EXPECT_EQ(p.text(found[1].json), R"({"input_dims":[[2],[]],"input_types":[]})");
  // What a profiler writes is a list.
  EXPECT_EQ(p.text(found[2].json), R"({"input_dims":[[2],[]],"input_types":[]})");
}

TEST_F(Kineto, OperatorsAndAnnotations) {
  const KeptProcess& p = read_events(
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":1,"dur":2,"args":{"External id":77,)"
      R"("Sequence number":0,"Input Dims":[[2,3],[]],"Input type":["float","Scalar"]}},)"
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":10,"tid":11,"ts":1,"dur":9},)"
      R"({"ph":"X","cat":"python_function","name":"train.py(3): main","pid":10,"tid":11,"ts":1,"dur":9},)"
      R"({"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":1,"dur":9},)"
      R"({"ph":"i","name":"Iteration Start","pid":"Traces","tid":"x","ts":4,"s":"g"})");
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(domain(p, found[0]), kDomainTorchOp);
  EXPECT_EQ(found[0].range, 77U);
  EXPECT_EQ(found[0].value_type, NvtxValueType::kInt64);
  EXPECT_EQ(found[0].int64_value, 0);
  EXPECT_EQ(p.text(found[0].json), R"({"input_dims":[[2,3],[]],"input_types":["float","Scalar"]})");
  EXPECT_EQ(found[0].global_tid, kPid + 11);
  EXPECT_EQ(domain(p, found[1]), kDomainTorchUser);
  EXPECT_EQ(found[1].value_type, NvtxValueType::kNone);
  EXPECT_EQ(domain(p, found[2]), kDomainTorchPython);
  EXPECT_EQ(domain(p, found[3]), kDomainTorchGpuUser);
  EXPECT_EQ(found[3].global_tid, kPid + 7);  // the stream
  EXPECT_EQ(found[4].type, NvtxType::kMark);
  EXPECT_EQ(found[4].start_ns, 4000);
  EXPECT_EQ(found[4].end_ns, kOpenEnd);
}

TEST_F(Kineto, DriverCallsSynchronizationAndOverhead) {
  const KeptProcess& p = read_events(
      R"({"ph":"X","cat":"cuda_driver","name":"cuLaunchKernelEx","pid":10,"tid":11,"ts":1,"dur":1,"args":{"correlation":6}},)"
      R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":2,"dur":1,"args":{"stream":7,"wait_on_cuda_event_id":9}},)"
      R"({"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":7,"ts":2,"dur":1},)"
      R"({"ph":"X","cat":"overhead","name":"Lazy Function Loading","pid":-1,"tid":0,"ts":3,"dur":1})");
  EXPECT_EQ(p.apis.at(0).api_class, ApiClass::kDriver);
  ASSERT_EQ(p.syncs.size(), 2U);
  EXPECT_EQ(p.syncs[0].type, SyncType::kStreamWaitEvent);
  EXPECT_EQ(p.syncs[0].event, 9U);
  EXPECT_EQ(p.syncs[1].type, SyncType::kContext);
  EXPECT_EQ(p.overheads.at(0).type, 7);
}

std::string sync_event(int correlation, std::string_view kind, std::string_view arguments) {
  return fmt::format(R"({{"ph":"X","cat":"cuda_sync","name":"{}","pid":0,"tid":-1,"ts":5,"dur":1,"args":{{)"
                     R"("stream":-1,"correlation":{},"device":0,"context":1{}}}}})",
                     kind, correlation, arguments);
}

TEST_F(Kineto, AWaitSaysWhereItsEventWasRecorded) {
  const KeptProcess& p = read_events(waiting_events());
  ASSERT_EQ(p.syncs.size(), 1U);
  EXPECT_EQ(p.syncs[0].type, SyncType::kStreamWaitEvent);
  EXPECT_EQ(p.syncs[0].stream, 20U);
  EXPECT_EQ(p.syncs[0].correlation, 3U);
  EXPECT_EQ(p.syncs[0].event_sync, 2U);
  ASSERT_EQ(p.cuda_events.size(), 1U);
  EXPECT_EQ(describe(p, p.cuda_events[0]),
            "CUPTI_ACTIVITY_KIND_CUDA_EVENT timestamp=NULL deviceId=0 contextId=1 greenContextId=NULL streamId=7 "
            "correlationId=2 globalPid=281475144482816 eventId=5 eventSyncId=2");
}

TEST_F(Kineto, WaitsForTheSameRecordShareIt) {
  const std::string same = R"(,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2,"wait_on_cuda_event_id":5)";
  const std::string another = R"(,"wait_on_stream":8,"wait_on_cuda_event_record_corr_id":6,"wait_on_cuda_event_id":5)";
  const KeptProcess& p = read_events(kernel_event(1, 4, 3) + "," + sync_event(3, "Event Sync", same) + "," +
                                     sync_event(4, "Event Sync", same) + "," + sync_event(7, "Event Sync", another));
  ASSERT_EQ(p.cuda_events.size(), 2U);
  EXPECT_EQ(p.cuda_events[1].event_sync, 6U);
  EXPECT_EQ(p.cuda_events[1].stream, 8U);
  EXPECT_EQ(p.syncs.at(1).event_sync, 2U);
  EXPECT_EQ(p.syncs.at(2).event_sync, 6U);
}

// PyTorch writes -1 for what it does not know.
TEST_F(Kineto, AWaitForAnUnknownRecordIsKeptWithoutOne) {
  const KeptProcess& p = read_events(
      kernel_event(1, 4, 3) + "," +
      sync_event(3, "Event Sync",
                 R"(,"wait_on_stream":-1,"wait_on_cuda_event_record_corr_id":-1,"wait_on_cuda_event_id":5)") +
      "," + sync_event(4, "Event Sync", R"(,"wait_on_cuda_event_record_corr_id":9,"wait_on_cuda_event_id":5)") + "," +
      sync_event(5, "Context Sync", ""));
  EXPECT_TRUE(p.cuda_events.empty());
  ASSERT_EQ(p.syncs.size(), 3U);
  EXPECT_EQ(p.syncs[0].event, 5U);
  EXPECT_EQ(p.syncs[0].event_sync, 0U);
  EXPECT_EQ(p.syncs[1].event_sync, 9U);  // its stream is not known
  EXPECT_EQ(p.syncs[2].event_sync, 0U);
}

std::string cuda_event(int correlation, int stream, std::string_view ts) {
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_event","name":"cudaEvent","pid":0,"tid":{},"ts":{},"dur":0.001,"args":{{)"
      R"("event_id":5,"stream":{},"correlation":{},"device":0,"context":1}}}})",
      stream, ts, stream, correlation);
}

// Newer versions of PyTorch write every record of an event; before CUDA 12.8 without a time.
TEST_F(Kineto, RecordsOfEventsMayBeEventsOfTheirOwn) {
  const KeptProcess& p = read_events(waiting_events() + "," + cuda_event(2, 7, "45.5") + "," + cuda_event(8, 9, "0") +
                                     "," + cuda_event(9, 9, "-1695835572943623.000"));
  ASSERT_EQ(p.cuda_events.size(), 3U);
  EXPECT_EQ(p.cuda_events[0].time_ns, 45'500);
  EXPECT_EQ(p.cuda_events[0].correlation, 2U);
  EXPECT_EQ(p.cuda_events[1].time_ns, kUnknownTime);
  EXPECT_EQ(p.cuda_events[1].stream, 9U);
  EXPECT_EQ(p.cuda_events[1].event_sync, 8U);
  EXPECT_EQ(p.cuda_events[2].time_ns, kUnknownTime);
  EXPECT_TRUE(p.run.drops.empty());
  EXPECT_TRUE(report_.doubts.empty());
}

TEST_F(Kineto, DependenciesResolveTheWaitsOfPyTorch) {
  write_file(
      folder_ / "t.json",
      kineto_document(waiting_events() + "," +
                      sync_event(6, "Event Sync", R"(,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2)") +
                      R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaEventSynchronize","pid":10,"tid":11,"ts":20,)"
                      R"("dur":28,"args":{"correlation":6}})"));
  const Trace trace = open_trace(folder_ / "t.json");
  const Rank& rank = trace.ranks.at(0);
  const Dependencies found(trace, rank);
  EXPECT_EQ(found.unresolved(), 0);
  ASSERT_EQ(found.stream_waits().size(), 1U);
  EXPECT_EQ(trace.text(rank.gpu.name[found.stream_waits()[0].event]), "a");
  EXPECT_EQ(rank.gpu_lanes[found.stream_waits()[0].lane].stream, 20U);
  EXPECT_EQ(rank.api.correlation[found.stream_waits()[0].call], 3U);
  ASSERT_EQ(found.host_waits().size(), 1U);
  EXPECT_EQ(trace.text(rank.gpu.name[found.host_waits()[0].event]), "a");
  EXPECT_EQ(rank.api.correlation[found.host_waits()[0].call], 6U);
}

// Thread ids of the profiler can be pthread handles, which do not fit the 24 bits of a serialized id.
TEST_F(Kineto, LargeThreadIdsStayApart) {
  const KeptProcess& p = read_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":139637976762176,"ts":1,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"b","pid":10,"tid":139637968369472,"ts":1,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"c","pid":10,"tid":139637976762176,"ts":3,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"d","pid":10,"tid":-5,"ts":3,"dur":1},)"
      R"({"ph":"M","name":"thread_name","pid":10,"tid":139637968369472,"ts":0,"args":{"name":"autograd"}})");
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].global_tid, found[2].global_tid);
  EXPECT_NE(found[0].global_tid, found[1].global_tid);
  EXPECT_NE(found[0].global_tid, found[3].global_tid);
  for (const NvtxRecord& r : found)
    EXPECT_EQ(global_pid_of(r.global_tid), kPid);
  std::vector<std::string> names;
  for (const ThreadInfo& t : p.run.threads)
    names.push_back(fmt::format("{:#x} {}", t.global_tid, t.name));
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected = {fmt::format("{:#x} thread 139637976762176", found[0].global_tid),
                                       fmt::format("{:#x} autograd", found[1].global_tid),
                                       fmt::format("{:#x} thread -5", found[3].global_tid)};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
}

TEST_F(Kineto, NamesOfProcessesAndThreads) {
  const KeptProcess& p =
      read_events(R"({"ph":"M","name":"process_name","pid":10,"tid":0,"ts":0,"args":{"name":"python3"}},)"
                  R"({"ph":"M","name":"process_name","pid":0,"tid":0,"ts":0,"args":{"name":"GPU 0"}},)"
                  R"({"ph":"M","name":"process_labels","pid":10,"tid":0,"ts":0,"args":{"labels":"CPU"}},)"
                  R"({"ph":"M","name":"thread_name","pid":10,"tid":11,"ts":0,"args":{"name":"main"}},)"
                  R"({"ph":"M","name":"thread_name","pid":0,"tid":7,"ts":0,"args":{"name":"stream 7"}},)" +
                  launch_event(1, 1, 1));
  EXPECT_EQ(p.run.processes, (std::vector<ProcessInfo>{{kPid, "python3"}}));
  EXPECT_EQ(p.run.threads, (std::vector<ThreadInfo>{{kPid + 11, "main"}}));
}

TEST_F(Kineto, GpuEventsBeforeAnyHostEvent) {
  const KeptProcess& p = read_events(kernel_event(9, 4, 3) + "," + launch_event(9, 1, 2) + "," + kernel_event(9, 8, 3));
  ASSERT_EQ(p.kernels.size(), 2U);
  EXPECT_EQ(p.kernels[0].global_pid, 0U);  // readers take it for the process of the rank
  EXPECT_EQ(p.kernels[1].global_pid, kPid);
  EXPECT_EQ(p.run.global_pid, kPid);
}

TEST_F(Kineto, AnEmptyTrace) {
  const KeptProcess& p = read_events("");
  EXPECT_EQ(p.kernels.size(), 0U);
  EXPECT_EQ(ranges(p).size(), 0U);
  EXPECT_TRUE(p.run.complete);
  EXPECT_FALSE(report_.corrupt);
  EXPECT_EQ(report_.description, "PyTorch trace (Kineto), 0 events");
}

TEST_F(Kineto, EventsThatCannotBeUsedAreCounted) {
  const KeptProcess& p = read_events(
      launch_event(1, 1, 1) +
      R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":NaN,"dur":1},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":-1},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":-0.001},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"k","pid":0,"tid":7,"ts":1,"dur":Infinity},)"
      R"({"ph":"i","name":"mark","pid":0,"tid":7,"ts":"late"},)"
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2305843009213693.952,"dur":1},)"
      R"({"ph":"X","cat":"mystery","name":"k","pid":0,"tid":7,"ts":1,"dur":1},)"
      R"({"ph":"C","name":"memory","pid":0,"ts":1},)"
      R"({"ph":"B","name":"begin","pid":0,"ts":1},)"
      R"({"ph" "X"},17,"text",)"
      R"({"ph":"s","cat":"ac2g","id":1,"pid":0,"tid":7,"ts":1},{"ph":"X","cat":"Trace","name":"t","pid":"Spans","ts":1,"dur":2})");
  EXPECT_EQ(p.kernels.size(), 0U);
  EXPECT_EQ(p.apis.size(), 1U);
  std::vector<std::string> expected = {"1 kernel event: the time or duration is not a number",
                                       "2 kernel event: the duration is negative",
                                       "1 kernel event: there is no start time",
                                       "1 cpu_op event: the time or duration is not a number",
                                       "1 event: the time or duration is not a number",
                                       "1 kernel event: the time is out of range",
                                       "1 event of category 'mystery': this kind of event is not read",
                                       "1 event of phase 'C': this kind of event is not read",
                                       "1 event of phase 'B': the end is missing",
                                       "1 event: the text is damaged and no JSON",
                                       "2 element of traceEvents: not an object"};
  std::vector<std::string> found = drops(p);
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST_F(Kineto, InvalidUtf8IsReplacedAndSaid) {
  const KeptProcess& p = read_events(
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xFF\",\"pid\":10,\"tid\":1,\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\xC3\",\"pid\":10,\"tid\":1,\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"fine\",\"pid\":10,\"tid\":1,\"ts\":1,\"dur\":1}");
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(p.text(found[0].text), "a\xEF\xBF\xBD");
  EXPECT_EQ(p.text(found[1].text), "b\xEF\xBF\xBD");
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("2 events held text that is not UTF-8"), std::string::npos) << report_.warnings[0];
  EXPECT_FALSE(report_.corrupt);
}

// A reason names what it is about in 20 bytes, which must not end within a character.
TEST_F(Kineto, LongCategoriesAreCutBetweenCharacters) {
  const KeptProcess& p = read_events(
      launch_event(1, 1, 1) +
      ",{\"ph\":\"X\",\"cat\":\"x\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
      "\xC3\xA9\",\"name\":\"a\",\"pid\":10,\"tid\":1,\"ts\":1,\"dur\":1}");
  ASSERT_EQ(p.run.drops.size(), 1U);
  EXPECT_EQ(p.run.drops[0].what,
            "event of category 'x\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9'");
}

TEST_F(Kineto, ManyReasonsStayBounded) {
  std::string events = launch_event(1, 1, 1);
  for (int i = 0; i < 500; ++i)
    events += fmt::format(R"(,{{"ph":"X","cat":"c{}","name":"k","ts":1,"dur":1}})", i);
  const KeptProcess& p = read_events(events);
  EXPECT_LE(p.run.drops.size(), 65U);
  std::int64_t sum = 0;
  for (const DropInfo& d : p.run.drops)
    sum += d.count;
  EXPECT_EQ(sum, 500);
}

constexpr const char* kFacts =
    R"("baseTimeNanoseconds": 1760000000000000000, "cuda_driver_version": 13000,)"
    R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.28.3"},)"
    R"("deviceProperties": [{"id": 1, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],)";

TEST_F(Kineto, FactsBesideTheEvents) {
  const RunInfo run = read(kineto_document("", kFacts)).run;
  EXPECT_EQ(run.rank, 3);
  EXPECT_EQ(run.world_size, 8);
  EXPECT_EQ(run.utc_epoch_ns, 1760000000000000000);
  EXPECT_EQ(run.gpus, (std::vector<GpuInfo>{{1, "NVIDIA H200", "", 150109880320, 132, 9, 0, "", "", 0, 0, 0}}));
  EXPECT_EQ(run.environment, (std::vector<NamedValue>{{"distributed.backend", "nccl"},
                                                      {"distributed.nccl_version", "2.28.3"},
                                                      {"cuda_driver_version", "13000"},
                                                      {"schemaVersion", "1"}}));
}

TEST_F(Kineto, FactsMayStandBehindTheEvents) { EXPECT_EQ(read(kineto_document("", "", kFacts)).run.rank, 3); }

TEST_F(Kineto, FactsOfTheWrongTypeAreUnknown) {
  const RunInfo run =
      read(kineto_document("", R"("distributedInfo": {"rank": "3", "world_size": -1}, "baseTimeNanoseconds": 1.5,)"
                               R"("deviceProperties": [7, {"id": "x", "name": 3}],)"))
          .run;
  EXPECT_EQ(run.rank, 0);
  EXPECT_EQ(run.world_size, 0);
  EXPECT_EQ(run.utc_epoch_ns, 0);
  EXPECT_EQ(run.gpus.size(), 1U);
}

TEST_F(Kineto, OfTwoGpusWithOneIdTheFirstIsKept) {
  const RunInfo run =
      read(kineto_document("", R"("deviceProperties": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}],)")).run;
  ASSERT_EQ(run.gpus.size(), 1U);
  EXPECT_EQ(run.gpus[0].name, "a");
  EXPECT_EQ(run.drops, (std::vector<DropInfo>{{"GPU of deviceProperties", 1, "an earlier one has the same id"}}));
}

TEST_F(Kineto, FactsWithInvalidUtf8AreKept) {
  EXPECT_EQ(read(kineto_document("", std::string(R"("host": ")") + "\xFF\"," + kFacts)).run.rank, 3);
}

TEST_F(Kineto, FactsThatCannotBeParsedAreMissed) {
  const KeptProcess& p = read(kineto_document(launch_event(1, 1, 1), R"("distributedInfo": {"rank": NaN},)"));
  EXPECT_EQ(p.apis.size(), 1U);
  EXPECT_EQ(p.run.rank, 0);
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("rank"), std::string::npos);
}

// A fact that is of another kind than it should be, in a document that is read fact by fact.
TEST_F(Kineto, FactsOfAnotherKindAreLeftOutOfADamagedDocument) {
  for (const char* const info : {"[]", "[1]", "null", "7", R"("")", R"("x")", "{}"}) {
    const std::string facts = fmt::format(R"("distributedInfo": {}, "broken": NaN, "baseTimeNanoseconds": 5,)", info);
    const KeptProcess& p = read(kineto_document(launch_event(1, 1, 1), facts));
    EXPECT_EQ(p.apis.size(), 1U) << info;
    EXPECT_EQ(p.run.rank, 0) << info;
    EXPECT_EQ(p.run.utc_epoch_ns, 5) << info;
  }
}

TEST_F(Kineto, ATruncatedFileKeepsWhatCameBefore) {
  const std::string whole = kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 4, 3), kFacts);
  const KeptProcess& p = read(whole.substr(0, whole.find("\"kernel\"")));
  EXPECT_EQ(p.apis.size(), 1U);
  EXPECT_EQ(p.kernels.size(), 0U);
  EXPECT_FALSE(p.run.complete);
  EXPECT_EQ(p.run.rank, 3);
  EXPECT_EQ(p.run.world_size, 8);
  EXPECT_TRUE(report_.corrupt);
  ASSERT_EQ(report_.warnings.size(), 1U);
  EXPECT_NE(report_.warnings[0].find("the file is cut off after"), std::string::npos) << report_.warnings[0];
  EXPECT_NE(report_.warnings[0].find("the 1 event before it was read"), std::string::npos) << report_.warnings[0];
}

TEST_F(Kineto, ADamagedGzipFileKeepsWhatCameBefore) {
  std::string packed = gzip(kineto_document(launch_event(1, 1, 1)));
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  const KeptProcess& p = read(packed);
  EXPECT_EQ(p.apis.size(), 1U);
  EXPECT_TRUE(report_.corrupt);
  EXPECT_NE(report_.warnings.at(0).find("the compressed data is damaged"), std::string::npos);
}

TEST_F(Kineto, JsonThatIsNoTraceIsRefused) {
  for (const char* document : {"{}", R"({"a": [1]})", R"({"traceEvents": 7})", R"({"traceEvents": {}})"}) {
    const auto error = refusal(document);
    ASSERT_TRUE(error) << document;
    EXPECT_EQ(error->kind(), ErrorKind::kInput);
    EXPECT_EQ(error->what(), (folder_ / "t.json").string() + ": JSON, but not a PyTorch trace");
    EXPECT_EQ(error->cause(), "there is no \"traceEvents\" array");
  }
}

// Cut off before the events begin, it may well be one: that is what has to be said.
TEST_F(Kineto, AFileCutOffBeforeItsEventsIsCalledSo) {
  const std::string whole = kineto_document(launch_event(1, 1, 1));
  const auto cut = refusal(whole.substr(0, 20));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->kind(), ErrorKind::kInput);
  EXPECT_NE(cut->cause().find("cut off"), std::string::npos) << cut->cause();
  const auto truncated = refusal(gzip(whole).substr(0, 15));
  ASSERT_TRUE(truncated);
  EXPECT_NE(truncated->cause().find("the compressed file is truncated"), std::string::npos) << truncated->cause();
  const auto damaged = refusal("\x1F\x8B garbage");
  ASSERT_TRUE(damaged);
  EXPECT_NE(damaged->cause().find("damaged"), std::string::npos) << damaged->cause();
}

TEST_F(Kineto, AnArrayOfEventsIsATraceToo) {
  const KeptProcess& p = read("[" + launch_event(1, 1, 1) + "]");
  EXPECT_EQ(p.apis.size(), 1U);
  EXPECT_TRUE(p.run.complete);
  EXPECT_EQ(report_.warnings, std::vector<std::string>{});
}

TEST_F(Kineto, CancelStops) {
  write_file(folder_ / "t.json", kineto_document(launch_event(1, 1, 1)));
  const std::atomic<bool> cancel = true;
  EXPECT_TRUE(error_of([&] { import_kineto(folder_ / "t.json", trace_, &cancel); }));
}

}  // namespace
}  // namespace swinscope::test
