// The part of CUPTI's binary interface that the collector uses, declared here so that it builds without a CUDA toolkit
// and runs with whichever CUPTI the traced program brought along. Source: cupti_activity.h and cupti_callbacks.h of
// CUDA 12.4 to 13.0; where a toolkit is at hand, a test holds every offset against its headers.
//
// Records grow at their end from version to version. The structures below are the common beginning of all supported
// versions, so that one layout fits them all; how long a record really is, only CUPTI itself knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swinscope::cupti {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMultipleSubscribers = 39;

enum class Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kPeerCopy = 22,  // between two devices
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kMemory = 49,  // CUPTI calls it MEMORY2
  kMemoryPool = 50,
  kGraphTrace = 51,
};

// Activity attributes.
inline constexpr int kDeviceBufferBytes = 0;      // size_t: GPU memory for the times of kernels
inline constexpr int kBuffersComeZeroed = 5;      // uint8_t: CUPTI need not clear buffers in the program's thread
inline constexpr std::uint32_t kFlushReady = 0;   // what is complete
inline constexpr std::uint32_t kFlushForced = 1;  // everything
inline constexpr int kSystemThreadIds = 1;        // threads by gettid()

// Callback domains, and what the callbacks of graphs are about.
inline constexpr std::uint32_t kDriverDomain = 1;
inline constexpr std::uint32_t kRuntimeDomain = 2;
inline constexpr std::uint32_t kResourceDomain = 3;
inline constexpr std::uint32_t kCallEnter = 0;  // the first number of a call's callback data; 1: exit
inline constexpr std::uint32_t kGraphNodeCreated = 13;
inline constexpr std::uint32_t kGraphExecCreated = 18;
inline constexpr std::uint32_t kGraphNodeCloned = 20;

#define SWINSCOPE_CUPTI_RECORD __attribute__((packed, aligned(8)))

struct SWINSCOPE_CUPTI_RECORD Record {
  Kind kind;
};

struct SWINSCOPE_CUPTI_RECORD Kernel {
  Kind kind;
  std::uint8_t cache_config;  // requested in the low four bits, executed in the high
  std::uint8_t shared_config;
  std::uint16_t registers_per_thread;
  std::uint32_t global_cache_requested;
  std::uint32_t global_cache_executed;
  std::uint64_t start;  // 0: no times were taken
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared;
  std::int32_t dynamic_shared;
  std::uint32_t local_per_thread;
  std::uint32_t local_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;  // mangled; lives as long as CUPTI
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_is_requested;
  std::uint8_t carveout_requested;
  std::uint8_t padding;
  std::uint32_t shared_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_limit_config;
  std::uint32_t graph;
  const void* access_policy;
  std::uint32_t channel;
  std::uint32_t channel_type;
  std::uint32_t cluster[3];
  std::uint32_t cluster_scheduling;
  std::uint64_t local_total_64;
};

struct SWINSCOPE_CUPTI_RECORD Memcpy {
  Kind kind;
  std::uint8_t copy_kind;
  std::uint8_t src_kind;
  std::uint8_t dst_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct SWINSCOPE_CUPTI_RECORD PeerCopy {
  Kind kind;
  std::uint8_t copy_kind;
  std::uint8_t src_kind;
  std::uint8_t dst_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t src_device;
  std::uint32_t src_context;
  std::uint32_t dst_device;
  std::uint32_t dst_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
};

struct SWINSCOPE_CUPTI_RECORD Memset {
  Kind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

// A call of the runtime or the driver.
struct SWINSCOPE_CUPTI_RECORD Api {
  Kind kind;
  std::uint32_t callback;  // which function
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t return_value;
};

struct SWINSCOPE_CUPTI_RECORD Synchronization {
  Kind kind;
  std::uint32_t type;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint64_t event_sync;  // from kFirstWithEventSync on
};

struct SWINSCOPE_CUPTI_RECORD Overhead {
  Kind kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t object[3];  // of a thread: process, thread
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
};
inline constexpr std::uint32_t kThreadObject = 2;

struct SWINSCOPE_CUPTI_RECORD GraphTrace {
  Kind kind;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t graph;
  std::uint32_t context;
  std::uint32_t stream;
};

struct SWINSCOPE_CUPTI_RECORD CudaEvent {
  Kind kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint32_t padding;
  std::uint32_t device;  // this and the rest from kFirstWithEventSync on
  std::uint32_t padding2;
  void* reserved;
  std::uint64_t device_time;  // 0: not collected
  std::uint64_t event_sync;
};
inline constexpr std::uint32_t kFirstWithEventSync = 26;  // CUPTI's version of CUDA 12.8

struct SWINSCOPE_CUPTI_RECORD PoolState {
  std::uint32_t type;  // 0 none, kOwnPool, kImportedPool
  std::uint32_t padding;
  std::uint64_t address;
  std::uint64_t release_threshold;
  std::uint64_t size_or_process;  // of an own pool its size, of an imported one its process
  std::uint64_t used_bytes;
};
inline constexpr std::uint32_t kOwnPool = 1;
inline constexpr std::uint32_t kImportedPool = 2;

struct SWINSCOPE_CUPTI_RECORD Memory {
  Kind kind;
  std::uint32_t operation;  // 1 allocation, 2 release
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t time;
  std::uint64_t pc;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  const char* name;
  std::uint32_t is_async;
  std::uint32_t padding;
  PoolState pool;
};

struct SWINSCOPE_CUPTI_RECORD MemoryPool {
  Kind kind;
  std::uint32_t operation;  // 1 created, 2 destroyed, 3 trimmed
  std::uint32_t type;
  std::uint32_t correlation;
  std::uint32_t process;
  std::uint32_t device;
  std::uint64_t min_bytes_to_keep;
  std::uint64_t address;
  std::uint64_t size_or_process;
  std::uint64_t release_threshold;
  std::uint64_t time;
  std::uint64_t used_bytes;
};

struct SWINSCOPE_CUPTI_RECORD Stream {
  Kind kind;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t priority;
  std::uint32_t flag;
  std::uint32_t correlation;
};

struct SWINSCOPE_CUPTI_RECORD Device {
  Kind kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth;  // kB/s
  std::uint64_t memory_bytes;
  std::uint32_t constant_bytes;
  std::uint32_t l2_bytes;
  std::uint32_t threads_per_warp;
  std::uint32_t clock_khz;
  std::uint32_t copy_engines;
  std::uint32_t multiprocessors;
  std::uint32_t limits[14];
  std::uint32_t compute_major;
  std::uint32_t compute_minor;
  std::uint32_t id;
  std::uint32_t ecc;
  std::uint8_t uuid[16];
  const char* name;
  std::uint8_t is_visible;  // not hidden by CUDA_VISIBLE_DEVICES
};

struct SWINSCOPE_CUPTI_RECORD Context {
  Kind kind;
  std::uint32_t context;
  std::uint32_t device;
  std::uint16_t api;
  std::uint16_t null_stream;
};

#undef SWINSCOPE_CUPTI_RECORD

// What a resource callback gets.
struct ResourceData {
  void* context;
  void* stream;
  const void* descriptor;  // GraphData for graphs
};
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
};

struct SubscriberParameters {
  std::size_t struct_size;
  const char* name;
  char* old_name;  // receives who holds CUPTI already
  std::size_t old_name_size;
};
inline constexpr std::size_t kSubscriberNameBytes = 64;

using Subscriber = void*;
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                 std::size_t valid_bytes);
using Timestamp = std::uint64_t (*)();
using Callback = void (*)(void* user_data, std::uint32_t domain, std::uint32_t callback, const void* data);

}  // namespace swinscope::cupti
