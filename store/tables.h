// The tables of records, each declared once: its columns from left to right as in store/schema.sql, and the members of
// the record that they hold. Writer, reader and tests follow from these declarations; store/columns.h has the kinds of
// columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "store/columns.h"
#include "store/records.h"

namespace swinscope::tables {

// The table of a kind of record.
template <typename Record>
inline constexpr std::nullptr_t kTable = nullptr;

// What tables of GPU work begin with.
inline constexpr auto kGpuColumns = std::tuple_cat(
    required(start("start", &GpuRecord::start_ns), end("end", &GpuRecord::end_ns),
             number("deviceId", &GpuRecord::device)),
    columns(number("contextId", &GpuRecord::context)), kept(optional("greenContextId", &GpuRecord::green_context)),
    columns(number("streamId", &GpuRecord::stream), optional("correlationId", &GpuRecord::correlation),
            optional("globalPid", &GpuRecord::global_pid)));

template <>
inline constexpr auto kTable<KernelRecord> = table(
    "CUPTI_ACTIVITY_KIND_KERNEL", "kernel", kGpuColumns,
    columns(string("demangledName", &KernelRecord::demangled_name), string("shortName", &KernelRecord::short_name)),
    details(optional_string("mangledName", &KernelRecord::mangled_name)),
    kept(optional("launchType", &KernelRecord::launch_type), optional("cacheConfig", &KernelRecord::cache_config)),
    details(number("registersPerThread", &KernelRecord::registers_per_thread),
            number("gridX", &KernelRecord::grid, &Dim3::x), number("gridY", &KernelRecord::grid, &Dim3::y),
            number("gridZ", &KernelRecord::grid, &Dim3::z), number("blockX", &KernelRecord::block, &Dim3::x),
            number("blockY", &KernelRecord::block, &Dim3::y), number("blockZ", &KernelRecord::block, &Dim3::z),
            number("staticSharedMemory", &KernelRecord::static_shared_bytes),
            number("dynamicSharedMemory", &KernelRecord::dynamic_shared_bytes)),
    kept(number("localMemoryPerThread", &KernelRecord::local_bytes_per_thread),
         number("localMemoryTotal", &KernelRecord::local_bytes_total), number("gridId", &KernelRecord::grid_id),
         optional("sharedMemoryExecuted", &KernelRecord::shared_bytes_executed)),
    details(optional("graphNodeId", &KernelRecord::graph_node)),
    kept(optional("sharedMemoryLimitConfig", &KernelRecord::shared_limit_config),
         optional("graphId", &KernelRecord::graph)),
    details(optional("clusterX", &KernelRecord::cluster, &Dim3::x),
            optional("clusterY", &KernelRecord::cluster, &Dim3::y),
            optional("clusterZ", &KernelRecord::cluster, &Dim3::z)));

template <>
inline constexpr auto kTable<MemcpyRecord> = table("CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy", kGpuColumns,
                                                   columns(number("bytes", &MemcpyRecord::bytes),
                                                           number("copyKind", &MemcpyRecord::kind),
                                                           number("srcKind", &MemcpyRecord::src_kind),
                                                           number("dstKind", &MemcpyRecord::dst_kind),
                                                           optional<-1>("srcDeviceId", &MemcpyRecord::src_device),
                                                           optional<-1>("dstDeviceId", &MemcpyRecord::dst_device),
                                                           optional("graphNodeId", &MemcpyRecord::graph_node)));

template <>
inline constexpr auto kTable<MemsetRecord> = table("CUPTI_ACTIVITY_KIND_MEMSET", "memset", kGpuColumns,
                                                   columns(number("value", &MemsetRecord::value),
                                                           number("bytes", &MemsetRecord::bytes),
                                                           optional("graphNodeId", &MemsetRecord::graph_node),
                                                           number("memKind", &MemsetRecord::kind)));

template <>
inline constexpr auto kTable<SyncRecord> =
    table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization",
          required(start("start", &SyncRecord::start_ns), end("end", &SyncRecord::end_ns)),
          columns(number("deviceId", &SyncRecord::device), number("contextId", &SyncRecord::context),
                  optional("greenContextId", &SyncRecord::green_context), number("streamId", &SyncRecord::stream),
                  optional("correlationId", &SyncRecord::correlation), optional("globalPid", &SyncRecord::global_pid),
                  number("syncType", &SyncRecord::type), number("eventId", &SyncRecord::event),
                  optional("eventSyncId", &SyncRecord::event_sync)));

template <>
inline constexpr auto kTable<GraphTraceRecord> = table(
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graph execution",
    required(start("start", &GraphTraceRecord::start_ns), end("end", &GraphTraceRecord::end_ns),
             number("deviceId", &GraphTraceRecord::device)),
    columns(number("graphId", &GraphTraceRecord::graph), number("contextId", &GraphTraceRecord::context),
            optional("greenContextId", &GraphTraceRecord::green_context), number("streamId", &GraphTraceRecord::stream),
            optional("correlationId", &GraphTraceRecord::correlation),
            optional("globalPid", &GraphTraceRecord::global_pid),
            optional("graphExecId", &GraphTraceRecord::graph_exec)));

template <>
inline constexpr auto kTable<CudaEventRecord> = table(
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "CUDA event",
    columns(optional_moment("timestamp", &CudaEventRecord::time_ns), number("deviceId", &CudaEventRecord::device),
            number("contextId", &CudaEventRecord::context), always_null("greenContextId"),
            number("streamId", &CudaEventRecord::stream), optional("correlationId", &CudaEventRecord::correlation),
            optional("globalPid", &CudaEventRecord::global_pid), number("eventId", &CudaEventRecord::event),
            optional("eventSyncId", &CudaEventRecord::event_sync)));

// What is known of a pool of this process, NULL of another's.
struct PoolBytes : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kValues;
  std::int64_t MemoryPool::*member;

  template <typename Row, typename Record>
  void write(Row& row, const Record& record) const {
    if (record.pool.owner == MemoryPool::Owner::kThisProcess) {
      row.number(record.pool.*member);
    } else {
      row.null();
    }
  }
  template <typename Row, typename Record>
  void read(const Row& row, int i, Record& record) const {
    MemoryPool& pool = record.pool;
    if (row.is_null(i) || pool.owner == MemoryPool::Owner::kOther) return;
    pool.owner = MemoryPool::Owner::kThisProcess;
    pool.*member = row.template integer<std::int64_t>(i, 0);
  }
};

// A number of the pool that was used, in the columns of its owner.
struct PoolId : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kValues;
  std::uint64_t MemoryPool::*member;
  MemoryPool::Owner owner;

  template <typename Row>
  void write(Row& row, const MemoryRecord& record) const {
    if (record.pool.owner == owner && record.pool.*member != 0) {
      row.number(static_cast<std::int64_t>(record.pool.*member));
    } else {
      row.null();
    }
  }
  template <typename Row>
  void read(const Row& row, int i, MemoryRecord& record) const {
    MemoryPool& pool = record.pool;
    if (row.is_null(i) || (pool.owner != MemoryPool::Owner::kNone && pool.owner != owner)) return;
    pool.owner = owner;
    pool.*member = row.template integer<std::uint64_t>(i, 0);
  }
};

inline constexpr auto kPoolSizes =
    columns(PoolBytes{{"localMemoryPoolReleaseThreshold"}, &MemoryPool::release_threshold},
            PoolBytes{{"localMemoryPoolSize"}, &MemoryPool::size},
            PoolBytes{{"localMemoryPoolUtilizedSize"}, &MemoryPool::used_bytes});

template <>
inline constexpr auto kTable<MemoryRecord> = table(
    "CUDA_GPU_MEMORY_USAGE_EVENTS", "memory operation",
    required(moment("start", &MemoryRecord::time_ns), number("globalPid", &MemoryRecord::global_pid)),
    columns(number("deviceId", &MemoryRecord::device), number("contextId", &MemoryRecord::context),
            number("address", &MemoryRecord::address), number("pc", &MemoryRecord::pc),
            number("bytes", &MemoryRecord::bytes), number("memKind", &MemoryRecord::kind),
            number("memoryOperationType", &MemoryRecord::operation), optional_text("name", &MemoryRecord::name),
            optional("correlationId", &MemoryRecord::correlation), optional<-1>("streamId", &MemoryRecord::stream),
            PoolId{{"localMemoryPoolAddress"}, &MemoryPool::address, MemoryPool::Owner::kThisProcess}),
    kPoolSizes,
    columns(PoolId{{"importedMemoryPoolAddress"}, &MemoryPool::address, MemoryPool::Owner::kOther},
            PoolId{{"importedMemoryPoolProcessId"}, &MemoryPool::owner_pid, MemoryPool::Owner::kOther}));

// 0: of this process, which its sizes say, too.
constexpr std::int64_t pool_type(const MemoryPoolRecord& record) {
  return record.pool.owner == MemoryPool::Owner::kOther ? 1 : 0;
}
constexpr void set_pool_type(MemoryPoolRecord& record, std::int64_t type) {
  if (type == 1) record.pool.owner = MemoryPool::Owner::kOther;
}

template <>
inline constexpr auto kTable<MemoryPoolRecord> =
    table("CUDA_GPU_MEMORY_POOL_EVENTS", "memory pool operation",
          required(moment("start", &MemoryPoolRecord::time_ns), number("globalPid", &MemoryPoolRecord::global_pid)),
          columns(number("deviceId", &MemoryPoolRecord::device),
                  number("address", &MemoryPoolRecord::pool, &MemoryPool::address),
                  number("operationType", &MemoryPoolRecord::operation), computed("poolType", pool_type, set_pool_type),
                  optional("correlationId", &MemoryPoolRecord::correlation),
                  optional("minBytesToKeep", &MemoryPoolRecord::min_bytes_to_keep)),
          kPoolSizes);

// Classes that exports number beside these count as the runtime API.
constexpr std::int64_t api_class(const ApiRecord& record) { return static_cast<std::int64_t>(record.api_class); }
constexpr void set_api_class(ApiRecord& record, std::int64_t number) {
  record.api_class = number == 1 ? ApiClass::kDriver : ApiClass::kRuntime;
}

template <>
inline constexpr auto kTable<ApiRecord> =
    table("CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA call",
          required(start("start", &ApiRecord::start_ns), end("end", &ApiRecord::end_ns)),
          kept(computed("eventClass", api_class, set_api_class)), required(number("globalTid", &ApiRecord::global_tid)),
          columns(optional("correlationId", &ApiRecord::correlation)), required(string("nameId", &ApiRecord::name)),
          kept(number("returnValue", &ApiRecord::return_value)), columns(always_null("callchainId")));

template <>
inline constexpr auto kTable<GraphNodeRecord> =
    table("CUDA_GRAPH_NODE_EVENTS", "graph node", required(moment("start", &GraphNodeRecord::time_ns)),
          columns(repeated(moment("end", &GraphNodeRecord::time_ns)), always_null("eventClass")),
          required(number("globalTid", &GraphNodeRecord::global_tid)), columns(always_null("nameId")),
          required(number("graphNodeId", &GraphNodeRecord::node)),
          columns(optional("originalGraphNodeId", &GraphNodeRecord::original)));

inline constexpr std::int64_t kGpuProfilerOverhead = 103;  // ENUM_NSYS_EVENT_CLASS.id

template <>
inline constexpr auto kTable<OverheadRecord> =
    table("CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead",
          required(start("start", &OverheadRecord::start_ns), end("end", &OverheadRecord::end_ns)),
          columns(constant("eventClass", kGpuProfilerOverhead), number("globalTid", &OverheadRecord::global_tid),
                  optional("correlationId", &OverheadRecord::correlation),
                  optional_string("nameId", &OverheadRecord::name), number("overheadType", &OverheadRecord::type)));

// Says again what kTable<OverheadRecord> says, of the profiler's own overhead. Older exports have only this one, with
// the columns of that.
inline constexpr auto kProfilerOverheads =
    table("PROFILER_OVERHEAD", "overhead",
          columns(start("start", &OverheadRecord::start_ns), end("end", &OverheadRecord::end_ns),
                  number("globalTid", &OverheadRecord::global_tid), string("nameId", &OverheadRecord::name),
                  number("overheadType", &OverheadRecord::type)));
constexpr bool is_of_profiler(const OverheadRecord& record) {
  constexpr std::int32_t kBufferFlush = 3;  // ENUM_CUPTI_OVERHEAD_TYPE.id
  constexpr std::int32_t kResource = 5;
  return record.type >= kBufferFlush && record.type <= kResource;
}

// The name of a range: in the row itself (`text`) when it is plain and known, else by its id (`textId`).
struct RangeText : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kName;

  template <typename Row>
  static std::string_view plain_name(Row& row, const NvtxRecord& record) {
    return record.is_plain && record.text != kNoString ? row.string(record.text) : std::string_view();
  }
  template <typename Row>
  void write(Row& row, const NvtxRecord& record) const {
    if (const std::string_view plain = plain_name(row, record); plain.empty()) {
      row.null();
    } else {
      row.text(plain);
    }
  }
  template <typename Row>
  void read(const Row& row, int i, NvtxRecord& record) const {
    record.is_plain = !row.is_null(i);
    if (record.is_plain) row.name_by_text(i, record);
  }
};

struct RangeTextId : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kName;

  template <typename Row>
  void write(Row& row, const NvtxRecord& record) const {
    if (RangeText::plain_name(row, record).empty()) {
      row.string_id(record.text);
    } else {
      row.null();
    }
  }
  template <typename Row>
  void read(const Row& row, int i, NvtxRecord& record) const {
    if (!record.is_plain) row.name_by_id(i, record);
  }
};

// The value that the program attached, in the column of its type. Of several the first counts.
struct RangeValue : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kValues;
  NvtxValueType type;

  bool is_real() const { return type == NvtxValueType::kDouble || type == NvtxValueType::kFloat; }
  template <typename Row>
  void write(Row& row, const NvtxRecord& record) const {
    if (record.value_type != type) {
      row.null();
    } else if (is_real()) {
      row.real(record.double_value);
    } else {
      row.number(record.int64_value);
    }
  }
  template <typename Row>
  void read(const Row& row, int i, NvtxRecord& record) const {
    if (record.value_type != NvtxValueType::kNone || row.is_null(i)) return;
    record.value_type = type;
    if (is_real()) {
      record.double_value = row.real(i);
    } else {
      record.int64_value = row.template integer<std::int64_t>(i, 0);
    }
  }
};

// Exports may have the JSON text in the row; it goes before that of jsonTextId.
struct RangeJsonText : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kStrings;

  template <typename Row>
  void write(Row& row, const NvtxRecord& /*record*/) const {
    row.null();
  }
  template <typename Row>
  void read(const Row& row, int i, NvtxRecord& record) const {
    if (!row.is_null(i)) record.json = row.string_of_text(i);
  }
};

struct RangePayload : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kStrings;

  template <typename Row>
  void write(Row& row, const NvtxRecord& /*record*/) const {
    row.null();
  }
  template <typename Row>
  void write(Row& row, const NvtxPayloadRecord& record) const {
    row.blob(record.payload);
  }
  template <typename Row>
  void read(const Row& /*row*/, int /*i*/, NvtxRecord& /*record*/) const {}
  template <typename Row>
  void read(const Row& row, int i, NvtxPayloadRecord& record) const {
    if (!row.is_null(i)) record.payload = row.blob(i);
  }
};

template <>
inline constexpr auto kTable<NvtxPayloadRecord> = table(
    "NVTX_EVENTS", "NVTX range",
    required(start("start", &NvtxRecord::start_ns), open_end("end", &NvtxRecord::end_ns),
             number("eventType", &NvtxRecord::type)),
    details(optional("rangeId", &NvtxRecord::range), optional("category", &NvtxRecord::category),
            optional("color", &NvtxRecord::color)),
    columns(RangeText{{"text"}}, number("globalTid", &NvtxRecord::global_tid)),
    details(optional("endGlobalTid", &NvtxRecord::end_global_tid)),
    columns(RangeTextId{{"textId"}}, number("domainId", &NvtxRecord::domain)),
    details(RangeValue{{"uint64Value"}, NvtxValueType::kUint64}, RangeValue{{"int64Value"}, NvtxValueType::kInt64},
            RangeValue{{"doubleValue"}, NvtxValueType::kDouble}, RangeValue{{"uint32Value"}, NvtxValueType::kUint32},
            RangeValue{{"int32Value"}, NvtxValueType::kInt32}, RangeValue{{"floatValue"}, NvtxValueType::kFloat},
            optional_string("jsonTextId", &NvtxRecord::json), RangeJsonText{{"jsonText"}},
            RangePayload{{"binaryData"}}));

template <>
inline constexpr auto kTable<NvtxRecord> = kTable<NvtxPayloadRecord>;

template <>
inline constexpr auto kTable<PayloadSchemaRecord> = table(
    "NVTX_PAYLOAD_SCHEMAS", "NVTX payload schema",
    required(number("domainId", &PayloadSchemaRecord::domain), number("schemaId", &PayloadSchemaRecord::id)),
    columns(text("name", &PayloadSchemaRecord::name), number("type", &PayloadSchemaRecord::type),
            optional("flags", &PayloadSchemaRecord::flags), number("numEntries", &PayloadSchemaRecord::entries),
            optional("payloadSize", &PayloadSchemaRecord::size), optional("alignTo", &PayloadSchemaRecord::align)));

template <>
inline constexpr auto kTable<PayloadEntryRecord> =
    table("NVTX_PAYLOAD_SCHEMA_ENTRIES", "NVTX payload entry",
          required(number("domainId", &PayloadEntryRecord::domain), number("schemaId", &PayloadEntryRecord::schema),
                   number("idx", &PayloadEntryRecord::index)),
          columns(optional("flags", &PayloadEntryRecord::flags), number("type", &PayloadEntryRecord::type),
                  text("name", &PayloadEntryRecord::name), always_null("description"),
                  optional("arrayOrUnionDetail", &PayloadEntryRecord::detail),
                  number("offset", &PayloadEntryRecord::offset)));

template <>
inline constexpr auto kTable<CollectiveRecord> = table(
    "SWINSCOPE_COLLECTIVE", "collective",
    required(number("globalPid", &CollectiveRecord::global_pid),
             number("correlationId", &CollectiveRecord::correlation)),
    columns(optional("graphNodeId", &CollectiveRecord::graph_node)), required(text("name", &CollectiveRecord::name)),
    columns(number("inElements", &CollectiveRecord::in_elements),
            number("outElements", &CollectiveRecord::out_elements), text("dtype", &CollectiveRecord::dtype),
            number("groupSize", &CollectiveRecord::group_size), text("groupName", &CollectiveRecord::group_name),
            text("ranks", &CollectiveRecord::ranks), optional<-1>("seq", &CollectiveRecord::seq)));

template <>
inline constexpr auto kTable<NcclCommunicatorRecord> = table(
    "SWINSCOPE_NCCL_COMMUNICATOR", "communicator of NCCL",
    required(number("globalPid", &NcclCommunicatorRecord::global_pid),
             number("communicatorId", &NcclCommunicatorRecord::communicator),
             start("start", &NcclCommunicatorRecord::start_ns)),
    columns(open_end("end", &NcclCommunicatorRecord::end_ns), text("groupName", &NcclCommunicatorRecord::group_name),
            text("name", &NcclCommunicatorRecord::name), number("rank", &NcclCommunicatorRecord::rank),
            number("groupSize", &NcclCommunicatorRecord::group_size), number("nodes", &NcclCommunicatorRecord::nodes)));

template <>
inline constexpr auto kTable<NcclOperationRecord> = table(
    "SWINSCOPE_NCCL_OPERATION", "operation of NCCL",
    required(number("globalPid", &NcclOperationRecord::global_pid),
             number("globalTid", &NcclOperationRecord::global_tid),
             number("operationId", &NcclOperationRecord::operation)),
    columns(optional("communicatorId", &NcclOperationRecord::communicator),
            optional("planId", &NcclOperationRecord::plan), optional("callGroupId", &NcclOperationRecord::call_group)),
    required(start("start", &NcclOperationRecord::start_ns)),
    columns(open_end("end", &NcclOperationRecord::end_ns), number("kind", &NcclOperationRecord::kind),
            text("name", &NcclOperationRecord::name), number("count", &NcclOperationRecord::count),
            text("dtype", &NcclOperationRecord::dtype), number("peer", &NcclOperationRecord::peer),
            text("algorithm", &NcclOperationRecord::algorithm), text("protocol", &NcclOperationRecord::protocol),
            optional<-1>("channels", &NcclOperationRecord::channels), optional<-1>("seq", &NcclOperationRecord::seq),
            optional<-1>("isCaptured", &NcclOperationRecord::captured),
            optional("correlationId", &NcclOperationRecord::correlation),
            optional("graphNodeId", &NcclOperationRecord::graph_node)));

template <>
inline constexpr auto kTable<NcclLaunchRecord> = table(
    "SWINSCOPE_NCCL_LAUNCH", "launch of NCCL",
    required(number("globalPid", &NcclLaunchRecord::global_pid), number("globalTid", &NcclLaunchRecord::global_tid),
             start("start", &NcclLaunchRecord::start_ns)),
    columns(open_end("end", &NcclLaunchRecord::end_ns), optional("communicatorId", &NcclLaunchRecord::communicator),
            optional("callGroupId", &NcclLaunchRecord::call_group)));

template <>
inline constexpr auto kTable<NcclChannelRecord> = table(
    "SWINSCOPE_NCCL_CHANNEL", "channel of NCCL",
    required(number("globalPid", &NcclChannelRecord::global_pid), number("operationId", &NcclChannelRecord::operation)),
    columns(number("channel", &NcclChannelRecord::channel), optional("gpuStart", &NcclChannelRecord::gpu_start_ns),
            optional("gpuEnd", &NcclChannelRecord::gpu_end_ns), optional_moment("start", &NcclChannelRecord::began_ns),
            optional_moment("end", &NcclChannelRecord::ended_ns),
            optional<-1>("errorNs", &NcclChannelRecord::error_ns)));

template <>
inline constexpr auto kTable<ThreadCpuRecord> = table("SWINSCOPE_THREAD_CPU", "CPU time sample",
                                                      required(moment("timestamp", &ThreadCpuRecord::timestamp_ns),
                                                               number("globalTid", &ThreadCpuRecord::global_tid),
                                                               number("cpuNs", &ThreadCpuRecord::cpu_ns)));

template <>
inline constexpr auto kTable<ProcessRecord> = replaced_table(
    "SWINSCOPE_PROCESS", "process",
    required(number("globalPid", &ProcessRecord::global_pid), start("start", &ProcessRecord::start_ns),
             open_end("end", &ProcessRecord::end_ns), optional("parentGlobalPid", &ProcessRecord::parent_global_pid),
             optional<kNoRank>("rank", &ProcessRecord::rank), text("name", &ProcessRecord::name),
             text("command", &ProcessRecord::command), number("cpuNs", &ProcessRecord::cpu_ns),
             number("unseenCpuNs", &ProcessRecord::unseen_cpu_ns),
             number("maxRssBytes", &ProcessRecord::max_rss_bytes)));

template <>
inline constexpr auto kTable<ProcessCpuRecord> = table("SWINSCOPE_PROCESS_CPU", "CPU time sample",
                                                       required(moment("timestamp", &ProcessCpuRecord::timestamp_ns),
                                                                number("globalPid", &ProcessCpuRecord::global_pid),
                                                                number("cpuNs", &ProcessCpuRecord::cpu_ns),
                                                                number("rssBytes", &ProcessCpuRecord::rss_bytes)));

// The source and the GPU of a metric in one number.
template <typename Record>
constexpr std::int64_t metric_type(const Record& record) {
  return (static_cast<std::int64_t>(record.source) << 8U) | record.gpu;
}
template <typename Record>
constexpr void set_metric_type(Record& record, std::int64_t type) {
  record.source = static_cast<MetricSource>(static_cast<std::int32_t>(type >> 8U));
  record.gpu = static_cast<std::uint8_t>(type & 0xFF);
}

template <>
inline constexpr auto kTable<MetricRecord> =
    table("GPU_METRICS", "GPU metric",
          required(moment("timestamp", &MetricRecord::time_ns),
                   computed("typeId", metric_type<MetricRecord>, set_metric_type<MetricRecord>),
                   number("metricId", &MetricRecord::metric), number("value", &MetricRecord::value)));

struct MetricSourceName : ColumnBase {
  static constexpr ReadGroup kGroup = ReadGroup::kNever;

  template <typename Row>
  void write(Row& row, const MetricNameRecord& record) const {
    row.text(record.source == MetricSource::kNvml         ? "NVML"
             : record.source == MetricSource::kPmSampling ? "CUPTI PM sampling"
             : record.source == MetricSource::kAllocator  ? "allocator"
                                                          : "NVML GPM");
  }
};

template <>
inline constexpr auto kTable<MetricNameRecord> =
    table("TARGET_INFO_GPU_METRICS", "name of a GPU metric",
          required(computed("typeId", metric_type<MetricNameRecord>, set_metric_type<MetricNameRecord>)),
          columns(repeated(number("sourceId", &MetricNameRecord::source)), MetricSourceName{{"typeName"}}),
          required(number("metricId", &MetricNameRecord::metric), text("metricName", &MetricNameRecord::name)));

}  // namespace swinscope::tables
