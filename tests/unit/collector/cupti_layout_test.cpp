// Our declarations of CUPTI's records against its own headers, where a CUDA toolkit is at hand: the newest layouts, and
// those that they replaced.
#include <gtest/gtest.h>

#include "collector/cupti/cupti_abi.h"

#if __has_include(<cupti.h>)
#include <cupti.h>

namespace swinscope {
namespace {

#define EXPECT_SAME(ours, member, theirs, their_member)                     \
  EXPECT_EQ(offsetof(cupti::ours, member), offsetof(theirs, their_member)); \
  EXPECT_EQ(sizeof(cupti::ours::member), sizeof(((theirs*)nullptr)->their_member)) << #ours "::" #member

#define EXPECT_KERNEL(theirs)                                              \
  EXPECT_SAME(Kernel, registers_per_thread, theirs, registersPerThread);   \
  EXPECT_SAME(Kernel, cache_config, theirs, cacheConfig);                  \
  EXPECT_SAME(Kernel, start, theirs, start);                               \
  EXPECT_SAME(Kernel, end, theirs, end);                                   \
  EXPECT_SAME(Kernel, device, theirs, deviceId);                           \
  EXPECT_SAME(Kernel, context, theirs, contextId);                         \
  EXPECT_SAME(Kernel, stream, theirs, streamId);                           \
  EXPECT_EQ(offsetof(cupti::Kernel, grid), offsetof(theirs, gridX));       \
  EXPECT_EQ(offsetof(cupti::Kernel, block), offsetof(theirs, blockX));     \
  EXPECT_SAME(Kernel, static_shared, theirs, staticSharedMemory);          \
  EXPECT_SAME(Kernel, dynamic_shared, theirs, dynamicSharedMemory);        \
  EXPECT_SAME(Kernel, local_per_thread, theirs, localMemoryPerThread);     \
  EXPECT_SAME(Kernel, local_total, theirs, localMemoryTotal);              \
  EXPECT_SAME(Kernel, correlation, theirs, correlationId);                 \
  EXPECT_SAME(Kernel, grid_id, theirs, gridId);                            \
  EXPECT_SAME(Kernel, name, theirs, name);                                 \
  EXPECT_SAME(Kernel, launch_type, theirs, launchType);                    \
  EXPECT_SAME(Kernel, shared_executed, theirs, sharedMemoryExecuted);      \
  EXPECT_SAME(Kernel, graph_node, theirs, graphNodeId);                    \
  EXPECT_SAME(Kernel, shared_limit_config, theirs, shmemLimitConfig);      \
  EXPECT_SAME(Kernel, graph, theirs, graphId);                             \
  EXPECT_EQ(offsetof(cupti::Kernel, cluster), offsetof(theirs, clusterX)); \
  EXPECT_SAME(Kernel, local_total_64, theirs, localMemoryTotal_v2);        \
  EXPECT_LE(sizeof(cupti::Kernel), sizeof(theirs))

TEST(CuptiLayout, Kernels) {
  EXPECT_KERNEL(CUpti_ActivityKernel9);
#if CUPTI_API_VERSION >= 130000
  EXPECT_KERNEL(CUpti_ActivityKernel10);
#endif
}

TEST(CuptiLayout, CopiesAndSets) {
  EXPECT_SAME(Memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
  EXPECT_SAME(Memcpy, src_kind, CUpti_ActivityMemcpy5, srcKind);
  EXPECT_SAME(Memcpy, dst_kind, CUpti_ActivityMemcpy5, dstKind);
  EXPECT_SAME(Memcpy, bytes, CUpti_ActivityMemcpy5, bytes);
  EXPECT_SAME(Memcpy, start, CUpti_ActivityMemcpy5, start);
  EXPECT_SAME(Memcpy, end, CUpti_ActivityMemcpy5, end);
  EXPECT_SAME(Memcpy, device, CUpti_ActivityMemcpy5, deviceId);
  EXPECT_SAME(Memcpy, context, CUpti_ActivityMemcpy5, contextId);
  EXPECT_SAME(Memcpy, stream, CUpti_ActivityMemcpy5, streamId);
  EXPECT_SAME(Memcpy, correlation, CUpti_ActivityMemcpy5, correlationId);
  EXPECT_SAME(Memcpy, graph_node, CUpti_ActivityMemcpy5, graphNodeId);
  EXPECT_SAME(PeerCopy, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
  EXPECT_SAME(PeerCopy, start, CUpti_ActivityMemcpyPtoP4, start);
  EXPECT_SAME(PeerCopy, src_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
  EXPECT_SAME(PeerCopy, dst_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
  EXPECT_SAME(PeerCopy, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
  EXPECT_SAME(PeerCopy, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
  EXPECT_SAME(Memset, value, CUpti_ActivityMemset4, value);
  EXPECT_SAME(Memset, bytes, CUpti_ActivityMemset4, bytes);
  EXPECT_SAME(Memset, start, CUpti_ActivityMemset4, start);
  EXPECT_SAME(Memset, correlation, CUpti_ActivityMemset4, correlationId);
  EXPECT_SAME(Memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
  EXPECT_SAME(Memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
}

TEST(CuptiLayout, CallsAndTheRest) {
  EXPECT_SAME(Api, callback, CUpti_ActivityAPI, cbid);
  EXPECT_SAME(Api, start, CUpti_ActivityAPI, start);
  EXPECT_SAME(Api, end, CUpti_ActivityAPI, end);
  EXPECT_SAME(Api, thread, CUpti_ActivityAPI, threadId);
  EXPECT_SAME(Api, correlation, CUpti_ActivityAPI, correlationId);
  EXPECT_SAME(Api, return_value, CUpti_ActivityAPI, returnValue);
  EXPECT_SAME(Synchronization, type, CUpti_ActivitySynchronization, type);
  EXPECT_SAME(Synchronization, start, CUpti_ActivitySynchronization, start);
  EXPECT_SAME(Synchronization, correlation, CUpti_ActivitySynchronization, correlationId);
  EXPECT_SAME(Synchronization, context, CUpti_ActivitySynchronization, contextId);
  EXPECT_SAME(Synchronization, stream, CUpti_ActivitySynchronization, streamId);
  EXPECT_SAME(Synchronization, event, CUpti_ActivitySynchronization, cudaEventId);
  EXPECT_SAME(Synchronization, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
  EXPECT_SAME(Overhead, overhead_kind, CUpti_ActivityOverhead2, overheadKind);
  EXPECT_SAME(Overhead, object_kind, CUpti_ActivityOverhead2, objectKind);
  EXPECT_SAME(Overhead, start, CUpti_ActivityOverhead2, start);
  EXPECT_SAME(Overhead, correlation, CUpti_ActivityOverhead2, correlationId);
  EXPECT_SAME(GraphTrace, start, CUpti_ActivityGraphTrace, start);
  EXPECT_SAME(GraphTrace, graph, CUpti_ActivityGraphTrace, graphId);
  EXPECT_SAME(GraphTrace, stream, CUpti_ActivityGraphTrace, streamId);
  EXPECT_SAME(Device, memory_bytes, CUpti_ActivityDevice4, globalMemorySize);
  EXPECT_SAME(Device, multiprocessors, CUpti_ActivityDevice4, numMultiprocessors);
  EXPECT_SAME(Device, compute_major, CUpti_ActivityDevice4, computeCapabilityMajor);
  EXPECT_SAME(Device, id, CUpti_ActivityDevice4, id);
  EXPECT_EQ(offsetof(cupti::Device, uuid), offsetof(CUpti_ActivityDevice4, uuid));
  EXPECT_SAME(Device, name, CUpti_ActivityDevice4, name);
  EXPECT_SAME(Device, is_visible, CUpti_ActivityDevice4, isCudaVisible);
  EXPECT_SAME(Context, context, CUpti_ActivityContext2, contextId);
  EXPECT_SAME(Context, device, CUpti_ActivityContext2, deviceId);
  EXPECT_SAME(Context, null_stream, CUpti_ActivityContext2, nullStreamId);
  EXPECT_EQ(offsetof(cupti::GraphData, original_node), offsetof(CUpti_GraphData, originalNode));
  EXPECT_EQ(offsetof(cupti::ResourceData, descriptor), offsetof(CUpti_ResourceData, resourceDescriptor));
}

TEST(CuptiLayout, EventsAndMemory) {
  EXPECT_SAME(CudaEvent, correlation, CUpti_ActivityCudaEvent, correlationId);
  EXPECT_SAME(CudaEvent, event, CUpti_ActivityCudaEvent, eventId);
  EXPECT_SAME(CudaEvent, stream, CUpti_ActivityCudaEvent2, streamId);
  EXPECT_SAME(CudaEvent, device, CUpti_ActivityCudaEvent2, deviceId);
  EXPECT_SAME(CudaEvent, device_time, CUpti_ActivityCudaEvent2, deviceTimestamp);
  EXPECT_SAME(CudaEvent, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
  EXPECT_SAME(Stream, stream, CUpti_ActivityStream, streamId);
  EXPECT_SAME(Stream, priority, CUpti_ActivityStream, priority);
  EXPECT_SAME(Stream, flag, CUpti_ActivityStream, flag);
  EXPECT_SAME(Memory, operation, CUpti_ActivityMemory3, memoryOperationType);
  EXPECT_SAME(Memory, memory_kind, CUpti_ActivityMemory3, memoryKind);
  EXPECT_SAME(Memory, correlation, CUpti_ActivityMemory3, correlationId);
  EXPECT_SAME(Memory, address, CUpti_ActivityMemory3, address);
  EXPECT_SAME(Memory, bytes, CUpti_ActivityMemory3, bytes);
  EXPECT_SAME(Memory, time, CUpti_ActivityMemory3, timestamp);
  EXPECT_SAME(Memory, pc, CUpti_ActivityMemory3, PC);
  EXPECT_SAME(Memory, device, CUpti_ActivityMemory3, deviceId);
  EXPECT_SAME(Memory, stream, CUpti_ActivityMemory3, streamId);
  EXPECT_SAME(Memory, name, CUpti_ActivityMemory3, name);
  EXPECT_SAME(Memory, is_async, CUpti_ActivityMemory3, isAsync);
  EXPECT_EQ(offsetof(cupti::Memory, pool), offsetof(CUpti_ActivityMemory3, memoryPoolConfig));
  EXPECT_EQ(sizeof(cupti::PoolState), sizeof(CUpti_ActivityMemory3::memoryPoolConfig));
  EXPECT_EQ(offsetof(cupti::Memory, pool.used_bytes), offsetof(CUpti_ActivityMemory3, memoryPoolConfig.utilizedSize));
  EXPECT_SAME(MemoryPool, operation, CUpti_ActivityMemoryPool2, memoryPoolOperationType);
  EXPECT_SAME(MemoryPool, type, CUpti_ActivityMemoryPool2, memoryPoolType);
  EXPECT_SAME(MemoryPool, device, CUpti_ActivityMemoryPool2, deviceId);
  EXPECT_SAME(MemoryPool, min_bytes_to_keep, CUpti_ActivityMemoryPool2, minBytesToKeep);
  EXPECT_SAME(MemoryPool, address, CUpti_ActivityMemoryPool2, address);
  EXPECT_SAME(MemoryPool, size_or_process, CUpti_ActivityMemoryPool2, size);
  EXPECT_SAME(MemoryPool, release_threshold, CUpti_ActivityMemoryPool2, releaseThreshold);
  EXPECT_SAME(MemoryPool, time, CUpti_ActivityMemoryPool2, timestamp);
  EXPECT_SAME(MemoryPool, used_bytes, CUpti_ActivityMemoryPool2, utilizedSize);
#if CUPTI_API_VERSION >= 130000
  EXPECT_EQ(offsetof(cupti::Memory, pool), offsetof(CUpti_ActivityMemory4, memoryPoolConfig));
#endif
}

TEST(CuptiLayout, Numbers) {
  EXPECT_EQ(static_cast<int>(cupti::Kind::kConcurrentKernel), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kPeerCopy), CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kSynchronization), CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kCudaEvent), CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kStream), CUPTI_ACTIVITY_KIND_STREAM);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kMemory), CUPTI_ACTIVITY_KIND_MEMORY2);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kMemoryPool), CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  EXPECT_EQ(cupti::kOwnPool, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
  EXPECT_EQ(cupti::kImportedPool, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kOverhead), CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kGraphTrace), CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kContext), CUPTI_ACTIVITY_KIND_CONTEXT);
  EXPECT_EQ(static_cast<int>(cupti::Kind::kDevice), CUPTI_ACTIVITY_KIND_DEVICE);
  EXPECT_EQ(cupti::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(cupti::kBuffersComeZeroed, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
  EXPECT_EQ(cupti::kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  EXPECT_EQ(static_cast<int>(cupti::kGraphNodeCreated), CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  EXPECT_EQ(static_cast<int>(cupti::kGraphExecCreated), CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
  EXPECT_EQ(static_cast<int>(cupti::kGraphNodeCloned), CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

}  // namespace
}  // namespace swinscope
#else
TEST(CuptiLayout, Kernels) { GTEST_SKIP() << "no CUDA toolkit with CUPTI's headers on this machine"; }
#endif
