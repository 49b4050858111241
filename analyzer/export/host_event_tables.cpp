// The tables of an export about what happened on the host.
#include <string>

#include "analyzer/export/event_tables.h"
#include "analyzer/export/table_columns.h"

namespace swinscope {
namespace {

using enum ExportType;

// An event of a thread of a rank.
struct HostRow {
  const Trace& trace;
  const Rank& rank;
  std::int64_t offset_ns;
  std::uint64_t global_tid;
  std::int64_t start_ns;
  std::int64_t end_ns;
  EventIndex i;
  std::string_view domain = {};
};

template <typename Row>
std::vector<DeclaredColumn<Row>> thread_columns() {
  return {
      {{"rank", kInt32, false, "Rank of the process in its job"}, [](const Row& r) { return number(r.rank.run.rank); }},
      {{"process_id", kInt64, false, "Process"}, [](const Row& r) { return number(pid_of(r.global_tid)); }},
      {{"thread_id", kInt64, false, "Thread; 24 bits are kept"},
       [](const Row& r) { return number(tid_of(r.global_tid)); }}};
}

template <typename Row>
std::vector<DeclaredColumn<Row>> time_columns() {
  return {{{"start_ns", kInt64, false, "Start, on the clock of all ranks"},
           [](const Row& r) { return number(r.start_ns + r.offset_ns); }},
          {{"end_ns", kInt64, false, "End"}, [](const Row& r) { return number(r.end_ns + r.offset_ns); }},
          {{"duration_ns", kInt64, false, "End - start"}, [](const Row& r) { return number(r.end_ns - r.start_ns); }}};
}

using Declared = std::vector<DeclaredColumn<HostRow>>;

Declared join(std::initializer_list<Declared> parts) {
  Declared all;
  for (const Declared& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Calls `visit(rank_index)` for each exported rank.
template <typename Visit>
void for_each_rank(const ExportSource& source, Visit visit) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (source.scope().has_rank(r)) visit(r);
    source.check_cancelled();
  }
}

HostRow host_row(const ExportSource& source, std::size_t r, std::uint64_t global_tid, std::int64_t start_ns,
                 std::int64_t end_ns, std::size_t i) {
  return {source.trace(), source.trace().ranks[r],   source.clock().rank_offset_ns[r], global_tid, start_ns,
          end_ns,         static_cast<EventIndex>(i)};
}

const Declared& call_columns() {
  static const Declared columns =
      join({thread_columns<HostRow>(),
            time_columns<HostRow>(),
            {{{"name", kText, false, "Name of the function"},
              [](const HostRow& r) { return ExportValue(r.trace.text(r.rank.api.name[r.i])); }},
             {{"correlation", kInt64, kMayMiss, "Joins gpu_events.correlation within a process"},
              [](const HostRow& r) { return number_unless(r.rank.api.correlation[r.i], 0U); }}}});
  return columns;
}

void fill_calls(const ExportSource& source, TableFile& file) {
  for_each_rank(source, [&](std::size_t r) {
    const Rank& rank = source.trace().ranks[r];
    for (const ThreadLane& lane : rank.api_lanes) {
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (!source.has_call(r, i)) continue;
        write_row(file, call_columns(),
                  host_row(source, r, lane.global_tid, rank.api.start_ns[i], rank.api.end_ns[i], i));
        source.check_cancelled();
      }
    }
  });
}

const Declared& range_columns() {
  static const Declared columns =
      join({thread_columns<HostRow>(),
            {{{"domain", kText, kMayMiss,
               "NVTX domain; torch.cpu_op and the like for PyTorch's own, where thread_id of gpu_user_annotation is a "
               "stream"},
              [](const HostRow& r) { return text_or_none(r.domain); }},
             {{"depth", kInt32, false, "Enclosing ranges of the same domain and thread"},
              [](const HostRow& r) { return number(r.rank.ranges.depth[r.i]); }}},
            time_columns<HostRow>(),
            {{{"name", kText, false, "Name"},
              [](const HostRow& r) { return ExportValue(r.trace.text(r.rank.ranges.name[r.i])); }},
             {{"payload_json", kText, kMayMiss, "Payload as JSON; of PyTorch's operators the shapes of their inputs"},
              [](const HostRow& r) { return text_or_none(r.trace.text(r.rank.ranges.json[r.i])); }}}});
  return columns;
}

void fill_ranges(const ExportSource& source, TableFile& file) {
  for_each_rank(source, [&](std::size_t r) {
    const Rank& rank = source.trace().ranks[r];
    for (const RangeLane& lane : rank.range_lanes) {
      const std::string domain = rank.domain_name(lane.domain, source.trace().strings);
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (!source.has_host_time(r, rank.ranges.start_ns[i])) continue;
        HostRow row = host_row(source, r, lane.global_tid, rank.ranges.start_ns[i], rank.ranges.end_ns[i], i);
        row.domain = domain;
        write_row(file, range_columns(), row);
        source.check_cancelled();
      }
    }
  });
}

const Declared& mark_columns() {
  static const Declared columns =
      join({thread_columns<HostRow>(),
            {{{"domain", kText, kMayMiss, "NVTX domain"}, [](const HostRow& r) { return text_or_none(r.domain); }},
             {{"time_ns", kInt64, false, "Time, on the clock of all ranks"},
              [](const HostRow& r) { return number(r.start_ns + r.offset_ns); }},
             {{"name", kText, false, "Name"},
              [](const HostRow& r) { return ExportValue(r.trace.text(r.rank.marks[r.i].text)); }},
             {{"payload_json", kText, kMayMiss, "Payload as JSON"},
              [](const HostRow& r) { return text_or_none(r.trace.text(r.rank.marks[r.i].json)); }}}});
  return columns;
}

void fill_marks(const ExportSource& source, TableFile& file) {
  for_each_rank(source, [&](std::size_t r) {
    const Rank& rank = source.trace().ranks[r];
    for (std::size_t i = 0; i < rank.marks.size(); ++i) {
      const NvtxRecord& mark = rank.marks[i];
      if (!source.has_host_time(r, mark.start_ns)) continue;
      HostRow row = host_row(source, r, mark.global_tid, mark.start_ns, mark.start_ns, i);
      const std::string domain = rank.domain_name(mark.domain, source.trace().strings);
      row.domain = domain;
      write_row(file, mark_columns(), row);
    }
  });
}

std::string_view sync_name(SyncType type) {
  switch (type) {
    case SyncType::kEvent:
      return "event";
    case SyncType::kStreamWaitEvent:
      return "stream waits for event";
    case SyncType::kStream:
      return "stream";
    case SyncType::kContext:
      return "context";
    case SyncType::kUnknown:
      break;
  }
  return "unknown";
}

const Declared& sync_columns() {
  static const Declared columns = join(
      {{{{"rank", kInt32, false, "Rank of the process in its job"},
         [](const HostRow& r) { return number(r.rank.run.rank); }},
        {{"device", kInt32, false, "CUDA device ordinal"},
         [](const HostRow& r) { return number(r.rank.syncs[r.i].device); }},
        {{"stream", kInt64, false, "CUDA stream"}, [](const HostRow& r) { return number(r.rank.syncs[r.i].stream); }}},
       time_columns<HostRow>(),
       {{{"kind", kText, false, "event, stream waits for event, stream, context, or unknown"},
         [](const HostRow& r) { return ExportValue(sync_name(r.rank.syncs[r.i].type)); }},
        {{"correlation", kInt64, kMayMiss, "Joins cuda_calls.correlation within a process"},
         [](const HostRow& r) { return number_unless(r.rank.syncs[r.i].correlation, 0U); }}}});
  return columns;
}

const Declared& overhead_columns() {
  static const Declared columns = join({thread_columns<HostRow>(),
                                        time_columns<HostRow>(),
                                        {{{"name", kText, false, "What the profiler did"}, [](const HostRow& r) {
                                            return ExportValue(r.trace.text(r.rank.overheads[r.i].name));
                                          }}}});
  return columns;
}

void fill_syncs(const ExportSource& source, TableFile& file) {
  for_each_rank(source, [&](std::size_t r) {
    const auto& syncs = source.trace().ranks[r].syncs;
    for (std::size_t i = 0; i < syncs.size(); ++i) {
      if (!source.has_host_time(r, syncs[i].start_ns)) continue;
      write_row(file, sync_columns(), host_row(source, r, 0, syncs[i].start_ns, syncs[i].end_ns, i));
    }
  });
}

void fill_overheads(const ExportSource& source, TableFile& file) {
  for_each_rank(source, [&](std::size_t r) {
    const auto& overheads = source.trace().ranks[r].overheads;
    for (std::size_t i = 0; i < overheads.size(); ++i) {
      if (!source.has_host_time(r, overheads[i].start_ns)) continue;
      write_row(file, overhead_columns(),
                host_row(source, r, overheads[i].global_tid, overheads[i].start_ns, overheads[i].end_ns, i));
    }
  });
}

}  // namespace

std::vector<ExportTable> host_event_tables() {
  return {
      {"cuda_calls", "Calls of the CUDA runtime and driver.", columns_of(call_columns()), fill_calls},
      {"ranges", "NVTX ranges, and operators and annotations of PyTorch.", columns_of(range_columns()), fill_ranges},
      {"marks", "NVTX marks.", columns_of(mark_columns()), fill_marks},
      {"synchronizations", "Waits of the host, or of a stream, for GPU work.", columns_of(sync_columns()), fill_syncs},
      {"overheads", "What the profiler itself did in the recorded process.", columns_of(overhead_columns()),
       fill_overheads}};
}

}  // namespace swinscope
