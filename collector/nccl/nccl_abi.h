// What NCCL hands to a profiler plugin, in our own words: as much of the layouts of versions 4, 5 and 6 of its
// interface as is read here. No header of NCCL is needed, and none has to be there where the library is built.
//
// NCCL asks a plugin for the newest version that both know, and calls its functions from the threads of the program,
// from a thread of its own (GPU times) and from the driver's (before the replay of a CUDA graph). Versions 5 and 6 add
// events around calls and kernel launches; 6 adds collectives that copy engines carry out. A descriptor is as long as
// its type needs: nothing may be read of another type's. Source: NCCL 2.27 to 2.29, src/include/plugin/profiler/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swinscope::nccl {

inline constexpr int kSuccess = 0;

// Bits of what a plugin wants to hear of, and the type of an event.
enum EventType : std::uint64_t {
  kPlan = 1U << 0U,  // one kernel's work being handed over
  kCollective = 1U << 1U,
  kPointToPoint = 1U << 2U,
  kKernelChannel = 1U << 6U,
  kCallGroup = 1U << 8U,  // from here on version 5
  kCollectiveCall = 1U << 9U,
  kPointToPointCall = 1U << 10U,
  kKernelLaunch = 1U << 11U,
  kCopyEngineCollective = 1U << 12U,  // version 6
};

inline constexpr int kKernelChannelStop = 22;  // of the states that an event may go through the only one that is read

struct CollectiveV4 {
  std::uint64_t sequence;  // of the function in the communicator
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct CollectiveV5 {
  CollectiveV4 collective;
  void* plan;  // in version 4 this is the event's parent
};

struct PointToPointV4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
struct PointToPointV5 {
  PointToPointV4 point_to_point;
  void* plan;
};

struct KernelChannel {
  std::uint8_t channel;
  std::uint64_t timer;  // %globaltimer of the GPU
};

// NCCL's bool as the byte that it is: a bool may not be read where neither 0 nor 1 stands.
struct CallGroup {
  std::uint8_t is_captured;
  int depth;
};
struct CollectiveCall {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  std::uint8_t is_captured;
};
struct PointToPointCall {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  std::uint8_t is_captured;
};

// As CollectiveV4 up to the type of the elements.
struct CopyEngineCollective {
  std::uint64_t sequence;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  int root;
  const char* datatype;
};

struct DescriptorV4 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollectiveV4 collective;
    PointToPointV4 point_to_point;
    KernelChannel channel;
  };
};

// Of version 6, too.
struct DescriptorV5 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollectiveV5 collective;
    PointToPointV5 point_to_point;
    KernelChannel channel;
    CallGroup call_group;
    CollectiveCall collective_call;
    PointToPointCall point_to_point_call;
    CopyEngineCollective copy_engine;
  };
};

union StateArguments {
  std::uint64_t timer;  // of kKernelChannelStop
};

// A plugin is a variable of this type, named after its version. Results are 0 where all went well.
template <typename Init, typename Descriptor>
struct Plugin {
  const char* name;
  Init init;
  int (*start_event)(void* context, void** handle, Descriptor* descriptor);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
using InitV4 = int (*)(void** context, int* wanted, const char* name, std::uint64_t hash, int nodes, int ranks,
                       int rank, void* log);
using InitV5 = int (*)(void** context, std::uint64_t hash, int* wanted, const char* name, int nodes, int ranks,
                       int rank, void* log);
using PluginV4 = Plugin<InitV4, DescriptorV4>;
using PluginV5 = Plugin<InitV5, DescriptorV5>;

static_assert(offsetof(DescriptorV4, parent) == 8 && offsetof(DescriptorV4, rank) == 16);
static_assert(offsetof(DescriptorV4, collective) == 24 && offsetof(DescriptorV4, channel) == 24);
static_assert(offsetof(DescriptorV5, parent) == 8 && offsetof(DescriptorV5, rank) == 16);
static_assert(offsetof(DescriptorV5, collective) == 24 && offsetof(DescriptorV5, copy_engine) == 24);
static_assert(offsetof(CollectiveV4, count) == 32 && offsetof(CollectiveV4, root) == 40);
static_assert(offsetof(CollectiveV4, datatype) == 48 && offsetof(CollectiveV4, channels) == 56);
static_assert(offsetof(CollectiveV4, algorithm) == 64 && offsetof(CollectiveV4, protocol) == 72);
static_assert(offsetof(CollectiveV5, plan) == 80 && offsetof(PointToPointV5, plan) == 40);
static_assert(offsetof(PointToPointV4, count) == 24 && offsetof(PointToPointV4, peer) == 32);
static_assert(offsetof(PointToPointV4, channels) == 36 && offsetof(KernelChannel, timer) == 8);
static_assert(offsetof(CollectiveCall, is_captured) == 40 && offsetof(PointToPointCall, is_captured) == 32);
static_assert(offsetof(CopyEngineCollective, datatype) == 48 && sizeof(StateArguments) == 8);
static_assert(offsetof(PluginV5, init) == 8 && offsetof(PluginV5, start_event) == 16);
static_assert(offsetof(PluginV5, stop_event) == 24 && offsetof(PluginV5, record_state) == 32);
static_assert(offsetof(PluginV5, finalize) == 40 && sizeof(PluginV4) == 48);

}  // namespace swinscope::nccl
