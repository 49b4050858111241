// The table of GPU events of an export: kernels, copies, sets and whole CUDA graphs with what is known of them.
#include "analyzer/export/event_tables.h"
#include "analyzer/export/links.h"
#include "analyzer/export/table_columns.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

using enum ExportType;

struct GpuRow {
  const Trace& trace;
  const Rank& rank;
  const GpuLinks& links;
  std::int64_t offset_ns;
  EventIndex i;

  const GpuEvents& gpu() const { return rank.gpu; }
  const GpuLane& lane() const { return rank.gpu_lanes[rank.gpu.lane[i]]; }
  bool is_kernel() const { return rank.gpu.kind[i] == GpuKind::kKernel; }
  const LaunchConfig& config() const {
    static const LaunchConfig kNone;
    return is_kernel() ? rank.configs[rank.gpu.config[i]] : kNone;
  }
  ExportValue of_kernel(std::int64_t value) const { return is_kernel() ? ExportValue(value) : ExportValue(); }
  EventIndex launch() const { return rank.gpu.launch[i]; }
  ExportValue name_of(EventIndex range) const {
    return range == kNoEvent ? ExportValue() : ExportValue(trace.text(rank.ranges.name[range]));
  }
};

std::string_view kind_name(GpuKind kind) {
  switch (kind) {
    case GpuKind::kKernel:
      return "kernel";
    case GpuKind::kMemcpy:
      return "copy";
    case GpuKind::kMemset:
      return "set";
    case GpuKind::kGraph:
      break;
  }
  return "graph";
}

ExportValue bandwidth(const GpuRow& r) {
  const std::int64_t duration_ns = r.gpu().end_ns[r.i] - r.gpu().start_ns[r.i];
  if (r.is_kernel() || r.gpu().kind[r.i] == GpuKind::kGraph || duration_ns <= 0) return {};
  return static_cast<double>(r.gpu().bytes[r.i]) * 1e9 / static_cast<double>(duration_ns);
}

using Declared = std::vector<DeclaredColumn<GpuRow>>;

// Where it ran, when, and what it is.
Declared identity_columns() {
  return {{{"rank", kInt32, false, "Rank of the process in its job"},
           [](const GpuRow& r) { return number(r.rank.run.rank); }},
          {{"device", kInt32, false, "CUDA device ordinal"}, [](const GpuRow& r) { return number(r.lane().device); }},
          {{"context", kInt64, false, "CUDA context"}, [](const GpuRow& r) { return number(r.lane().context); }},
          {{"stream", kInt64, false, "CUDA stream"}, [](const GpuRow& r) { return number(r.lane().stream); }},
          {{"start_ns", kInt64, false, "Start, on the clock of all ranks"},
           [](const GpuRow& r) { return number(r.gpu().start_ns[r.i] + r.offset_ns); }},
          {{"end_ns", kInt64, false, "End"}, [](const GpuRow& r) { return number(r.gpu().end_ns[r.i] + r.offset_ns); }},
          {{"duration_ns", kInt64, false, "End - start"},
           [](const GpuRow& r) { return number(r.gpu().end_ns[r.i] - r.gpu().start_ns[r.i]); }},
          {{"kind", kText, false, "kernel, copy, set, or graph (a CUDA graph recorded as a whole)"},
           [](const GpuRow& r) { return ExportValue(kind_name(r.gpu().kind[r.i])); }},
          {{"name", kText, false, "Full name of the kernel; kind and places of a copy"},
           [](const GpuRow& r) { return ExportValue(r.trace.text(r.gpu().name[r.i])); }},
          {{"short_name", kText, false, "Name without namespaces, template arguments and parameters"},
           [](const GpuRow& r) { return ExportValue(r.trace.text(r.gpu().short_name[r.i])); }},
          {{"operation", kText, false, "What it does: gemm, attention, conv, norm, elementwise, ..., or unknown"},
           [](const GpuRow& r) { return ExportValue(operation_name(r.gpu().operation[r.i])); }},
          {{"class", kText, false, "compute, communication, memory, or unknown"},
           [](const GpuRow& r) { return ExportValue(class_name(r.gpu().gpu_class[r.i])); }}};
}

Declared launch_columns() {
  return {{{"grid_x", kInt32, kMayMiss, "Blocks in x, of kernels"},
           [](const GpuRow& r) { return r.of_kernel(r.config().grid.x); }},
          {{"grid_y", kInt32, kMayMiss, "Blocks in y"}, [](const GpuRow& r) { return r.of_kernel(r.config().grid.y); }},
          {{"grid_z", kInt32, kMayMiss, "Blocks in z"}, [](const GpuRow& r) { return r.of_kernel(r.config().grid.z); }},
          {{"block_x", kInt32, kMayMiss, "Threads of a block in x"},
           [](const GpuRow& r) { return r.of_kernel(r.config().block.x); }},
          {{"block_y", kInt32, kMayMiss, "Threads of a block in y"},
           [](const GpuRow& r) { return r.of_kernel(r.config().block.y); }},
          {{"block_z", kInt32, kMayMiss, "Threads of a block in z"},
           [](const GpuRow& r) { return r.of_kernel(r.config().block.z); }},
          {{"registers_per_thread", kInt32, kMayMiss, "Registers of a thread"},
           [](const GpuRow& r) { return r.of_kernel(r.config().registers_per_thread); }},
          {{"static_shared_bytes", kInt32, kMayMiss, "Static shared memory of a block"},
           [](const GpuRow& r) { return r.of_kernel(r.config().static_shared_bytes); }},
          {{"dynamic_shared_bytes", kInt32, kMayMiss,
            "Dynamic shared memory of a block; of PyTorch traces static and dynamic together"},
           [](const GpuRow& r) { return r.of_kernel(r.config().dynamic_shared_bytes); }},
          {{"bytes", kInt64, kMayMiss, "Bytes copied or set"},
           [](const GpuRow& r) {
             return r.is_kernel() || r.gpu().kind[r.i] == GpuKind::kGraph ? ExportValue() : number(r.gpu().bytes[r.i]);
           }},
          {{"bandwidth_bytes_per_s", kDouble, kMayMiss, "Bytes over duration"}, bandwidth},
          {{"correlation", kInt64, kMayMiss, "Joins cuda_calls.correlation within a process"},
           [](const GpuRow& r) { return number_unless(r.gpu().correlation[r.i], 0U); }},
          {{"graph_node", kInt64, kMayMiss, "Node of a CUDA graph"},
           [](const GpuRow& r) { return number_unless(r.gpu().graph_node[r.i], std::uint64_t{0}); }},
          {{"launch_start_ns", kInt64, kMayMiss, "Start of the launching call, where it was recorded"},
           [](const GpuRow& r) {
             return r.launch() == kNoEvent ? ExportValue() : number(r.rank.api.start_ns[r.launch()] + r.offset_ns);
           }},
          {{"launch_name", kText, kMayMiss, "The launching call"},
           [](const GpuRow& r) {
             return r.launch() == kNoEvent ? ExportValue() : ExportValue(r.trace.text(r.rank.api.name[r.launch()]));
           }},
          {{"launch_thread_id", kInt64, kMayMiss, "The thread that launched"}, [](const GpuRow& r) {
             return r.launch() == kNoEvent ? ExportValue()
                                           : number(tid_of(r.rank.api_lanes[r.rank.api.lane[r.launch()]].global_tid));
           }}};
}

ExportValue of_note(const GpuRow& r, std::int64_t OperationPayload::*member) {
  const OperationPayload* note = r.links.note(r.i);
  return note == nullptr ? ExportValue() : ExportValue(note->*member);
}

ExportValue of_collective(const GpuRow& r, std::int64_t CollectiveRecord::*member) {
  const CollectiveRecord* collective = r.links.collective(r.i);
  return collective == nullptr ? ExportValue() : ExportValue(collective->*member);
}

// What it belongs to.
Declared link_columns() {
  return {{{"step", kInt64, kMayMiss, "The step, counted from 1, in which it was launched"},
           [](const GpuRow& r) { return number_unless(r.links.step(r.i), std::int64_t{0}); }},
          {{"layer", kText, kMayMiss, "Path of the layer in which it was launched, by annotation"},
           [](const GpuRow& r) { return text_or_none(r.links.layer_path(r.i)); }},
          {{"phase", kText, kMayMiss, "forward, backward, optimizer, ..., by annotation"},
           [](const GpuRow& r) { return r.name_of(r.links.phase(r.i)); }},
          {{"operator", kText, kMayMiss, "PyTorch's operator in which it was launched"},
           [](const GpuRow& r) { return r.name_of(r.links.torch_operator(r.i)); }},
          {{"layer_flops", kInt64, kMayMiss, "FLOPs of the layer's operation, which may be several kernels"},
           [](const GpuRow& r) { return of_note(r, &OperationPayload::flops); }},
          {{"layer_bytes_read", kInt64, kMayMiss, "Bytes that the operation has to read"},
           [](const GpuRow& r) { return of_note(r, &OperationPayload::bytes_read); }},
          {{"layer_bytes_written", kInt64, kMayMiss, "Bytes that the operation has to write"},
           [](const GpuRow& r) { return of_note(r, &OperationPayload::bytes_written); }},
          {{"collective", kText, kMayMiss, "Collective of a communication kernel"},
           [](const GpuRow& r) {
             const CollectiveRecord* collective = r.links.collective(r.i);
             return collective == nullptr ? ExportValue() : ExportValue(r.trace.text(collective->name));
           }},
          {{"in_elements", kInt64, kMayMiss, "Elements sent by the rank"},
           [](const GpuRow& r) { return of_collective(r, &CollectiveRecord::in_elements); }},
          {{"out_elements", kInt64, kMayMiss, "Elements received by the rank"},
           [](const GpuRow& r) { return of_collective(r, &CollectiveRecord::out_elements); }},
          {{"dtype", kText, kMayMiss, "Element type of the collective"}, [](const GpuRow& r) {
             const CollectiveRecord* collective = r.links.collective(r.i);
             return collective == nullptr ? ExportValue() : ExportValue(r.trace.text(collective->dtype));
           }}};
}

const Declared& declared() {
  static const Declared columns = [] {
    Declared all = identity_columns();
    for (const Declared& more : {launch_columns(), link_columns()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return columns;
}

void fill(const ExportSource& source, TableFile& file) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (!source.scope().has_rank(r)) continue;
    const Rank& rank = source.trace().ranks[r];
    const GpuLinks links(source.trace(), source.scope(), r);
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      if (!source.has_gpu_event(r, i)) continue;
      write_row(file, declared(), GpuRow{source.trace(), rank, links, source.clock().rank_offset_ns[r], i});
      source.check_cancelled();
    }
  }
}

}  // namespace

ExportTable gpu_event_table() {
  return {"gpu_events", "Kernels, copies, sets and whole CUDA graphs.", columns_of(declared()), fill};
}

}  // namespace swinscope
