// The tables of an export about the run as a whole: ranks, GPUs, steps, facts, losses.
#include "analyzer/export/event_tables.h"
#include "analyzer/export/table_columns.h"

namespace swinscope {
namespace {

using enum ExportType;

// Something of a rank: an entry of one of its lists.
template <typename Entry>
struct RunRow {
  const ExportSource& source;
  std::size_t rank_index;
  const Entry& entry;
  std::int64_t number = 0;  // of a step

  const RunInfo& run() const { return source.trace().ranks[rank_index].run; }
  std::int64_t offset_ns() const { return source.clock().rank_offset_ns[rank_index]; }
};

template <typename Row>
DeclaredColumn<Row> rank_column() {
  return {{"rank", kInt32, false, "Rank of the process in its job"}, [](const Row& r) { return number(r.run().rank); }};
}

// A row for each entry of the list that `list_of(rank)` gives.
template <typename Entry, typename ListOf>
void fill_list(const ExportSource& source, TableFile& file, const std::vector<DeclaredColumn<RunRow<Entry>>>& columns,
               ListOf list_of) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (!source.scope().has_rank(r)) continue;
    for (const Entry& entry : list_of(r))
      write_row(file, columns, RunRow<Entry>{source, r, entry});
  }
}

using RankRow = RunRow<Rank>;

const std::vector<DeclaredColumn<RankRow>>& rank_columns() {
  static const std::vector<DeclaredColumn<RankRow>> columns = {
      rank_column<RankRow>(),
      {{"world_size", kInt32, kMayMiss, "Ranks of the job"},
       [](const RankRow& r) { return number_unless(r.run().world_size, 0); }},
      {{"process_id", kInt64, false, "Process"}, [](const RankRow& r) { return number(pid_of(r.run().global_pid)); }},
      {{"host", kText, kMayMiss, "Host name"}, [](const RankRow& r) { return text_or_none(r.run().host); }},
      {{"command", kText, kMayMiss, "Command line"}, [](const RankRow& r) { return text_or_none(r.run().command); }},
      {{"source", kText, false, "Who recorded: swinscope, kineto or nsys"},
       [](const RankRow& r) { return ExportValue(r.run().source); }},
      {{"source_file", kText, kMayMiss, "The file that was imported"},
       [](const RankRow& r) { return text_or_none(r.run().source_file); }},
      {{"is_complete", kInt32, false, "1 when the recording was finished, 0 when it was cut off"},
       [](const RankRow& r) { return number(r.run().complete ? 1 : 0); }},
      {{"zero_utc_ns", kInt64, kMayMiss,
        "When the exported times of this rank are 0, since 1970-01-01 UTC; ranks agree to a microsecond"},
       [](const RankRow& r) {
         const std::int64_t utc_ns = r.source.clock().rank_utc_ns[r.rank_index];
         return utc_ns == 0 ? ExportValue() : number(utc_ns - r.offset_ns());
       }},
      {{"offset_ns", kInt64, false, "Exported times of this rank - times in its recording"},
       [](const RankRow& r) { return number(r.offset_ns()); }},
      {{"steps_found_by", kText, kMayMiss, "How its steps were found"},
       [](const RankRow& r) { return text_or_none(r.source.scope().steps()[r.rank_index].how); }}};
  return columns;
}

void fill_ranks(const ExportSource& source, TableFile& file) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (source.scope().has_rank(r)) write_row(file, rank_columns(), RankRow{source, r, source.trace().ranks[r]});
  }
}

using GpuInfoRow = RunRow<GpuInfo>;

const std::vector<DeclaredColumn<GpuInfoRow>>& gpu_columns() {
  static const std::vector<DeclaredColumn<GpuInfoRow>> columns = {
      rank_column<GpuInfoRow>(),
      {{"device", kInt32, false, "CUDA device ordinal"}, [](const GpuInfoRow& r) { return number(r.entry.device); }},
      {{"name", kText, kMayMiss, "Product"}, [](const GpuInfoRow& r) { return text_or_none(r.entry.name); }},
      {{"uuid", kText, kMayMiss, "UUID"}, [](const GpuInfoRow& r) { return text_or_none(r.entry.uuid); }},
      {{"memory_bytes", kInt64, kMayMiss, "Device memory"},
       [](const GpuInfoRow& r) { return number_unless(r.entry.memory_bytes, std::int64_t{0}); }},
      {{"sm_count", kInt32, kMayMiss, "Streaming multiprocessors"},
       [](const GpuInfoRow& r) { return number_unless(r.entry.sm_count, 0); }},
      {{"compute_major", kInt32, kMayMiss, "Compute capability, major"},
       [](const GpuInfoRow& r) { return number_unless(r.entry.compute_major, 0); }},
      {{"compute_minor", kInt32, kMayMiss, "Compute capability, minor"},
       [](const GpuInfoRow& r) { return r.entry.compute_major == 0 ? ExportValue() : number(r.entry.compute_minor); }}};
  return columns;
}

using StepRow = RunRow<Interval>;

const std::vector<DeclaredColumn<StepRow>>& step_columns() {
  static const std::vector<DeclaredColumn<StepRow>> columns = {
      rank_column<StepRow>(),
      {{"step", kInt64, false, "Counted from 1"}, [](const StepRow& r) { return number(r.number); }},
      {{"start_ns", kInt64, false, "Start, on the clock of all ranks"},
       [](const StepRow& r) { return number(r.entry.begin_ns + r.offset_ns()); }},
      {{"end_ns", kInt64, false, "End"}, [](const StepRow& r) { return number(r.entry.end_ns + r.offset_ns()); }},
      {{"duration_ns", kInt64, false, "End - start"}, [](const StepRow& r) { return number(r.entry.length()); }},
      {{"is_repetition", kInt32, false, "1 where steps are repetitions of kernels, on the time of the GPU"},
       [](const StepRow& r) { return number(r.source.scope().steps()[r.rank_index].is_repetition() ? 1 : 0); }}};
  return columns;
}

void fill_steps(const ExportSource& source, TableFile& file) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (!source.scope().has_rank(r)) continue;
    const std::vector<Interval>& steps = source.scope().steps()[r].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!source.has_host_time(r, steps[i].begin_ns)) continue;
      write_row(file, step_columns(), StepRow{source, r, steps[i], static_cast<std::int64_t>(i) + 1});
    }
  }
}

using FactRow = RunRow<NamedValue>;

const std::vector<DeclaredColumn<FactRow>>& fact_columns() {
  static const std::vector<DeclaredColumn<FactRow>> columns = {
      rank_column<FactRow>(),
      {{"name", kText, false, "Fact: cpu.model, cuda.driver, env.NCCL_ALGO, ..."},
       [](const FactRow& r) { return ExportValue(r.entry.name); }},
      {{"value", kText, false, "Value"}, [](const FactRow& r) { return ExportValue(r.entry.value); }}};
  return columns;
}

using DropRow = RunRow<DropInfo>;

const std::vector<DeclaredColumn<DropRow>>& drop_columns() {
  static const std::vector<DeclaredColumn<DropRow>> columns = {
      rank_column<DropRow>(),
      {{"what", kText, false, "Kind of record"}, [](const DropRow& r) { return ExportValue(r.entry.what); }},
      {{"count", kInt64, false, "How many were lost or could not be read"},
       [](const DropRow& r) { return number(r.entry.count); }},
      {{"reason", kText, false, "Why"}, [](const DropRow& r) { return ExportValue(r.entry.reason); }}};
  return columns;
}

void fill_gpus(const ExportSource& source, TableFile& file) {
  fill_list<GpuInfo>(source, file, gpu_columns(), [&](std::size_t r) { return source.trace().ranks[r].run.gpus; });
}
void fill_environment(const ExportSource& source, TableFile& file) {
  fill_list<NamedValue>(source, file, fact_columns(),
                        [&](std::size_t r) { return source.trace().ranks[r].run.environment; });
}
void fill_drops(const ExportSource& source, TableFile& file) {
  fill_list<DropInfo>(source, file, drop_columns(), [&](std::size_t r) { return source.trace().ranks[r].run.drops; });
}

}  // namespace

std::vector<ExportTable> run_tables() {
  return {{"ranks", "The processes of the job.", columns_of(rank_columns()), fill_ranks},
          {"gpus", "The GPUs that each rank could see.", columns_of(gpu_columns()), fill_gpus},
          {"steps", "Training or inference iterations.", columns_of(step_columns()), fill_steps},
          {"environment", "Facts about machine, software and settings.", columns_of(fact_columns()), fill_environment},
          {"lost_records", "Records that were lost or could not be read; without rows nothing was.",
           columns_of(drop_columns()), fill_drops}};
}

}  // namespace swinscope
