// The importer on input that is damaged, foreign or has times that cannot be: what is kept, what is said.
#include "analyzer/base/text.h"
#include "analyzer/importers/kineto.h"
#include "analyzer/importers/kineto_records.h"
#include "analyzer/importers/stream_overlaps.h"
#include "analyzer/trace/kernel_names.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

class KinetoInput : public testing::Test {
 protected:
  const KeptProcess& read(const std::string& bytes) {
    write_file(folder_ / "t.json", bytes);
    trace_.processes.clear();
    report_ = import_kineto(folder_ / "t.json", trace_);
    return trace_.processes.at(0);
  }
  const KeptProcess& read_events(const std::string& events) { return read(kineto_document(events)); }
  // The cause for which a file is refused.
  std::string refusal(const std::string& bytes) {
    const auto error = error_of([&] { read(bytes); });
    if (!error) return "not refused";
    EXPECT_EQ(error->kind(), ErrorKind::kInput);
    EXPECT_EQ(std::string(error->what()).find((folder_ / "t.json").string() + ": "), 0U) << error->what();
    return error->cause();
  }
  static std::vector<std::string> drops(const KeptProcess& process) {
    std::vector<std::string> lines;
    for (const DropInfo& d : process.run.drops)
      lines.push_back(fmt::format("{}: {}", counted(d.count, d.what), d.reason));
    return lines;
  }
  static std::vector<NvtxRecord> ranges(const KeptProcess& process) {
    std::vector<NvtxRecord> found = process.ranges;
    std::erase_if(found, [](const NvtxRecord& r) { return r.type == NvtxType::kDomain; });
    return found;
  }
  bool warns_of(std::string_view text) const {
    return std::any_of(report_.warnings.begin(), report_.warnings.end(),
                       [&](const std::string& w) { return w.find(text) != std::string::npos; });
  }

  TempFolder folder_;
  KeptTrace trace_;
  ImportReport report_;
};

using Lines = std::vector<std::string>;

// Damage.

constexpr const char* kFacts =
    R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},)"
    R"("deviceProperties": [{"id": 0, "name": "H200", "numSms": 132}], "baseTimeNanoseconds": 5,)";

std::string named_op(std::string_view name) {
  return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 10, "tid": 11, "ts": 1.000, "dur": 2.000}})",
                     name);
}

TEST_F(KinetoInput, ADamagedEventCostsItselfAndIsCounted) {
  for (const char* name : {R"("""A docstring.)", "f(\"a", R"({"device": "cpu"})", "a\nb", "a\x01 b", "C:\\x\\"}) {
    const KeptProcess& p = read_events(launch_event(1, 1, 1) + "," + named_op(name) + ",\n" + kernel_event(1, 4, 3) +
                                       "," + launch_event(2, 8, 1) + "," + kernel_event(2, 9, 1));
    EXPECT_EQ(p.apis.size(), 2U) << name;
    EXPECT_EQ(p.kernels.size(), 2U) << name;
    EXPECT_EQ(drops(p), Lines{"1 event: the text is damaged and no JSON"}) << name;
    EXPECT_TRUE(p.run.complete) << name;
    EXPECT_FALSE(report_.corrupt) << name;
    EXPECT_EQ(report_.warnings, Lines{}) << name;
  }
}

// The text from the first bad quote to the second one looks like one element.
TEST_F(KinetoInput, EventsBetweenTwoDamagedOnesAreKept) {
  std::string events = launch_event(1, 1, 1) + "," + named_op("a\"b");
  for (int i = 0; i < 40; ++i)
    events += "," + kernel_event(1, 10 + i, 1);
  events += "," + named_op("c\"d") + "," + launch_event(2, 90, 1);
  const KeptProcess& p = read_events(events);
  EXPECT_EQ(p.kernels.size(), 40U);
  EXPECT_EQ(p.apis.size(), 2U);
  EXPECT_EQ(drops(p), Lines{"2 events: the text is damaged and no JSON"});
}

// Two writers in one file: both documents are torn, the events are those of two processes that launch.
TEST_F(KinetoInput, AMissingBraceCostsOneEvent) {
  std::string second = launch_event(2, 4, 1);
  second.resize(second.size() - 1);
  const KeptProcess& p = read_events(launch_event(1, 1, 1) + "," + second + "," + launch_event(3, 7, 1));
  EXPECT_EQ(p.apis.size(), 2U);
  EXPECT_EQ(drops(p), Lines{"1 event: the text is damaged and no JSON"});
  EXPECT_FALSE(report_.corrupt);
}

TEST_F(KinetoInput, BadStringsBesideTheEventsDoNotCostTheFacts) {
  for (const char* bad : {R"("INFO": ["Logging CUDA event {"event_id": 5}"],)", R"("INFO": ["Logging "event: 5}"],)",
                          R"("path": "C:\Users\me",)"}) {
    for (const bool before : {true, false}) {
      const std::string facts = std::string(before ? bad : "") + kFacts + (before ? "" : bad);
      const KeptProcess& p = read(kineto_document(launch_event(1, 1, 1), before ? facts : "", before ? "" : facts));
      EXPECT_EQ(p.run.rank, 3) << bad << before;
      EXPECT_EQ(p.run.world_size, 8) << bad << before;
      EXPECT_EQ(p.run.utc_epoch_ns, 5) << bad << before;
      EXPECT_EQ(p.run.gpus.size(), 1U) << bad << before;
      EXPECT_EQ(p.apis.size(), 1U) << bad << before;
      EXPECT_TRUE(p.run.complete) << bad << before;
      EXPECT_FALSE(report_.corrupt) << bad << before;
    }
  }
}

TEST_F(KinetoInput, NothingButDamageIsRefused) {
  EXPECT_EQ(refusal(kineto_document(named_op("a\"b") + "," + named_op("c\"d"))), "they are damaged");
}

// Foreign input.

TEST_F(KinetoInput, ForeignJsonIsRefusedByName) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"displayTimeUnit": "ns", "traceEvents": [
           {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
           {"ph": "X", "pid": 1, "tid": 14, "ts": 1.5, "dur": 8, "name": "fusion", "args": {"hlo_op": "fusion.3"}}]})",
       "it looks like a profile of JAX or TensorFlow (XLA)"},
      {R"([{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}},
           {"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 0, "pid": "CUDA functions", "args": {}}])",
       "it looks like an export of the older autograd profiler, whose GPU times are of operators, not of kernels"},
      {R"([{"name": "k", "ph": "X", "cat": "cuda", "ts": 1, "dur": 2, "tid": "Stream 7", "pid": "Device 0"},
           {"name": "forward", "ph": "X", "cat": "nvtx", "ts": 1, "dur": 2, "tid": "NVTX Thread 5", "pid": "Device 0"}])",
       "it looks like a Chrome trace made of an Nsight Systems report (nsys2json)"},
      {R"({"traceEvents": [{"ph": "X", "cat": "v8", "name": "V8.GC", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})",
       "it looks like a trace of the Chrome browser"},
      {R"({"traceEvents": [{"ph": "X", "cat": "db", "name": "q", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
                           {"ph": "X", "cat": "kernel", "name": "q", "pid": 1, "tid": 1, "ts": "late", "dur": 1}]})",
       "it is a Chrome trace with events of the kind 'db'"},
      {R"({"traceEvents": [{"ph": "X", "name": "q", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})",
       "it is a Chrome trace whose events have no category"},
      {R"({"schema": "1.1.1-chakra.0.0.4", "pid": 5, "nodes": [{"id": 1, "name": "[pytorch|profiler]"}]})",
       "it looks like a PyTorch execution trace (Chakra), which has operators but no times of the GPU"},
      {R"({"segments": [], "device_traces": [[]]})",
       "it looks like a CUDA memory snapshot of PyTorch, which has allocations but no kernels"},
      {R"([[1, "ALLOC", 512, 0], [2, "FREE", -512, 0]])",
       "it is a list of lists, as a memory timeline of torch.profiler (export_memory_timeline) is"},
      {"[1, 2, 3]", "it is a list of values that are no events"},
      {"[]", "it is an empty list"},
      {R"({"traceEvents": []})", "its \"traceEvents\" hold no event with a time"},
      {R"([{"rank": 0, "path": "a.json"}])", "its \"traceEvents\" hold no event with a time"},
      {R"({"name": "package", "version": "1.0"})", "there is no \"traceEvents\" array"}};
  for (const auto& [document, cause] : cases)
    EXPECT_EQ(refusal(document), cause) << document;
}

TEST_F(KinetoInput, ASmallPyTorchTraceWithoutGpuWorkIsATrace) {
  EXPECT_EQ(ranges(read("[" + named_op("aten::add") + "]")).size(), 1U);
  EXPECT_EQ(
      ranges(read_events(R"_({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","ts":1,"dur":2})_"))
          .size(),
      0U);
}

TEST_F(KinetoInput, WorkOfOtherAcceleratorsIsNamed) {
  const KeptProcess& p = read_events(
      launch_event(1, 1, 1) +
      R"(,{"ph":"X","cat":"mtia_ccp_events","name":"op","pid":0,"tid":7,"ts":1,"dur":1},)"
      R"({"ph":"X","cat":"xpu_runtime","name":"urEnqueueKernelLaunch","pid":10,"tid":11,"ts":1,"dur":1,"args":{"correlation":2}},)"
      R"({"ph":"X","cat":"hip_runtime","name":"hipLaunchKernel","pid":10,"tid":11,"ts":2,"dur":1,"args":{"correlation":3}})");
  EXPECT_EQ(p.apis.size(), 3U);
  EXPECT_EQ(drops(p), Lines{"1 event of category 'mtia_ccp_events': the work of MTIA accelerators is not read"});
  EXPECT_TRUE(warns_of("the GPU is an Intel XPU"));
}

TEST(CopyNames, AmdsHostMemoryKeepsItsName) {
  for (const char* name : {"Memcpy DtoH (Device -> Host)", "Memcpy HtoD (Host -> Device)"}) {
    const CopyNameParts parts = parse_copy_name(name);
    EXPECT_EQ(copy_name(parts.kind, parts.src, parts.dst), name);
  }
}

// Several documents.

TEST_F(KinetoInput, DocumentsOfOneFileAreProcessesOfTheirOwn) {
  read(kineto_document(launch_event(1, 1, 1), R"("distributedInfo": {"rank": 1, "world_size": 2},)") + "\n" +
       kineto_document(launch_event(1, 1, 1, 20) + "," + kernel_event(1, 4, 3),
                       R"("distributedInfo": {"rank": 0, "world_size": 2},)"));
  ASSERT_EQ(trace_.processes.size(), 2U);
  EXPECT_EQ(trace_.processes[0].run.rank, 1);
  EXPECT_EQ(trace_.processes[1].run.rank, 0);
  EXPECT_EQ(trace_.processes[1].kernels.size(), 1U);
  EXPECT_TRUE(warns_of("2 traces in one file"));
}

TEST_F(KinetoInput, ADocumentThatRepeatsAnotherIsLeftOutAndSaid) {
  const std::string document = kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 4, 3));
  read(document + document);
  EXPECT_EQ(trace_.processes.size(), 1U);
  EXPECT_TRUE(warns_of("document 2 of the file repeats an earlier one and was left out"));
}

TEST_F(KinetoInput, WhatIsNoTraceBehindOneIsSaid) {
  read(kineto_document(launch_event(1, 1, 1)) + R"({"a": 1})");
  EXPECT_EQ(trace_.processes.size(), 1U);
  EXPECT_TRUE(warns_of("document 2 of the file was left out: there is no \"traceEvents\" array"));
  read(kineto_document(launch_event(1, 1, 1)) + "Done.");
  EXPECT_TRUE(warns_of("5 bytes behind the end of the trace left out"));
}

// Begin and end, times, ids.

TEST_F(KinetoInput, BeginAndEndMakeARange) {
  const KeptProcess& p =
      read_events(R"({"ph":"B","cat":"cpu_op","name":"outer","pid":10,"tid":11,"ts":1.5,"args":{"External id":4}},)"
                  R"({"ph":"B","cat":"cpu_op","name":"inner","pid":10,"tid":11,"ts":2},)"
                  R"({"ph":"B","cat":"cpu_op","name":"elsewhere","pid":10,"tid":12,"ts":2.25},)"
                  R"({"ph":"E","pid":10,"tid":11,"ts":3},)"
                  R"({"ph":"E","name":"outer","pid":10,"tid":11,"ts":9.001},)"
                  R"({"ph":"E","pid":10,"tid":11,"ts":9.5},)"
                  R"({"ph":"B","cat":"kernel","name":"k","pid":0,"tid":7,"ts":4,"args":{"stream":7,"correlation":5}},)"
                  R"({"ph":"E","pid":0,"tid":7,"ts":6.5})");
  const auto found = ranges(p);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(p.text(found[0].text), "inner");
  EXPECT_EQ(found[0].start_ns, 2000);
  EXPECT_EQ(found[0].end_ns, 3000);
  EXPECT_EQ(p.text(found[1].text), "outer");
  EXPECT_EQ(found[1].start_ns, 1500);
  EXPECT_EQ(found[1].end_ns, 9001);
  EXPECT_EQ(found[1].range, 4U);
  ASSERT_EQ(p.kernels.size(), 1U);
  EXPECT_EQ(p.kernels[0].start_ns, 4000);
  EXPECT_EQ(p.kernels[0].end_ns, 6500);
  EXPECT_EQ(p.kernels[0].correlation, 5U);
  EXPECT_EQ(drops(p), (Lines{"1 event of phase 'B': the end is missing",
                             "1 event of phase 'E': no event of phase 'B' begins it"}));
}

TEST_F(KinetoInput, TimesMayBeStrings) {
  const KeptProcess& p =
      read_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":"11","ts":"1.123","dur":"2.5"})");
  EXPECT_EQ(ranges(p).at(0).start_ns, 1123);
  EXPECT_EQ(ranges(p).at(0).end_ns, 3623);
}

TEST_F(KinetoInput, TimesSince1970CountFromTheFirstSecond) {
  const KeptProcess& p =
      read_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":11,"ts":1700000000123456.789,"dur":1.001},)"
                  R"({"ph":"X","cat":"cpu_op","name":"b","pid":10,"tid":11,"ts":1699999999999999.001,"dur":1})");
  EXPECT_EQ(p.run.utc_epoch_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(ranges(p).at(0).start_ns, 123'456'789);
  EXPECT_EQ(ranges(p).at(0).end_ns, 123'457'790);
  EXPECT_EQ(ranges(p).at(1).start_ns, -999);
}

TEST(SmallIds, KeepsLargeIdsApart) {
  SmallIds ids;
  EXPECT_EQ(ids.small(7), 7U);
  EXPECT_EQ(ids.small(-1), 0U);
  const std::uint32_t first = ids.small(0x7F00'0000'1000);
  EXPECT_NE(ids.small(0x7F01'0000'1000), first);
  EXPECT_EQ(ids.small(0x7F00'0000'1000), first);
  // An id that is what another one is called.
  EXPECT_NE(ids.small(first), first);
  EXPECT_NE(ids.small(INT64_MIN + 5), ids.small(INT64_MIN + 6));
}

TEST_F(KinetoInput, IdsOf64BitsAreKeptApart) {
  const auto launch = [](std::uint64_t id, int ts) {
    return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":{},"dur":1,)"
                       R"("args":{{"correlation":{}}}}})",
                       ts, id);
  };
  const auto kernel = [](std::uint64_t id, int ts, const char* stream) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":1,)"
                       R"("args":{{"device":0,"stream":{},"correlation":{}}}}})",
                       ts, stream, id);
  };
  const KeptProcess& p =
      read_events(launch(8589934593, 1) + "," + launch(8589934594, 2) + "," + launch(18446744073709551601U, 3) + "," +
                  kernel(8589934593, 5, "140737488355328") + "," + kernel(8589934594, 6, "\"0x7ff000000000\"") + "," +
                  kernel(18446744073709551601U, 7, "7"));
  ASSERT_EQ(p.kernels.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(p.kernels[i].correlation, p.apis[i].correlation);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(p.kernels[i].correlation, p.kernels[j].correlation);
      EXPECT_NE(p.kernels[i].stream, p.kernels[j].stream);
    }
  }
  EXPECT_EQ(p.kernels[2].stream, 7U);
  EXPECT_TRUE(warns_of("stream 0x800000000000 is called stream "));
}

// Times that cannot be.

TEST_F(KinetoInput, EventsAtTimeZeroFarFromTheRestAreLeftOut) {
  std::string events;
  for (int i = 0; i < 10; ++i)
    events += launch_event(i + 1, 1.7e15 + 10 * i, 1) + "," + kernel_event(i + 1, 1.7e15 + 10 * i + 4, 3) + ",";
  events += kernel_event(3, 0, 0) + "," + kernel_event(4, 0, 0);
  const KeptProcess& p = read_events(events);
  EXPECT_EQ(p.kernels.size(), 10U);
  EXPECT_EQ(drops(p), Lines{"2 events at time zero: hours before all others, as if never timed"});
  EXPECT_EQ(report_.doubts, Lines{"2 events at time zero left out that stand hours before all others: their times are "
                                  "missing"});
}

TEST_F(KinetoInput, TracesThatBeginAtZeroAreWhole) {
  const KeptProcess& p = read_events(launch_event(1, 0, 1) + "," + kernel_event(1, 4, 3) + "," + launch_event(2, 5, 1));
  EXPECT_EQ(p.apis.size(), 2U);
  EXPECT_EQ(drops(p), Lines{});
  EXPECT_EQ(report_.doubts, Lines{});
}

TEST_F(KinetoInput, AKernelThatOverrunsItsStreamIsADoubt) {
  std::string events = kernel_event(1, 0.5, 1000);
  for (int i = 0; i < 3; ++i)
    events += "," + kernel_event(2 + i, 10 + 10 * i, 5);
  events += "," + kernel_event(9, 12, 4, "side", 8);
  const KeptProcess& p = read_events(events);
  EXPECT_EQ(p.kernels.size(), 5U);
  EXPECT_EQ(report_.doubts, Lines{"3 GPU events overlap others of their stream by more than 1 us, which a GPU cannot "
                                  "do: durations in this trace are wrong"});
  EXPECT_EQ(p.run.collector, (std::vector<NamedValue>{{"doubt", report_.doubts.at(0)}}));
}

TEST(StreamOverlaps, OnlyWhatNoGpuDoesIsImpossible) {
  const auto count = [](const std::vector<std::pair<std::int64_t, std::int64_t>>& events) {
    StreamOverlaps overlaps;
    for (const auto& [start, end] : events)
      overlaps.add(1, start, end);
    const StreamOverlaps::Count found = overlaps.count();
    return std::pair(found.overlapping, found.impossible);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(count({{0, 5000}, {5000, 9000}, {8000, 12000}}), Pair(0, 0));  // within the microsecond
  EXPECT_EQ(count({{0, 5000}, {3000, 9000}}), Pair(1, 0));                 // programmatic dependent launch
  EXPECT_EQ(count({{3000, 9000}, {0, 5000}}), Pair(1, 0));                 // in any order
  EXPECT_EQ(count({{0, 9000}, {3000, 5000}}), Pair(1, 1));                 // within
  EXPECT_EQ(count({{0, 9000}, {3000, 9500}, {4000, 20000}}), Pair(2, 1));  // beside two
}

TEST(Counted, PutsTheFirstNounIntoThePlural) {
  EXPECT_EQ(counted(1, "event of category 'x'"), "1 event of category 'x'");
  EXPECT_EQ(counted(12, "event of category 'x'"), "12 events of category 'x'");
  EXPECT_EQ(counted(8, "GPU of deviceProperties"), "8 GPUs of deviceProperties");
  EXPECT_EQ(counted(2, "element of traceEvents"), "2 elements of traceEvents");
  EXPECT_EQ(counted(0, "copy"), "0 copies");
  EXPECT_EQ(counted(2, "process"), "2 processes");
  EXPECT_EQ(counted(2, "array"), "2 arrays");
  EXPECT_EQ(counted(2, "memcpy"), "2 memcpys");
}

}  // namespace
}  // namespace swinscope::test
