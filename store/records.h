// Typed records of a trace: what producers (collector, importers) emit and consumers (writer, trace view) take.
//
// Times are int64 nanoseconds since the session start. Names are StringId, given by the sink that takes the record.
// A field that the source did not have holds the default below; the writer stores such optional fields as NULL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0;  // the empty string

// Process and thread ids are serialized as Nsight Systems does: bits 24..47 pid, bits 0..23 tid; bit 48 marks the
// (single) virtual machine.
inline constexpr std::uint64_t kGlobalVm = std::uint64_t{1} << 48U;
inline constexpr std::uint64_t kGlobalPidMask = ~std::uint64_t{0xFFFFFF};

constexpr std::uint64_t make_global_pid(std::uint64_t pid) { return kGlobalVm | ((pid & 0xFFFFFFU) << 24U); }
constexpr std::uint64_t make_global_tid(std::uint64_t pid, std::uint64_t tid) {
  return make_global_pid(pid) | (tid & 0xFFFFFFU);
}
constexpr std::uint64_t global_pid_of(std::uint64_t global_tid) { return global_tid & kGlobalPidMask; }
constexpr std::uint32_t pid_of(std::uint64_t global_id) {
  return static_cast<std::uint32_t>((global_id >> 24U) & 0xFFFFFFU);
}
constexpr std::uint32_t tid_of(std::uint64_t global_tid) { return static_cast<std::uint32_t>(global_tid & 0xFFFFFFU); }

inline constexpr std::int64_t kUnknownTime = INT64_MIN;

// What GPU records have in common. correlation 0: not recorded. graph_node 0: outside CUDA graphs.
struct GpuRecord {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t global_pid = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t green_context = 0;
  std::uint32_t stream = 0;
};

struct Dim3 {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;
  bool operator==(const Dim3&) const = default;
};

struct KernelRecord : GpuRecord {
  StringId demangled_name = kNoString;
  StringId short_name = kNoString;
  StringId mangled_name = kNoString;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  std::int32_t launch_type = 0;
  std::int32_t cache_config = 0;
  std::int32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::int32_t local_bytes_per_thread = 0;
  std::int64_t local_bytes_total = 0;
  std::int64_t grid_id = 0;
  std::int32_t shared_bytes_executed = 0;
  std::int32_t shared_limit_config = 0;
  std::uint32_t graph = 0;
};

// CUPTI's numbering of copy kinds (CUpti_ActivityMemcpyKind), which Nsight Systems shares.
// The last three are migrations of managed memory; an array is one of CUDA, on the device.
enum class CopyKind : std::int32_t {
  kUnknown = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kHostToArray = 3,
  kArrayToHost = 4,
  kArrayToArray = 5,
  kArrayToDevice = 6,
  kDeviceToArray = 7,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
  kUnifiedHostToDevice = 11,
  kUnifiedDeviceToHost = 12,
  kUnifiedDeviceToDevice = 13,
};

// CUPTI's numbering of memory kinds as in Nsight Systems' export.
enum class MemoryKind : std::int32_t {
  kPageable = 0,
  kPinned = 1,
  kDevice = 2,
  kArray = 3,
  kManaged = 4,
  kDeviceStatic = 5,
  kManagedStatic = 6,
  kUnknown = 7,
};

struct MemcpyRecord : GpuRecord {
  std::int64_t bytes = 0;
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind src_kind = MemoryKind::kUnknown;
  MemoryKind dst_kind = MemoryKind::kUnknown;
  std::int32_t src_device = -1;  // -1: not a peer copy
  std::int32_t dst_device = -1;
};

struct MemsetRecord : GpuRecord {
  std::int64_t bytes = 0;
  std::int64_t value = 0;
  MemoryKind kind = MemoryKind::kUnknown;
};

enum class SyncType : std::int32_t { kUnknown = 0, kEvent = 1, kStreamWaitEvent = 2, kStream = 3, kContext = 4 };

struct SyncRecord : GpuRecord {
  SyncType type = SyncType::kUnknown;
  std::uint32_t event = 0;
  std::uint64_t event_sync = 0;
};

struct GraphTraceRecord : GpuRecord {
  std::uint32_t graph = 0;
  std::uint32_t graph_exec = 0;
};

// An event was recorded on a stream. event_sync joins what waited for it.
struct CudaEventRecord {
  std::int64_t time_ns = kUnknownTime;  // on the GPU
  std::uint64_t global_pid = 0;
  std::uint64_t event_sync = 0;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
};

struct MemoryPool {
  enum class Owner : std::uint8_t { kNone, kThisProcess, kOther };
  Owner owner = Owner::kNone;
  std::uint64_t address = 0;
  std::int64_t release_threshold = 0;  // bytes; this and the sizes of a pool of this process only
  std::int64_t size = 0;
  std::int64_t used_bytes = 0;
  std::uint64_t owner_pid = 0;  // of another process
};

// Nsight Systems' numbering of the operations.
enum class MemoryOperation : std::int32_t { kAllocate = 0, kRelease = 1 };
enum class PoolOperation : std::int32_t { kCreated = 0, kDestroyed = 1, kTrimmed = 2 };

struct MemoryRecord {
  std::int64_t time_ns = 0;
  std::uint64_t global_pid = 0;
  std::uint64_t address = 0;
  std::uint64_t pc = 0;
  std::int64_t bytes = 0;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::int64_t stream = -1;  // -1: not asynchronous
  MemoryKind kind = MemoryKind::kUnknown;
  MemoryOperation operation = MemoryOperation::kAllocate;
  std::string name;  // of a variable
  MemoryPool pool;
};

struct MemoryPoolRecord {
  std::int64_t time_ns = 0;
  std::uint64_t global_pid = 0;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  PoolOperation operation = PoolOperation::kCreated;
  std::int64_t min_bytes_to_keep = 0;
  MemoryPool pool;
};

enum class ApiClass : std::int32_t { kRuntime = 0, kDriver = 1 };

struct ApiRecord {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t global_tid = 0;
  std::uint32_t correlation = 0;
  StringId name = kNoString;
  ApiClass api_class = ApiClass::kRuntime;
  std::int32_t return_value = 0;
};

// A node of a CUDA graph was created, or copied from `original` (0: created).
struct GraphNodeRecord {
  std::int64_t time_ns = 0;
  std::uint64_t global_tid = 0;
  std::uint64_t node = 0;
  std::uint64_t original = 0;
};

// CUPTI's numbering of overhead kinds as in Nsight Systems' export.
struct OverheadRecord {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t global_tid = 0;
  std::uint32_t correlation = 0;
  StringId name = kNoString;
  std::int32_t type = 0;
};

enum class NvtxType : std::int32_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kCategory = 33, kDomain = 75 };

// An end of kOpenEnd: the range was still open when recording ended (or it is a mark, which has no end).
inline constexpr std::int64_t kOpenEnd = INT64_MIN;

// How the program gave the value that it attached; Nsight Systems has a column for each.
enum class NvtxValueType : std::uint8_t { kNone, kUint64, kInt64, kDouble, kUint32, kInt32, kFloat };

struct NvtxRecord {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = kOpenEnd;
  std::uint64_t global_tid = 0;
  std::uint64_t end_global_tid = 0;  // 0: the same thread
  std::uint64_t range = 0;           // 0: none
  std::int64_t int64_value = 0;      // of integer types; kUint64 in two's complement
  double double_value = 0;           // of kDouble and kFloat
  StringId text = kNoString;
  StringId json = kNoString;
  std::uint32_t domain = 0;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  NvtxType type = NvtxType::kPushPop;
  NvtxValueType value_type = NvtxValueType::kNone;
  bool is_plain = false;  // the name is a plain string, which the program had not registered
};

// A range or mark with payloads of NVTX's extension. A kind of its own: few ranges have one, and those who keep ranges
// keep no bytes that they do not use.
struct NvtxPayloadRecord : NvtxRecord {
  std::string_view payload;  // as NVTX_EVENTS.binaryData; valid only while a sink takes the record
};

// A struct that a program registered for payloads of NVTX's extension, as nvtx3/nvToolsExtPayload.h numbers it.
struct PayloadSchemaRecord {
  std::uint32_t domain = 0;
  std::uint32_t entries = 0;
  std::uint64_t id = 0;
  std::uint64_t type = 0;  // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t flags = 0;
  std::uint64_t size = 0;   // bytes; 0: values differ
  std::uint64_t align = 0;  // bytes; 0: not known
  std::string name;
};

// An entry of such a struct.
struct PayloadEntryRecord {
  std::uint32_t domain = 0;
  std::uint32_t index = 0;
  std::uint64_t schema = 0;  // PayloadSchemaRecord::id
  std::uint64_t flags = 0;   // NVTX_PAYLOAD_ENTRY_FLAG_*
  std::uint64_t type = 0;    // NVTX_PAYLOAD_ENTRY_TYPE_*, or the id of another schema
  std::uint64_t detail = 0;  // array length, or the entry that has it, or the union's selector
  std::uint64_t offset = 0;  // bytes from the begin of the payload
  std::string name;
};

struct CollectiveRecord {
  std::uint64_t global_pid = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  StringId name = kNoString;
  StringId dtype = kNoString;
  StringId group_name = kNoString;
  StringId ranks = kNoString;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int64_t seq = -1;  // -1: not recorded
  std::int32_t group_size = 0;
};

// What NCCL itself tells of its work, where its profiler plugin was loaded (collector/nccl/). Numbers are those of
// events of the process, unique in it; 0: unknown.
struct NcclCommunicatorRecord {
  std::uint64_t global_pid = 0;
  std::uint64_t communicator = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = kOpenEnd;
  StringId group_name = kNoString;  // as CollectiveRecord has it
  StringId name = kNoString;
  std::int32_t rank = 0;
  std::int32_t group_size = 0;
  std::int32_t nodes = 0;
};

enum class NcclOperationKind : std::uint8_t { kCollective, kPointToPoint, kCopyEngine };

struct NcclOperationRecord {
  std::uint64_t global_pid = 0;
  std::uint64_t global_tid = 0;
  std::uint64_t operation = 0;
  std::uint64_t communicator = 0;
  std::uint64_t plan = 0;        // the same of all that one kernel carries out
  std::uint64_t call_group = 0;  // the call, or the group of calls, that asked for it
  std::int64_t start_ns = 0;     // of being handed over to the GPU, on the host
  std::int64_t end_ns = kOpenEnd;
  std::uint64_t graph_node = 0;   // of the kernel, where it is known for certain
  std::uint32_t correlation = 0;  // the same
  StringId name = kNoString;
  StringId dtype = kNoString;
  StringId algorithm = kNoString;
  StringId protocol = kNoString;
  std::int64_t count = 0;
  std::int64_t seq = -1;  // of the function in the communicator
  std::int32_t peer = 0;  // root of a collective
  std::int32_t channels = -1;
  std::int32_t captured = -1;  // 0, 1: in a CUDA graph
  NcclOperationKind kind = NcclOperationKind::kCollective;
};

// The call that launches a plan's kernel, or captures it.
struct NcclLaunchRecord {
  std::uint64_t global_pid = 0;
  std::uint64_t global_tid = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = kOpenEnd;
  std::uint64_t communicator = 0;
  std::uint64_t call_group = 0;
};

// What one thread block of a kernel spent on one operation.
struct NcclChannelRecord {
  std::uint64_t global_pid = 0;
  std::uint64_t operation = 0;
  std::int64_t gpu_start_ns = 0;  // %globaltimer; 0: unknown
  std::int64_t gpu_end_ns = 0;
  std::int64_t began_ns = kUnknownTime;  // on the trace's clock
  std::int64_t ended_ns = kUnknownTime;
  std::int64_t error_ns = -1;  // that the two may both be off
  std::int32_t channel = 0;
};

// CPU time of a thread of the recorded process since it began; tid 0: of the whole process.
struct ThreadCpuRecord {
  std::int64_t timestamp_ns = 0;
  std::uint64_t global_tid = 0;
  std::int64_t cpu_ns = 0;
};

inline constexpr std::int32_t kNoRank = -1;

// A process below `swinscope record`. A later record with the same process id and start replaces an earlier one.
struct ProcessRecord {
  std::uint64_t global_pid = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = kOpenEnd;       // kOpenEnd: still running
  std::uint64_t parent_global_pid = 0;  // 0: the command itself
  std::int32_t rank = kNoRank;
  StringId name = kNoString;
  StringId command = kNoString;
  std::int64_t cpu_ns = 0;         // without its children
  std::int64_t unseen_cpu_ns = 0;  // of children that no sample saw
  std::int64_t max_rss_bytes = 0;
};

struct ProcessCpuRecord {
  std::int64_t timestamp_ns = 0;
  std::uint64_t global_pid = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t rss_bytes = 0;
};

// How a GPU's metrics are sampled; TARGET_INFO_GPU_METRICS.sourceId. kAllocator: by the program's memory allocator at
// each change; the GPU is CUDA's ordinal, and a value holds from its time on.
enum class MetricSource : std::int32_t { kUnknown = 0, kNvml = 1, kPmSampling = 2, kGpm = 3, kAllocator = 4 };

// A sampled metric of a GPU.
struct MetricRecord {
  std::int64_t time_ns = 0;
  MetricSource source = MetricSource::kUnknown;
  std::uint8_t gpu = 0;
  std::int32_t metric = 0;
  std::int64_t value = 0;  // in the metric's unit
};

// What a metric of a GPU is called, with its unit in brackets.
struct MetricNameRecord {
  MetricSource source = MetricSource::kUnknown;
  std::uint8_t gpu = 0;
  std::int32_t metric = 0;
  std::string name;
};

struct GpuInfo {
  std::int32_t device = 0;  // CUDA ordinal in the process
  std::string name;
  std::string uuid;
  std::int64_t memory_bytes = 0;
  std::int32_t sm_count = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  // Empty or 0: not recorded.
  std::string chip;          // e.g. "GH100"
  std::string bus_location;  // PCI domain:bus:device.function
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes_per_second = 0;  // peak
  std::int64_t clock_hz = 0;                 // peak, of the multiprocessors
  bool operator==(const GpuInfo&) const = default;
};

struct ContextInfo {
  std::uint32_t context = 0;
  std::int32_t device = 0;
  std::uint32_t null_stream = 0;
  bool operator==(const ContextInfo&) const = default;
};

struct StreamInfo {
  std::uint32_t stream = 0;
  std::uint32_t context = 0;
  std::int32_t priority = 0;
  std::int32_t flag = 0;  // as in TARGET_INFO_CUDA_STREAM
  bool operator==(const StreamInfo&) const = default;
};

struct ProcessInfo {
  std::uint64_t global_pid = 0;
  std::string name;
  bool operator==(const ProcessInfo&) const = default;
};

struct ThreadInfo {
  std::uint64_t global_tid = 0;
  std::string name;
  bool operator==(const ThreadInfo&) const = default;
};

struct NamedValue {
  std::string name;
  std::string value;
  bool operator==(const NamedValue&) const = default;
};

struct DropInfo {
  std::string what;
  std::int64_t count = 0;
  std::string reason;
  bool operator==(const DropInfo&) const = default;
};

// A part of the run in which CUDA was recorded.
struct WindowInfo {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const WindowInfo&) const = default;
};

// The fact in RunInfo::collector that says what stated the rank of an imported trace: distributedInfo, MPI_RANKS, or a
// variable of the environment. Without it the rank is only a number that the importer gave.
inline constexpr std::string_view kRankStatedBy = "rank.stated_by";

// The chip of a compute capability, where only one has it; else empty. Source: CUDA's table of GPUs by capability.
constexpr std::string_view chip_of_capability(std::int32_t major, std::int32_t minor) {
  switch (major * 10 + minor) {
    case 60:
      return "GP100";
    case 70:
      return "GV100";
    case 80:
      return "GA100";
    case 90:
      return "GH100";
    default:
      return "";
  }
}

// The fact in RunInfo::collector that says what became of CUDA; where it was to be recorded and was not, it begins with
// kNotRecorded and says why.
inline constexpr std::string_view kCudaActivity = "cuda.activity";
inline constexpr std::string_view kNotRecorded = "not recorded";

// Everything about a recorded process that is not an event.
struct RunInfo {
  std::string source;           // "swinscope", "kineto" or "nsys"
  std::string source_file;      // the imported file, empty for own recordings
  std::int32_t rank = 0;        // kNoRank: the file of `swinscope record`, about the processes below it
  std::int32_t world_size = 0;  // 0: unknown
  std::uint64_t global_pid = 0;
  std::string host;
  std::string command;
  bool complete = true;
  bool graph_level_only = false;  // CUDA graphs were traced as one record each: their kernels are missing
  std::int64_t utc_epoch_ns = 0;
  std::vector<GpuInfo> gpus;
  std::vector<ContextInfo> contexts;
  std::vector<StreamInfo> streams;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<WindowInfo> windows;  // by time; empty: CUDA was recorded throughout, or not at all
  std::vector<NamedValue> environment;
  std::vector<NamedValue> collector;  // how the recording went
  std::vector<DropInfo> drops;
};

}  // namespace swinscope
