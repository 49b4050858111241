#include "store/writer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "store/database.h"
#include "store/error.h"
#include "store/insert.h"
#include "store/run_tables.h"
#include "store/schema.h"
#include "store/string_pool.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Rows between commits when nobody calls flush(): bounds the memory of SQLite's page cache.
constexpr int kRowsPerTransaction = 50'000;

// A live recording forgets the strings it has interned beyond this, so that a program that names every range
// differently costs bounded memory; a forgotten string that comes again gets a second row.
constexpr std::size_t kMaxLiveStrings = 200'000;

Binder& common(Binder& row, const GpuRecord& r) {
  return row.value(r.start_ns)
      .value(r.end_ns)
      .value(r.device)
      .value(r.context)
      .optional(r.green_context)
      .value(r.stream)
      .optional(r.correlation)
      .optional(r.global_pid);
}

// A file that disappears again when it cannot be completed.
class FileInTheMaking {
 public:
  explicit FileInTheMaking(const fs::path& path) : path_(path) {}
  FileInTheMaking(const FileInTheMaking&) = delete;
  FileInTheMaking& operator=(const FileInTheMaking&) = delete;
  FileInTheMaking(FileInTheMaking&&) = delete;
  FileInTheMaking& operator=(FileInTheMaking&&) = delete;
  ~FileInTheMaking() {
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }

  void keep() { kept_ = true; }

 private:
  const fs::path& path_;
  bool kept_ = false;
};

Database create_database(const fs::path& path, WriteMode mode) {
  std::error_code none;
  const bool claimed = mode == WriteMode::kLive && fs::is_regular_file(path, none) && fs::is_empty(path, none);
  Database db = claimed ? Database::open_writable(path) : Database::create(path);
  FileInTheMaking file(path);
  // First of all: to change the journal is to write, too, and to wait four times until it is on the disk.
  db.exec("PRAGMA synchronous=OFF; PRAGMA page_size=8192");
  db.exec(mode == WriteMode::kLive ? "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=4000"
                                   : "PRAGMA journal_mode=OFF");
  db.exec("PRAGMA cache_size=-16384");
  // One transaction: each of its own would write the list of tables again, a megabyte in all.
  Transaction first(db);
  db.exec(kSchemaSql);
  db.exec("INSERT INTO StringIds VALUES(0, '')");
  first.commit();
  file.keep();
  return db;
}

constexpr const char* kCloseRangeSql =
    "INSERT OR REPLACE INTO NVTX_EVENTS(start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid,"
    " textId, domainId, uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue, jsonTextId, "
    "jsonText,"
    " binaryData, rowid) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
// The texts are stored as such; ids may be older than what the pool remembers.
constexpr const char* kCollectiveSql =
    "INSERT INTO SWINSCOPE_COLLECTIVE VALUES(?1,?2,?3,(SELECT value FROM StringIds WHERE id=?4),?5,?6,"
    "(SELECT value FROM StringIds WHERE id=?7),?8,(SELECT value FROM StringIds WHERE id=?9),"
    "(SELECT value FROM StringIds WHERE id=?10),?11)";
constexpr const char* kProcessSql =
    "INSERT OR REPLACE INTO SWINSCOPE_PROCESS VALUES(?1,?2,?3,?4,?5,(SELECT value FROM StringIds WHERE id=?6),"
    "(SELECT value FROM StringIds WHERE id=?7),?8,?9,?10)";

}  // namespace

struct TraceWriter::Impl {
  Impl(const fs::path& path, WriteMode write_mode)
      : mode(write_mode),
        db(create_database(path, write_mode)),
        strings(db, "StringIds", 2),
        kernels(db, "CUPTI_ACTIVITY_KIND_KERNEL", 32),
        copies(db, "CUPTI_ACTIVITY_KIND_MEMCPY", 15),
        sets(db, "CUPTI_ACTIVITY_KIND_MEMSET", 12),
        apis(db, "CUPTI_ACTIVITY_KIND_RUNTIME", 8),
        syncs(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 11),
        graphs(db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 10),
        events(db, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", 9),
        memory(db, "CUDA_GPU_MEMORY_USAGE_EVENTS", 18),
        pools(db, "CUDA_GPU_MEMORY_POOL_EVENTS", 11),
        graph_nodes(db, "CUDA_GRAPH_NODE_EVENTS", 7),
        overheads(db, "CUPTI_ACTIVITY_KIND_OVERHEAD", 7),
        profiler_overheads(db, "PROFILER_OVERHEAD", 5),
        nvtx(db, "NVTX_EVENTS", 20),
        closed_nvtx(db, kCloseRangeSql),
        schemas(db, "NVTX_PAYLOAD_SCHEMAS", 8),
        schema_entries(db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", 9),
        collectives(db, kCollectiveSql),
        thread_cpu(db, "SWINSCOPE_THREAD_CPU", 3),
        processes(db, kProcessSql),
        process_cpu(db, "SWINSCOPE_PROCESS_CPU", 4),
        metrics(db, "GPU_METRICS", 4),
        metric_names(db, "TARGET_INFO_GPU_METRICS", 5) {
    begin();
  }

  void begin() { transaction.emplace(db); }
  void commit() {
    if (transaction) transaction->commit();
    transaction.reset();
    rows = 0;
    flushed_strings = pool.size();
  }
  StringId string_id(StringId local) const { return local == kNoString ? kNoString : first_string + local; }
  std::string_view plain_name(const NvtxRecord& r) {
    if (!r.is_plain || r.text == kNoString) return {};
    if (r.text > first_string) return pool.text(r.text - first_string);
    // The pool has forgotten it: the name of a range that was open for long.
    Statement row = db.prepare("SELECT value FROM StringIds WHERE id = ?");
    row.bind(1, static_cast<std::int64_t>(r.text));
    old_name = row.step() ? row.text(0) : std::string_view();
    return old_name;
  }
  void add_string(StringId local) { strings.row().value(string_id(local)).text(pool.text(local)).run(); }
  void forget_strings() {
    first_string += pool.size() - 1;  // all but the empty string, which keeps its id
    pool = StringPool();
    flushed_strings = pool.size();
  }
  // Counts a row with its times; commits now and then. A live recording commits in flush() alone: its owner counts what
  // a commit that fails has lost.
  void added(std::int64_t start_ns, std::int64_t end_ns) {
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, std::max(start_ns, end_ns));
    if (++rows < kRowsPerTransaction || mode == WriteMode::kLive) return;
    commit();
    begin();
  }

  WriteMode mode;
  Database db;
  StringPool pool;
  StringId first_string = 0;     // see string_id
  std::string old_name;          // see plain_name
  StringId flushed_strings = 1;  // of the pool, which survive a roll-back in the file
  Insert strings;
  Insert kernels;
  Insert copies;
  Insert sets;
  Insert apis;
  Insert syncs;
  Insert graphs;
  Insert events;
  Insert memory;
  Insert pools;
  Insert graph_nodes;
  Insert overheads;
  Insert profiler_overheads;
  Insert nvtx;
  Insert closed_nvtx;
  Insert schemas;
  Insert schema_entries;
  Insert collectives;
  Insert thread_cpu;
  Insert processes;
  Insert process_cpu;
  Insert metrics;
  Insert metric_names;
  std::optional<Transaction> transaction;
  int rows = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  RunInfo run;
  bool finished = false;
};

TraceWriter::TraceWriter(const fs::path& path, WriteMode mode) : impl_(std::make_unique<Impl>(path, mode)) {}

TraceWriter::~TraceWriter() {
  if (impl_->finished || impl_->mode == WriteMode::kLive) return;
  const fs::path path = impl_->db.path();
  impl_.reset();
  std::error_code ignored;
  fs::remove(path, ignored);
}

StringId TraceWriter::intern(std::string_view text) {
  if (text.empty()) return kNoString;
  const StringId known = impl_->pool.size();
  const StringId local = impl_->pool.intern(text);
  if (local == known) impl_->add_string(local);
  return impl_->string_id(local);
}

void TraceWriter::add(const KernelRecord& r) {
  Binder row = impl_->kernels.row();
  common(row, r)
      .value(r.demangled_name)
      .value(r.short_name)
      .optional(r.mangled_name)
      .optional(r.launch_type)
      .optional(r.cache_config)
      .value(r.registers_per_thread)
      .value(r.grid.x)
      .value(r.grid.y)
      .value(r.grid.z)
      .value(r.block.x)
      .value(r.block.y)
      .value(r.block.z)
      .value(r.static_shared_bytes)
      .value(r.dynamic_shared_bytes)
      .value(r.local_bytes_per_thread)
      .value(r.local_bytes_total)
      .value(r.grid_id)
      .optional(r.shared_bytes_executed)
      .optional(r.graph_node)
      .optional(r.shared_limit_config)
      .optional(r.graph)
      .optional(r.cluster.x)
      .optional(r.cluster.y)
      .optional(r.cluster.z)
      .run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const MemcpyRecord& r) {
  Binder row = impl_->copies.row();
  common(row, r)
      .value(r.bytes)
      .value(r.kind)
      .value(r.src_kind)
      .value(r.dst_kind)
      .optional(r.src_device, -1)
      .optional(r.dst_device, -1)
      .optional(r.graph_node)
      .run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const MemsetRecord& r) {
  Binder row = impl_->sets.row();
  common(row, r).value(r.value).value(r.bytes).optional(r.graph_node).value(r.kind).run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const SyncRecord& r) {
  Binder row = impl_->syncs.row();
  common(row, r).value(r.type).value(r.event).optional(r.event_sync).run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const GraphTraceRecord& r) {
  Binder row = impl_->graphs.row();
  row.value(r.start_ns)
      .value(r.end_ns)
      .value(r.device)
      .value(r.graph)
      .value(r.context)
      .optional(r.green_context)
      .value(r.stream)
      .optional(r.correlation)
      .optional(r.global_pid)
      .optional(r.graph_exec)
      .run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const CudaEventRecord& r) {
  impl_->events.row()
      .optional(r.time_ns, kUnknownTime)
      .value(r.device)
      .value(r.context)
      .null()
      .value(r.stream)
      .optional(r.correlation)
      .optional(r.global_pid)
      .value(r.event)
      .optional(r.event_sync)
      .run();
}

namespace {

// Of a pool of this process: threshold, size, bytes in use.
void bind_pool_sizes(Binder& row, const MemoryPool& pool) {
  if (pool.owner != MemoryPool::Owner::kThisProcess) {
    row.null().null().null();
    return;
  }
  row.value(pool.release_threshold).value(pool.size).value(pool.used_bytes);
}

}  // namespace

void TraceWriter::add(const MemoryRecord& r) {
  Binder row = impl_->memory.row();
  row.value(r.time_ns)
      .value(r.global_pid)
      .value(r.device)
      .value(r.context)
      .value(r.address)
      .value(r.pc)
      .value(r.bytes)
      .value(r.kind)
      .value(r.operation);
  if (r.name.empty()) {
    row.null();
  } else {
    row.text(r.name);
  }
  row.optional(r.correlation).optional(r.stream, std::int64_t{-1});
  const bool is_own = r.pool.owner == MemoryPool::Owner::kThisProcess;
  const bool is_imported = r.pool.owner == MemoryPool::Owner::kOther;
  row.optional(is_own ? r.pool.address : 0);
  bind_pool_sizes(row, r.pool);
  row.optional(is_imported ? r.pool.address : 0).optional(is_imported ? r.pool.owner_pid : 0).run();
  impl_->added(r.time_ns, r.time_ns);
}

void TraceWriter::add(const MemoryPoolRecord& r) {
  Binder row = impl_->pools.row();
  row.value(r.time_ns)
      .value(r.global_pid)
      .value(r.device)
      .value(r.pool.address)
      .value(r.operation)
      .value(r.pool.owner == MemoryPool::Owner::kOther ? 1 : 0)
      .optional(r.correlation)
      .optional(r.min_bytes_to_keep);
  bind_pool_sizes(row, r.pool);
  row.run();
  impl_->added(r.time_ns, r.time_ns);
}

void TraceWriter::add(const ApiRecord& r) {
  impl_->apis.row()
      .value(r.start_ns)
      .value(r.end_ns)
      .value(r.api_class)
      .value(r.global_tid)
      .optional(r.correlation)
      .value(r.name)
      .value(r.return_value)
      .null()
      .run();
  impl_->added(r.start_ns, r.end_ns);
}

void TraceWriter::add(const GraphNodeRecord& r) {
  impl_->graph_nodes.row()
      .value(r.time_ns)
      .value(r.time_ns)
      .null()
      .value(r.global_tid)
      .null()
      .value(r.node)
      .optional(r.original)
      .run();
  impl_->added(r.time_ns, r.time_ns);
}

void TraceWriter::add(const OverheadRecord& r) {
  constexpr int kGpuProfilerOverhead = 103;
  impl_->overheads.row()
      .value(r.start_ns)
      .value(r.end_ns)
      .value(kGpuProfilerOverhead)
      .value(r.global_tid)
      .optional(r.correlation)
      .optional(r.name)
      .value(r.type)
      .run();
  constexpr std::int32_t kFirstOfProfiler = 3;
  constexpr std::int32_t kLastOfProfiler = 5;
  if (r.type >= kFirstOfProfiler && r.type <= kLastOfProfiler)
    impl_->profiler_overheads.row()
        .value(r.start_ns)
        .value(r.end_ns)
        .value(r.global_tid)
        .value(r.name)
        .value(r.type)
        .run();
  impl_->added(r.start_ns, r.end_ns);
}

namespace {

// `plain`: the name that goes into the row itself; empty: its id does.
Binder& bind_range(Binder& row, const NvtxRecord& r, std::string_view plain, std::string_view payload) {
  const auto integer = [&](NvtxValueType type) {
    if (r.value_type == type) {
      row.value(r.int64_value);
    } else {
      row.null();
    }
  };
  const auto real = [&](NvtxValueType type) {
    if (r.value_type == type) {
      row.real(r.double_value);
    } else {
      row.null();
    }
  };
  row.value(r.start_ns)
      .optional(r.end_ns, kOpenEnd)
      .value(r.type)
      .optional(r.range)
      .optional(r.category)
      .optional(r.color);
  if (plain.empty()) {
    row.null();
  } else {
    row.text(plain);
  }
  row.value(r.global_tid).optional(r.end_global_tid);
  if (plain.empty()) {
    row.value(r.text);
  } else {
    row.null();
  }
  row.value(r.domain);
  integer(NvtxValueType::kUint64);
  integer(NvtxValueType::kInt64);
  real(NvtxValueType::kDouble);
  integer(NvtxValueType::kUint32);
  integer(NvtxValueType::kInt32);
  real(NvtxValueType::kFloat);
  return row.optional(r.json).null().blob(payload);
}

}  // namespace

void TraceWriter::add(const NvtxRecord& r) { add(r, {}); }

void TraceWriter::add(const NvtxRecord& r, std::string_view payload) {
  Binder row = impl_->nvtx.row();
  bind_range(row, r, impl_->plain_name(r), payload).run();
  impl_->added(r.start_ns, r.end_ns == kOpenEnd ? r.start_ns : r.end_ns);
}

std::int64_t TraceWriter::add_open(const NvtxRecord& r, std::string_view payload) {
  Binder row = impl_->nvtx.row();
  bind_range(row, r, impl_->plain_name(r), payload).run();
  const std::int64_t id = impl_->db.last_row();
  impl_->added(r.start_ns, r.start_ns);
  return id;
}

void TraceWriter::close_open(std::int64_t row_id, const NvtxRecord& r, std::string_view payload) {
  Binder row = impl_->closed_nvtx.row();
  bind_range(row, r, impl_->plain_name(r), payload).value(row_id).run();
  impl_->added(r.start_ns, r.end_ns == kOpenEnd ? r.start_ns : r.end_ns);
}

void TraceWriter::add(const PayloadSchemaRecord& r) {
  impl_->schemas.row()
      .value(r.domain)
      .value(r.id)
      .text(r.name)
      .value(r.type)
      .optional(r.flags)
      .value(r.entries.size())
      .optional(r.size)
      .optional(r.align)
      .run();
  for (std::size_t i = 0; i < r.entries.size(); ++i) {
    const PayloadSchemaRecord::Entry& entry = r.entries[i];
    impl_->schema_entries.row()
        .value(r.domain)
        .value(r.id)
        .value(i)
        .optional(entry.flags)
        .value(entry.type)
        .text(entry.name)
        .null()
        .optional(entry.detail)
        .value(entry.offset)
        .run();
  }
}

void TraceWriter::add(const CollectiveRecord& r) {
  impl_->collectives.row()
      .value(r.global_pid)
      .value(r.correlation)
      .optional(r.graph_node)
      .value(r.name)
      .value(r.in_elements)
      .value(r.out_elements)
      .value(r.dtype)
      .value(r.group_size)
      .value(r.group_name)
      .value(r.ranks)
      .optional(r.seq, std::int64_t{-1})
      .run();
}

void TraceWriter::add(const ThreadCpuRecord& r) {
  impl_->thread_cpu.row().value(r.timestamp_ns).value(r.global_tid).value(r.cpu_ns).run();
  impl_->added(r.timestamp_ns, r.timestamp_ns);
}

void TraceWriter::add(const ProcessRecord& r) {
  impl_->processes.row()
      .value(r.global_pid)
      .value(r.start_ns)
      .optional(r.end_ns, kOpenEnd)
      .optional(r.parent_global_pid)
      .optional(r.rank, kNoRank)
      .value(r.name)
      .value(r.command)
      .value(r.cpu_ns)
      .value(r.unseen_cpu_ns)
      .value(r.max_rss_bytes)
      .run();
  impl_->added(r.start_ns, r.end_ns == kOpenEnd ? r.start_ns : r.end_ns);
}

void TraceWriter::add(const ProcessCpuRecord& r) {
  impl_->process_cpu.row().value(r.timestamp_ns).value(r.global_pid).value(r.cpu_ns).value(r.rss_bytes).run();
  impl_->added(r.timestamp_ns, r.timestamp_ns);
}

namespace {

std::int64_t metric_type(int source, std::size_t gpu) {
  return (std::int64_t{source} << 8U) | static_cast<std::int64_t>(gpu & 0xFFU);
}

}  // namespace

void TraceWriter::add_metric(std::int64_t time_ns, int source, std::size_t gpu, int metric, std::int64_t value) {
  impl_->metrics.row().value(time_ns).value(metric_type(source, gpu)).value(metric).value(value).run();
  impl_->added(time_ns, time_ns);
}

void TraceWriter::name_metric(int source, std::size_t gpu, int metric, std::string_view name) {
  const char* type = source == 1 ? "NVML" : source == 2 ? "CUPTI PM sampling" : "NVML GPM";
  impl_->metric_names.row().value(metric_type(source, gpu)).value(source).text(type).value(metric).text(name).run();
}

void TraceWriter::flush() {
  impl_->commit();
  if (impl_->mode == WriteMode::kLive && impl_->pool.size() > kMaxLiveStrings) impl_->forget_strings();
  impl_->begin();
}

std::int64_t TraceWriter::bytes() const {
  Statement pages = impl_->db.prepare("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  return pages.step() ? pages.integer(0) : 0;
}

void TraceWriter::roll_back() {
  impl_->transaction.reset();
  impl_->rows = 0;
  impl_->begin();
  // Memory must not grow for as long as the disk is full; the names of what comes next matter more than those of the
  // past.
  if (impl_->pool.size() > kMaxLiveStrings) impl_->forget_strings();
  for (StringId local = impl_->flushed_strings; local < impl_->pool.size(); ++local)
    impl_->add_string(local);
}

void TraceWriter::write_threads() {
  Insert threads(impl_->db, "ThreadNames", 3);
  for (const ThreadInfo& thread : impl_->run.threads) {
    threads.row().value(intern(thread.name)).null().value(thread.global_tid).run();
  }
}

void TraceWriter::set_run(const RunInfo& run) {
  impl_->run = run;
  // A recording may be cut off at any moment: its identity must be in the file by then.
  if (impl_->mode != WriteMode::kLive) return;
  write_run(impl_->db, run, false);
  write_threads();
}

const RunInfo& TraceWriter::run() const { return impl_->run; }

void TraceWriter::finish() {
  Impl& impl = *impl_;
  const RunInfo& run = impl.run;
  write_run(impl.db, run, run.complete);
  write_threads();
  if (impl.first_ns <= impl.last_ns) {
    Insert details(impl.db, "ANALYSIS_DETAILS", 4);
    details.row().value(0).value(impl.last_ns - impl.first_ns).value(impl.first_ns).value(impl.last_ns).run();
  }
  impl.commit();
  impl.db.exec(kIndexSql);
  // Somebody who reads the file with another program keeps the log, until that program closes it.
  if (impl.mode == WriteMode::kLive) impl.db.exec_unless_locked("PRAGMA journal_mode=DELETE");
  impl.finished = true;
}

void TraceWriter::finish_as(const fs::path& final_path, bool replace) {
  finish();
  const fs::path path = impl_->db.path();
  std::error_code error;
  if (!replace) {
    // A hard link fails when the name is taken, a rename would replace it.
    fs::create_hard_link(path, final_path, error);
    if (!error) fs::remove(path, error);
  } else {
    fs::rename(path, final_path, error);
  }
  if (!error) return;
  impl_->finished = false;  // so that the destructor removes the unfinished name
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", final_path.string()), error.message(),
              "give another folder with -o, or --force to replace the file");
}

}  // namespace swinscope
