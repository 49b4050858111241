// The trace view: a trace in memory as columns, built once, read-only afterwards. Every analysis is a function of it.
//
// Events of one kind live in one set of columns per rank, sorted by lane and, within a lane, by start; a lane is a
// slice of the columns. An event is named by its index, so analyses can point at their evidence.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/metric_series.h"
#include "store/records.h"
#include "store/string_pool.h"
#include "store/torch_domain.h"

namespace swinscope {

using EventIndex = std::uint32_t;
inline constexpr EventIndex kNoEvent = std::numeric_limits<EventIndex>::max();

enum class GpuKind : std::uint8_t { kKernel, kMemcpy, kMemset, kGraph };

// Classes of GPU events (METRICS "Time breakdown"): kernels compute or communicate, copies and sets are memory, but
// copies from one GPU to another communicate. Of a kernel that no rule knows, and of a whole CUDA graph, nothing is
// known.
enum class GpuClass : std::uint8_t { kCompute, kCommunication, kMemory, kUnknown };

// What a GPU event does. Matrix products, convolutions and attention are limited by arithmetic when well fed; the
// others move data. kOther is known, but has no name here: sorting, sampling, scans; kUnknown is not known.
enum class OperationKind : std::uint8_t {
  kGemm,
  kAttention,
  kConv,
  kNorm,
  kSoftmaxLoss,
  kElementwise,
  kLayout,
  kReduce,
  kResample,
  kOptimizer,
  kEmbedding,
  kCommunication,
  kCopy,
  kSet,
  kGraph,
  kOther,
  kUnknown,
};

// Launch configuration of kernels, deduplicated: many launches share one.
struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  std::int32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  bool operator==(const LaunchConfig&) const = default;
};

// What copies went between, deduplicated: many copies share one.
struct CopyEnds {
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind src_kind = MemoryKind::kUnknown;
  MemoryKind dst_kind = MemoryKind::kUnknown;
  std::int32_t src_device = -1;  // -1: not recorded
  std::int32_t dst_device = -1;
  bool is_between_gpus() const;
  bool is_with_host() const;  // or moves a page between host and device
  bool operator==(const CopyEnds&) const = default;
};

struct Slice {
  EventIndex begin = 0;
  EventIndex end = 0;
  EventIndex size() const { return end - begin; }
};

// One stream of one device.
struct GpuLane {
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  Slice events;
};

struct GpuEvents {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<StringId> name;         // kernels: demangled; copies and sets: as "Memcpy HtoD (Pinned -> Device)"
  std::vector<StringId> short_name;   // kernels without namespaces, template arguments and parameters
  std::vector<std::int64_t> bytes;    // copies and sets; 0 for kernels
  std::vector<EventIndex> launch;     // the causing call in ApiCalls, kNoEvent when not recorded
  std::vector<std::uint32_t> lane;    // index into Rank::gpu_lanes
  std::vector<std::uint32_t> config;  // kernels: index into Rank::configs; copies: into Rank::copy_ends
  std::vector<std::uint32_t> correlation;
  std::vector<std::uint64_t> graph_node;
  std::vector<GpuKind> kind;
  std::vector<GpuClass> gpu_class;
  std::vector<OperationKind> operation;
  EventIndex size() const { return static_cast<EventIndex>(start_ns.size()); }
};

// One host thread.
struct ThreadLane {
  std::uint64_t global_tid = 0;
  Slice events;
};

struct ApiCalls {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<StringId> name;
  std::vector<std::uint32_t> lane;  // index into Rank::api_lanes
  std::vector<std::uint32_t> correlation;
  EventIndex size() const { return static_cast<EventIndex>(start_ns.size()); }
};

// The ranges of one NVTX domain on one thread, properly nested unless the program nested them badly.
struct RangeLane {
  std::uint64_t global_tid = 0;
  std::uint32_t domain = 0;
  Slice events;
};

struct Ranges {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;  // ranges still open at the end of the recording end with it
  std::vector<StringId> name;
  std::vector<std::uint32_t> lane;   // index into Rank::range_lanes
  std::vector<std::uint16_t> depth;  // enclosing ranges of the same lane
  std::vector<StringId> json;        // extended payload as JSON, kNoString when there is none
  // PyTorch's operators: the number that forward and backward of one share, -1 for none; empty where no range has one.
  std::vector<std::int64_t> sequence;
  EventIndex size() const { return static_cast<EventIndex>(start_ns.size()); }
};

// Names of the domains into which importers put what the source recorded beside NVTX.
inline constexpr std::string_view kDomainTorchOp = kTorchOperatorDomain;
inline constexpr std::string_view kDomainTorchUser = "torch.user_annotation";
inline constexpr std::string_view kDomainTorchPython = "torch.python_function";
inline constexpr std::string_view kDomainTorchGpuUser = "torch.gpu_user_annotation";
inline constexpr std::string_view kDomainOwn = "swinscope";

// Memory of a device that the process asked CUDA for, or gave back.
struct MemoryChange {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;  // below 0: given back
  std::int32_t device = 0;
};

// A process uses the GPUs of its machine. Files that name more are damaged or made up; they are refused, since what
// belongs to a GPU is looked for among all of them.
inline constexpr std::size_t kMostGpus = 4096;

// One process of the job.
struct Rank {
  RunInfo run;
  std::vector<GpuLane> gpu_lanes;  // ordered by device, context, stream
  GpuEvents gpu;
  std::vector<ThreadLane> api_lanes;
  ApiCalls api;
  std::vector<RangeLane> range_lanes;
  Ranges ranges;
  std::vector<EventIndex> start_end_ranges;   // of the ranges those that may overlap and nest in nothing, ascending
  std::int64_t open_ranges = 0;               // of the ranges those that the end of the recording ended
  std::vector<NvtxRecord> marks;              // strings are ids of Trace::strings
  std::vector<GraphNodeRecord> graph_nodes;   // by node
  std::vector<SyncRecord> syncs;              // by start
  std::vector<CudaEventRecord> cuda_events;   // by time
  std::vector<OverheadRecord> overheads;      // by start
  std::vector<CollectiveRecord> collectives;  // by correlation, graph node
  std::vector<ThreadCpuRecord> thread_cpu;    // by thread, time
  std::vector<MetricSeries> metrics;          // by source, GPU, metric; of `record`, in Launcher::metrics
  std::vector<MemoryChange> memory;           // by time
  std::vector<LaunchConfig> configs;
  std::vector<CopyEnds> copy_ends;
  std::vector<std::pair<StringId, StringId>> mangled;       // full name -> linker symbol, by full name
  std::vector<std::pair<std::uint32_t, StringId>> domains;  // domain id -> name, by id

  // What became of CUDA in the recording of a process that used it, as the collector says: "recorded: …", or how it was
  // missed; "" where no CUDA was used or another program recorded.
  std::string_view cuda_activity() const;
  bool missed_cuda() const;
  // Whether CUDA was recorded when half of it was over.
  bool is_within_windows(std::int64_t start_ns, std::int64_t end_ns) const;
  // The name of a domain; "" for the default domain, "domain N" for one whose name was not recorded.
  std::string domain_name(std::uint32_t domain, const StringPool& strings) const;
  // Of a copy; nullptr of other GPU events.
  const CopyEnds* ends_of(EventIndex gpu_event) const;
  // The linker symbol of a kernel; the name itself where it was not recorded.
  StringId mangled_name(StringId full_name) const;
};

// What `swinscope record` saw from outside of the processes below it: one per host that recorded.
struct Launcher {
  RunInfo run;
  std::vector<ProcessRecord> processes;       // by start; strings are ids of Trace::strings
  std::vector<ProcessCpuRecord> process_cpu;  // by process, time
  std::vector<MetricSeries> metrics;          // of the host's GPUs, by source, GPU, metric
};

struct Trace {
  std::string path;         // as the user gave it
  std::string description;  // what kind of file(s)
  std::size_t files = 1;    // that were read for it and had a rank in them
  StringPool strings;
  std::vector<Rank> ranks;  // by rank number, then process
  std::vector<Launcher> launchers;
  // What was wrong with the input; the data that could be read is there. `corrupt`: some of the input is lost for good.
  std::vector<std::string> warnings;
  bool corrupt = false;
  // Why figures of this trace may be wrong or incomplete, a line each: a verdict says them.
  std::vector<std::string> doubts;

  std::string_view text(StringId id) const { return strings.text(id); }
  std::int64_t gpu_event_count() const;
};

}  // namespace swinscope
