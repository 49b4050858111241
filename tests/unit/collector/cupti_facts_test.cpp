// Records of events, memory, contexts and streams, fabricated, to the rows of the file.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/collector/cupti_fixture.h"

namespace swinscope {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CuptiFactsTest : public CuptiSourceTest {
 protected:
  static TraceOptions with(bool TraceOptions::*field) {
    TraceOptions options;
    options.*field = true;
    return options;
  }
  // Stream 9 waits for the second recording of event 5, made on stream 7.
  void record_and_wait() {
    cupti::CudaEvent event{};
    event.kind = cupti::Kind::kCudaEvent;
    event.event = 5;
    event.stream = 7;
    event.context = 1;
    event.device = 2;
    for (std::uint32_t i = 1; i <= 2; ++i) {
      event.correlation = 10 + i;
      event.event_sync = 100 + i;
      test::emit(state, event);
    }
    cupti::Synchronization wait{};
    wait.kind = cupti::Kind::kSynchronization;
    wait.type = 2;
    wait.start = kStart + 10;
    wait.end = kStart + 20;
    wait.context = 1;
    wait.stream = 9;
    wait.event = 5;
    wait.event_sync = 102;
    test::emit(state, wait);
  }
};

TEST_F(CuptiFactsTest, ByDefaultOnlyFactsAreAsked) {
  begin();
  EXPECT_THAT(state.kinds, AllOf(Contains(cupti::Kind::kContext), Contains(cupti::Kind::kStream)));
  for (const cupti::Kind kind : {cupti::Kind::kCudaEvent, cupti::Kind::kMemory, cupti::Kind::kMemoryPool})
    EXPECT_THAT(state.kinds, Not(Contains(kind)));
}

TEST_F(CuptiFactsTest, AStreamsWaitFindsTheRecordingThatItWaitedFor) {
  begin(with(&TraceOptions::sync));
  EXPECT_TRUE(state.leaves_out_queries);
  record_and_wait();
  flush();
  EXPECT_THAT(rows("SELECT e.correlationId, e.streamId, s.streamId, e.deviceId, coalesce(e.timestamp, 'none') "
                   "FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e USING "
                   "(eventSyncId) WHERE s.syncType = 2"),
              ElementsAre("12", "7", "9", "2", "none"));
}

// Its records end before the fields that join them.
TEST_F(CuptiFactsTest, AnOlderCuptiTellsTheEventOnly) {
  state.version = 24;
  begin(with(&TraceOptions::sync));
  record_and_wait();
  flush();
  EXPECT_THAT(rows("SELECT eventId, deviceId, coalesce(eventSyncId, 'none') FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT"),
              ElementsAre("5", "0", "none", "5", "0", "none"));
  EXPECT_EQ(row("SELECT coalesce(eventSyncId, 'none') FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), "none");
}

TEST_F(CuptiFactsTest, AllocationsAndReleasesWithTheirPools) {
  begin(with(&TraceOptions::memory));
  cupti::Memory memory{};
  memory.kind = cupti::Kind::kMemory;
  memory.operation = 1;
  memory.memory_kind = 3;  // CUPTI's device
  memory.correlation = 4;
  memory.address = 0x7F00'0000'0000;
  memory.bytes = 1 << 20;
  memory.time = kStart + 10;
  memory.device = 1;
  memory.context = 3;
  memory.stream = 0xFFFFFFFF;
  test::emit(state, memory);
  memory.operation = 2;
  memory.time = kStart + 20;
  memory.is_async = 1;
  memory.stream = 7;
  memory.pool = {cupti::kOwnPool, 0, 0x1000, 64, 4096, 512};
  test::emit(state, memory);
  memory.name = "weights";
  memory.time = kStart + 30;
  memory.pool = {cupti::kImportedPool, 0, 0x2000, 64, 4712, 512};
  test::emit(state, memory);
  flush();
  EXPECT_THAT(rows("SELECT start, deviceId, contextId, address, bytes, memKind, memoryOperationType, correlationId, "
                   "coalesce(streamId, 'none'), coalesce(localMemoryPoolAddress, 'none'), coalesce(name, 'none') "
                   "FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE start = 10"),
              ElementsAre("10", "1", "3", "139637976727552", "1048576", "2", "0", "4", "none", "none", "none"));
  EXPECT_THAT(rows("SELECT memoryOperationType, streamId, localMemoryPoolAddress, localMemoryPoolReleaseThreshold, "
                   "localMemoryPoolSize, localMemoryPoolUtilizedSize, coalesce(importedMemoryPoolAddress, 'none') "
                   "FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE start = 20"),
              ElementsAre("1", "7", "4096", "64", "4096", "512", "none"));
  EXPECT_THAT(rows("SELECT name, importedMemoryPoolAddress, importedMemoryPoolProcessId, coalesce(localMemoryPoolSize, "
                   "'none') FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE start = 30"),
              ElementsAre("weights", "8192", "4712", "none"));
}

TEST_F(CuptiFactsTest, PoolsAreMadeTrimmedAndDestroyed) {
  begin(with(&TraceOptions::memory));
  cupti::MemoryPool pool{};
  pool.kind = cupti::Kind::kMemoryPool;
  pool.type = cupti::kOwnPool;
  pool.address = 0x1000;
  pool.size_or_process = 4096;
  pool.min_bytes_to_keep = 77;
  for (const std::uint32_t operation : {1U, 3U, 2U}) {
    pool.operation = operation;
    pool.time = kStart + 10 + operation;
    test::emit(state, pool);
  }
  flush();
  EXPECT_THAT(
      rows("SELECT start, operationType, poolType, coalesce(minBytesToKeep, 'none'), localMemoryPoolSize FROM "
           "CUDA_GPU_MEMORY_POOL_EVENTS ORDER BY operationType"),
      ElementsAre("11", "0", "0", "none", "4096", "12", "1", "0", "none", "4096", "13", "2", "0", "77", "4096"));
}

TEST_F(CuptiFactsTest, LostEventsAndAllocationsAreCountedByKind) {
  begin();
  cupti::Memory memory{};
  memory.kind = cupti::Kind::kMemory;
  test::emit(state, memory);
  cupti::CudaEvent event{};
  event.kind = cupti::Kind::kCudaEvent;
  test::emit(state, event);
  source.before_flush(sink);
  source.lost("the disk is full");
  EXPECT_THAT(drops(), ElementsAre("1 CUDA event: the disk is full", "1 memory allocation: the disk is full"));
}

TEST_F(CuptiFactsTest, ContextsAndStreamsAreInTheFileOnce) {
  begin();
  cupti::Context context{};
  context.kind = cupti::Kind::kContext;
  context.context = 1;
  context.device = 2;
  context.null_stream = 7;
  cupti::Stream stream{};
  stream.kind = cupti::Kind::kStream;
  stream.context = 1;
  stream.priority = static_cast<std::uint32_t>(-5);
  stream.flag = 2;
  for (const std::uint32_t number : {13U, 14U, 13U}) {
    test::emit(state, context);
    stream.stream = number;
    test::emit(state, stream);
  }
  flush();
  EXPECT_THAT(rows("SELECT nullStreamId, processId, deviceId, contextId FROM TARGET_INFO_CUDA_CONTEXT_INFO"),
              ElementsAre("7", std::to_string(kPid), "2", "1"));
  EXPECT_THAT(rows("SELECT streamId, contextId, priority, flag FROM TARGET_INFO_CUDA_STREAM ORDER BY 1"),
              ElementsAre("13", "1", "-5", "2", "14", "1", "-5", "2"));
  EXPECT_THAT(drops(), IsEmpty());
}

TEST_F(CuptiFactsTest, AProgramThatMakesStreamsForEverCostsBoundedMemory) {
  begin();
  cupti::Stream stream{};
  stream.kind = cupti::Kind::kStream;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    stream.stream = i;
    if (!test::emit(state, stream)) {
      poll();
      ASSERT_TRUE(test::emit(state, stream));
    }
  }
  flush();
  EXPECT_EQ(row("SELECT count(*) FROM TARGET_INFO_CUDA_STREAM"), "4096");
  EXPECT_THAT(drops(), ElementsAre(HasSubstr("904 facts of a CUDA stream: those of the first 4096")));
}

}  // namespace
}  // namespace swinscope
