// A trace that was exported in the format of the PyTorch profiler and opened again gives the same view, column by
// column.
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "analyzer/export/kineto.h"
#include "tests/unit/analyzer/export_support.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using nlohmann::json;

// Empty when the view of the export is that of the source.
std::string difference(const Trace& trace) {
  const TempFolder folder;
  const Trace again = through_kineto(trace, folder);
  EXPECT_EQ(again.ranks.size(), trace.ranks.size());
  return first_difference(describe_all(trace), describe_all(again));
}

json document_of(const Trace& trace, const Selection& selection = whole_trace()) {
  return json::parse(export_text(
      trace, selection, [](const ExportSource& source, ExportOutput& output) { export_kineto(source, 0, output); }));
}

json events_of(const json& document, const char* category) {
  json found = json::array();
  for (const json& event : document["traceEvents"]) {
    if (event.value("cat", "") == category) found.push_back(event);
  }
  return found;
}

fs::path data(const char* name) { return fs::path(SWINSCOPE_SOURCE_DIR) / "data" / name; }

TEST(ExportKineto, RandomTracesComeBackAsTheyWere) {
  for (unsigned seed = 1; seed <= 40; ++seed)
    ASSERT_EQ(difference(random_full_trace(seed, static_cast<int>(seed))), "") << "seed " << seed;
}

TEST(ExportKineto, ARecordingOfOursOnTwoGpusComesBackAsItWas) {
  EXPECT_EQ(difference(open_trace(data("swinscope_swin_tiny_ddp_2gpu"))), "");
}

TEST(ExportKineto, ARecordingOfOursWithAGraphComesBackAsItWas) {
  EXPECT_EQ(difference(open_trace(data("swinscope_swin_tiny_graph_1gpu.db"))), "");
}

TEST(ExportKineto, APyTorchTraceComesBackAsItWas) {
  EXPECT_EQ(difference(open_trace(data("pytorch_swin_tiny_ddp_2gpu"))), "");
}

TEST(ExportKineto, WaitsComeBackAndOtherToolsFindThem) {
  const TempFolder folder;
  write_file(folder / "t.json", kineto_document(waiting_events()));
  const Trace trace = open_trace(folder / "t.json");
  ASSERT_EQ(trace.ranks.at(0).cuda_events.size(), 1U);
  EXPECT_EQ(difference(trace), "");
  const json waits = events_of(document_of(trace), "cuda_sync");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0]["args"]["wait_on_stream"], 7);
  EXPECT_EQ(waits[0]["args"]["wait_on_cuda_event_record_corr_id"], 2);
  EXPECT_EQ(waits[0]["args"]["wait_on_cuda_event_id"], 5);
}

TEST(ExportKineto, AnNsysExportComesBackAsItWas) {
  const char* path = std::getenv("SWINSCOPE_NSYS_TRACE");
  if (path == nullptr) GTEST_SKIP() << "SWINSCOPE_NSYS_TRACE names no Nsight Systems export";
  EXPECT_EQ(difference(open_trace(path)), "");
}

TEST(ExportKineto, WhatTheRecorderSawComesBackWithTheFirstRank) {
  TraceBuilder builder;
  add_random_process(builder, 3, 5);
  RecordSink& sink = builder.add_process();
  RunInfo run = full_run_info();
  run.rank = kNoRank;
  sink.set_run(run);
  const std::uint64_t pid = make_global_pid(5);
  sink.add(ProcessRecord{pid, 10, kOpenEnd, 0, 0, sink.intern("python"), sink.intern(kOddName), 5, 6, 7});
  sink.add(ProcessCpuRecord{20, pid, 3, 4});
  Trace trace;
  builder.move_into(trace);
  ASSERT_EQ(trace.launchers.size(), 1U);
  EXPECT_EQ(difference(trace), "");
}

// What other tools look for, by hand: a call of 1000 to 3000 ns on thread 2 of process 77, a kernel of 2500 to 4000 ns.
Trace small_trace() {
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  ApiRecord call;
  call.start_ns = 1'000;
  call.end_ns = 3'000;
  call.global_tid = make_global_tid(77, 2);
  call.correlation = 9;
  call.name = sink.intern("cudaLaunchKernel");
  sink.add(call);
  KernelRecord kernel;
  kernel.start_ns = 2'500;
  kernel.end_ns = 4'000;
  kernel.global_pid = make_global_pid(77);
  kernel.device = 1;
  kernel.stream = 13;
  kernel.correlation = 9;
  kernel.demangled_name = sink.intern("gemm<float>(int)");
  kernel.grid = {4, 5, 6};
  kernel.block = {7, 8, 9};
  kernel.static_shared_bytes = 16;
  kernel.dynamic_shared_bytes = 48;
  sink.add(kernel);
  NvtxRecord step;
  step.start_ns = 500;
  step.end_ns = 3'500;
  step.global_tid = make_global_tid(77, 2);
  step.text = sink.intern("step 0");
  sink.add(step);
  RunInfo run;
  run.source = "swinscope";
  run.rank = 3;
  run.world_size = 8;
  run.global_pid = make_global_pid(77);
  run.utc_epoch_ns = 1'700'000'000'000'000'000;
  run.gpus = {{1, "H200", "GPU-1", 1'000, 132, 9, 0, "", "", 0, 0, 0}};
  sink.set_run(run);
  Trace trace;
  builder.move_into(trace);
  return trace;
}

TEST(ExportKineto, AKernelAndItsLaunchAreWrittenAsPyTorchDoes) {
  const json document = document_of(small_trace());
  EXPECT_EQ(document["distributedInfo"], json({{"rank", 3}, {"world_size", 8}}));
  EXPECT_EQ(document["baseTimeNanoseconds"], 1'700'000'000'000'000'000);
  EXPECT_EQ(document["deviceProperties"][0]["numSms"], 132);

  const json kernels = events_of(document, "kernel");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0]["pid"], 1);
  EXPECT_EQ(kernels[0]["tid"], 13);
  EXPECT_EQ(kernels[0]["ts"], 2.5);
  EXPECT_EQ(kernels[0]["dur"], 1.5);
  const json& arguments = kernels[0]["args"];
  EXPECT_EQ(arguments["correlation"], 9);
  EXPECT_EQ(arguments["stream"], 13);
  EXPECT_EQ(arguments["grid"], json({4, 5, 6}));
  EXPECT_EQ(arguments["shared memory"], 64);

  const json calls = events_of(document, "cuda_runtime");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0]["pid"], 77);
  EXPECT_EQ(calls[0]["tid"], 2);
  EXPECT_EQ(calls[0]["args"]["correlation"], 9);

  // An arrow from the call to the kernel.
  const json arrows = events_of(document, "ac2g");
  ASSERT_EQ(arrows.size(), 2U);
  EXPECT_EQ(arrows[0]["ph"], "s");
  EXPECT_EQ(arrows[0]["tid"], 2);
  EXPECT_EQ(arrows[1]["ph"], "f");
  EXPECT_EQ(arrows[1]["tid"], 13);
  EXPECT_EQ(arrows[0]["id"], arrows[1]["id"]);
}

TEST(ExportKineto, StepsAreAlsoProfilerStepsAndAreNotReadTwice) {
  const Trace trace = small_trace();
  const json document = document_of(trace);
  std::set<std::string> names;
  for (const char* category : {"user_annotation", "gpu_user_annotation"}) {
    for (const json& event : events_of(document, category))
      names.insert(fmt::format("{} {} {}", category, event["name"].get<std::string>(), event["dur"].get<double>()));
  }
  // The range itself, the step on its thread and on the stream, where it is as long as its kernel, and an empty one
  // behind all events, since HTA leaves the last one out.
  EXPECT_EQ(names,
            (std::set<std::string>{"user_annotation step 0 3", "user_annotation ProfilerStep#1 3",
                                   "user_annotation ProfilerStep#2 0", "gpu_user_annotation ProfilerStep#1 1.5"}));
  const TempFolder folder;
  EXPECT_EQ(through_kineto(trace, folder).ranks.at(0).ranges.size(), 1U);
}

TEST(ExportKineto, TimesBeforeTheSessionAreMovedAndMovedBack) {
  TraceBuilder builder;
  add_random_process(builder, 5, 3);  // begins at -5 us
  Trace trace;
  builder.move_into(trace);
  const json document = document_of(trace);
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X") {
      EXPECT_GT(event["ts"].get<double>(), 0);
    }
  }
  EXPECT_EQ(difference(trace), "");
}

// Two days after the session began, as counted by a machine's clock: exported from a millisecond on.
TEST(ExportKineto, LateTimesAreMovedAndMovedBack) {
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  KernelRecord kernel;
  kernel.start_ns = 2LL * 24 * 3600 * 1'000'000'000 + 123;
  kernel.end_ns = kernel.start_ns + 1'500;
  kernel.demangled_name = sink.intern("f(int)");
  sink.add(kernel);
  RunInfo run;
  run.source = "swinscope";
  run.utc_epoch_ns = 1'700'000'000'000'000'000;
  sink.set_run(run);
  Trace trace;
  builder.move_into(trace);
  const json document = document_of(trace);
  EXPECT_EQ(events_of(document, "kernel")[0]["ts"], 1'000.123);
  EXPECT_EQ(document["baseTimeNanoseconds"], 1'700'000'000'000'000'000 + 2LL * 24 * 3600 * 1'000'000'000 - 1'000'000);
  EXPECT_EQ(difference(trace), "");
}

TEST(ExportKineto, ASelectionLeavesTheOthersOut) {
  Selection selection = whole_trace();
  selection.name = "no such kernel";
  const json document = document_of(small_trace(), selection);
  EXPECT_EQ(events_of(document, "kernel").size(), 0U);
  EXPECT_EQ(events_of(document, "cuda_runtime").size(), 0U);
}

// What stands beside the events may be damaged, or made up.
TEST(ExportKineto, MadeUpRowsAreCountedAndLeftOut) {
  const TempFolder folder;
  const std::string first =
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_export", "args": {"offset_ns": 0, "global_pid": 1}},)";
  const std::string rows =
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_records", "args": {"kind": "thread_cpu", "rows": [[1, 2], "x", [1, "a", 3], [1, 2, 3], [9223372036854775807, 2, 3]]}},)"
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_records", "args": {"kind": "process", "launcher": 7, "rows": [[]]}},)"
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_records", "args": {"kind": "nothing", "rows": [[]]}},)"
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_records", "args": 3},)";
  write_file(folder / "t.json", kineto_document(first + rows + kernel_event(1, 14, 3)));
  const Trace trace = open_trace(folder / "t.json");
  ASSERT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.ranks[0].thread_cpu.size(), 1U);
  ASSERT_EQ(trace.ranks[0].run.drops.size(), 1U);
  EXPECT_EQ(trace.ranks[0].run.drops[0].count, 7);  // four rows, two more of other kinds, and an event without any
}

TEST(ExportKineto, AProcessThatEndsBeforeItBeginsIsLeftOut) {
  const TempFolder folder;
  const std::string rows =
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_export", "args": {"offset_ns": 0, "global_pid": 1}},)"
      R"({"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_records", "args": {"kind": "process", "launcher": 0, "rows": [)"
      R"([1, 100, 99, 0, 0, "early", "p", 1, 2, 3], [1, 100, 100, 0, 0, "at once", "p", 1, 2, 3],)"
      R"([1, 100, -9223372036854775808, 0, 0, "open", "p", 1, 2, 3]]}},)";
  write_file(folder / "t.json", kineto_document(rows + kernel_event(1, 14, 3)));
  const Trace trace = open_trace(folder / "t.json");
  std::vector<std::string> names;
  for (const Launcher& launcher : trace.launchers) {
    for (const ProcessRecord& process : launcher.processes)
      names.emplace_back(trace.text(process.name));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"at once", "open"}));
}

// Events that claim to be ours in a file that did not begin as such are passed over.
TEST(ExportKineto, OnlyAFileThatBeginsAsOursIsOurs) {
  const TempFolder folder;
  const std::string late =
      R"(,{"ph": "M", "pid": 1, "tid": 0, "name": "swinscope_export", "args": {"offset_ns": 5000, "global_pid": 1}},)";
  write_file(folder / "t.json", kineto_document(kernel_event(1, 14, 3) + late + kernel_event(2, 24, 3)));
  const Trace trace = open_trace(folder / "t.json");
  EXPECT_EQ(trace.ranks[0].gpu.start_ns, (std::vector<std::int64_t>{14'000, 24'000}));
}

}  // namespace
}  // namespace swinscope::test
