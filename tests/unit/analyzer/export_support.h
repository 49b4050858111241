// What the tests of exports share: a trace with a record of every kind, and exports read back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyzer/export/kineto.h"
#include "analyzer/export/output.h"
#include "analyzer/export/source.h"
#include "analyzer/importers/open.h"
#include "analyzer/trace/classify.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/analyzer/view.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {

// The lines of linker symbols by their text: a view has them by the numbers of their strings.
inline void sort_symbols(std::vector<std::string>& lines) {
  const auto is_symbol = [](const std::string& line) { return line.starts_with("symbol "); };
  for (auto begin = std::ranges::find_if(lines, is_symbol); begin != lines.end();) {
    const auto end = std::find_if_not(begin, lines.end(), is_symbol);
    std::sort(begin, end);
    begin = std::find_if(end, lines.end(), is_symbol);
  }
}

// Also what view.h leaves out: records that only our own recordings have.
inline std::vector<std::string> describe_all(const Trace& trace) {
  std::vector<std::string> lines = describe(trace);
  sort_symbols(lines);
  KeptProcess texts;
  kept_texts(trace, texts);
  for (const Rank& rank : trace.ranks) {
    for (const GraphNodeRecord& r : rank.graph_nodes) {
      lines.push_back(fmt::format("node {} of {} at {} tid {:#x}", r.node, r.original, r.time_ns, r.global_tid));
    }
    for (const NamedValue& fact : rank.run.collector)
      lines.push_back(fmt::format("collector '{}' = '{}'", fact.name, fact.value));
    for (const ContextInfo& c : rank.run.contexts)
      lines.push_back(fmt::format("context {} device {} null stream {}", c.context, c.device, c.null_stream));
    for (const StreamInfo& s : rank.run.streams)
      lines.push_back(fmt::format("stream {} context {} priority {} flag {}", s.stream, s.context, s.priority, s.flag));
  }
  for (const Launcher& launcher : trace.launchers) {
    for (std::string& line : describe(launcher.run))
      lines.push_back(std::move(line));
    for (const ProcessRecord& r : launcher.processes)
      lines.push_back(describe(texts, r));
    for (const ProcessCpuRecord& r : launcher.process_cpu)
      lines.push_back(describe(texts, r));
  }
  return lines;
}

inline std::string export_text(const Trace& trace, const Selection& selection,
                               const std::function<void(const ExportSource&, ExportOutput&)>& write) {
  const TempFolder folder;
  const ExportSource source(trace, selection, {});
  ExportOutput output(folder / "export", false);
  write(source, output);
  output.finish();
  return read_file(folder / "export");
}

inline Selection whole_trace() {
  Selection selection;
  selection.scope = Scope::kTrace;
  return selection;
}

// Exported rank by rank into a folder, and opened again.
inline Trace through_kineto(const Trace& trace, const TempFolder& folder) {
  const ExportSource source(trace, whole_trace(), {});
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    ExportOutput output(folder / kineto_file_name(trace, r), false);
    export_kineto(source, r, output);
    output.finish();
  }
  return open_trace(folder.path());
}

// Names with everything that JSON has to escape.
inline constexpr std::string_view kOddName =
    "q\"uote \\ tab\t nul\x01 del\x7f \xE2\x80\xA8 \xF0\x9F\x98\x80 </script> 'x'";

inline void add_rare_records(RecordSink& sink, Dice& dice, int n) {
  const auto time = [&] { return dice.between(-4'000, 100'000'000); };
  const std::uint64_t pid = make_global_pid(kTestPid);
  for (int i = 0; i < n; ++i) {
    NvtxRecord mark;
    mark.type = NvtxType::kMark;
    mark.start_ns = time();
    mark.global_tid = pid + static_cast<std::uint64_t>(dice.between(0, 2));
    mark.text = sink.intern(fmt::format("{} {}", kOddName, dice.between(0, 3)));
    mark.json = sink.intern(dice.one_in(2) ? "" : R"({"loss": 1.5})");
    mark.domain = static_cast<std::uint32_t>(dice.between(0, 1));
    mark.color = static_cast<std::uint32_t>(dice.between(0, 0xFFFFFFFF));
    mark.value_type = NvtxValueType::kDouble;
    mark.double_value = dice.one_in(3) ? std::numeric_limits<double>::infinity() : 0.1;
    sink.add(mark);

    SyncRecord sync;
    sync.start_ns = time();
    sync.end_ns = sync.start_ns + dice.duration_ns();
    sync.global_pid = dice.one_in(4) ? 0 : pid;
    sync.type = static_cast<SyncType>(dice.between(0, 4));
    sync.stream = dice.one_in(3) ? 0xFFFFFFFF : static_cast<std::uint32_t>(dice.between(0, 9));
    sync.event = static_cast<std::uint32_t>(dice.between(0, 9));
    sync.event_sync = static_cast<std::uint64_t>(dice.between(0, 9));
    sync.correlation = static_cast<std::uint32_t>(dice.between(0, 0xFFFFFFFF));
    sink.add(sync);

    CudaEventRecord recorded;
    recorded.time_ns = dice.one_in(4) ? kUnknownTime : time();
    recorded.global_pid = sync.global_pid;
    recorded.event_sync = static_cast<std::uint64_t>(dice.between(0, 9));
    recorded.correlation = static_cast<std::uint32_t>(dice.between(0, 0xFFFFFFFF));
    recorded.device = static_cast<std::int32_t>(dice.between(0, 1));
    recorded.context = static_cast<std::uint32_t>(dice.between(0, 2));
    recorded.stream = static_cast<std::uint32_t>(dice.between(0, 9));
    recorded.event = sync.event;
    sink.add(recorded);

    OverheadRecord overhead;
    overhead.start_ns = time();
    overhead.end_ns = overhead.start_ns + dice.duration_ns();
    overhead.global_tid = pid + 1;
    overhead.name = sink.intern("Buffer Flush");
    overhead.type = static_cast<std::int32_t>(dice.between(1, 9));
    sink.add(overhead);

    CollectiveRecord collective;
    collective.global_pid = pid;
    collective.correlation = static_cast<std::uint32_t>(dice.between(1, 50));
    collective.name = sink.intern("allreduce");
    collective.dtype = sink.intern("Half");
    collective.group_name = sink.intern(kOddName);
    collective.ranks = sink.intern("[0, 1]");
    collective.in_elements = dice.between(0, 1'000'000'000'000);
    collective.seq = dice.between(-1, 100);
    sink.add(collective);

    sink.add(GraphNodeRecord{time(), pid + 1, static_cast<std::uint64_t>(dice.between(1, 1'000'000)), 0});
    sink.add(ThreadCpuRecord{time(), pid + static_cast<std::uint64_t>(dice.between(0, 2)), dice.between(0, 1'000)});
  }
}

inline void add_rare_kernels(RecordSink& sink, Dice& dice, int n) {
  for (int i = 0; i < n; ++i) {
    KernelRecord kernel;
    kernel.start_ns = dice.between(0, 100'000'000);
    kernel.end_ns = kernel.start_ns + dice.duration_ns();
    kernel.global_pid = make_global_pid(kTestPid);
    kernel.stream = 0xF000'0001;  // numbers that foreign ids are given
    kernel.context = 2;
    kernel.correlation = static_cast<std::uint32_t>(dice.between(0, 0xFFFFFFFF));
    kernel.graph_node = static_cast<std::uint64_t>(dice.between(0, 3)) << 62U;
    kernel.demangled_name = sink.intern(fmt::format("void k{}<int>(int, \"{}\")", i % 3, kOddName));
    kernel.short_name = sink.intern("another");
    kernel.mangled_name = sink.intern(fmt::format("_Z1k{}v", i % 3));
    kernel.grid = {1, 2, 3};
    kernel.block = {4, 5, 6};
    kernel.cluster = {2, 1, 1};
    kernel.registers_per_thread = 32;
    kernel.static_shared_bytes = 16;
    kernel.dynamic_shared_bytes = 48;
    sink.add(kernel);
    GraphTraceRecord graph;
    static_cast<GpuRecord&>(graph) = kernel;
    graph.graph_node = 0;  // it is no node of a graph
    graph.graph = static_cast<std::uint32_t>(dice.between(1, 9));
    sink.add(graph);
    MemcpyRecord copy;
    static_cast<GpuRecord&>(copy) = kernel;
    copy.kind = static_cast<CopyKind>(dice.between(1, 10));
    copy.src_kind = static_cast<MemoryKind>(dice.between(0, 4));
    copy.dst_kind = static_cast<MemoryKind>(dice.between(0, 4));
    copy.bytes = dice.between(0, 1'000'000'000'000);
    sink.add(copy);
    NvtxRecord range;
    range.start_ns = kernel.start_ns;
    range.end_ns = kernel.end_ns;
    range.global_tid = make_global_tid(kTestPid, 0xFFFFFF);
    range.domain = 7;
    range.text = sink.intern(kOddName);
    range.json = sink.intern(dice.one_in(2) ? R"({"a": [1, {"b": "\""}]})" : "no JSON \"");
    sink.add(range);
  }
}

inline RunInfo full_run_info() {
  RunInfo run;
  run.source = "swinscope";
  run.rank = 1;
  run.world_size = 2;
  run.global_pid = make_global_pid(kTestPid);
  run.host = "host.example";
  run.command = std::string("python ") + std::string(kOddName);
  run.complete = false;
  run.graph_level_only = true;
  run.utc_epoch_ns = 1'700'000'000'123'456'789;
  run.gpus = {{0, "H200", "GPU-1", 140, 132, 9, 0, "", "", 0, 0, 0},
              {1, "H200", "GPU-2", 140, 132, 9, 0, "", "", 0, 0, 0}};
  run.contexts = {{1, 0, 7}};
  run.streams = {{13, 1, -5, 2}};
  run.processes = {{run.global_pid, "python"}};
  run.threads = {{make_global_tid(kTestPid, 1), "main \"x\""}};
  run.windows = {{-10, 100'000'000'000}};
  run.environment = {{"distributed.backend", "nccl"}, {"env.X", "\n"}};
  run.collector = {{"cuda.activity", "recorded: all"}, {"doubt", "of something"}};
  run.drops = {{"kernel", 3, "a full buffer"}};
  return run;
}

// One process with records of every kind, at random.
inline Trace random_full_trace(unsigned seed, int size) {
  TraceBuilder builder;
  add_random_process(builder, seed, size);
  Dice dice(seed + 1'000'000);
  RecordSink& sink = builder.add_process();
  add_rare_records(sink, dice, size / 2);
  add_rare_kernels(sink, dice, size / 2);
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(size); ++i) {
    add_host_work(sink, dice, i, dice.between(-5'000, 90'000'000));
    add_gpu_work(sink, dice, i, dice.between(-5'000, 90'000'000));
  }
  NvtxRecord domain;
  domain.type = NvtxType::kDomain;
  domain.domain = 1;
  domain.text = sink.intern("swinscope");
  sink.add(domain);
  sink.set_run(full_run_info());
  Trace trace;
  builder.move_into(trace);
  classify(trace, {});
  return trace;
}

}  // namespace swinscope::test
