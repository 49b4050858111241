// What goes when a file that keeps the newest records has reached its size.
#include "store/oldest_records.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "store/tables.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

NvtxRecord range(std::int64_t start_ns, std::int64_t end_ns, NvtxType type) {
  NvtxRecord record;
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  record.type = type;
  return record;
}

KernelRecord kernel(std::int64_t start_ns, std::int64_t end_ns) {
  KernelRecord record;
  record.start_ns = start_ns;
  record.end_ns = end_ns;
  return record;
}

TEST(OldestRecords, EventsThatEndedInTheOlderHalfGo) {
  test::TempFolder folder;
  const auto path = folder / "trace.db";
  TraceWriter writer(path, WriteMode::kLive);
  // The longest table: ten ranges that end at 110, 120 … 200, and three rows without an end.
  for (int i = 1; i <= 10; ++i)
    writer.add(range(90 + 10 * i, 100 + 10 * i, NvtxType::kPushPop));
  writer.add(range(120, kOpenEnd, NvtxType::kDomain));
  writer.add(range(130, kOpenEnd, NvtxType::kMark));
  writer.add_open(range(105, kOpenEnd, NvtxType::kPushPop));
  writer.add(kernel(100, 155));
  writer.add(kernel(100, 160));  // ends in the part that is whole
  writer.flush();
  // 13 rows of NVTX; the one in the middle, the seventh, ended at 170.
  EXPECT_THAT(writer.make_room(), ElementsAre(DropInfo{"NVTX range or mark", 7, "older than what --max-size keeps"},
                                              DropInfo{"kernel", 2, "older than what --max-size keeps"}));
  writer.flush();
  writer.finish();
  test::Sqlite db(path);
  EXPECT_THAT(db.values("SELECT start FROM NVTX_EVENTS ORDER BY start"),
              ElementsAre("105", "120", "160", "170", "180", "190"));
  EXPECT_THAT(db.values("SELECT startTime FROM ANALYSIS_DETAILS"), ElementsAre("170"));
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
}

template <typename Visit, std::size_t... kKinds>
void for_each_kind(Visit visit, std::index_sequence<kKinds...> /*all*/) {
  (visit.template operator()<RecordOfKind<kKinds>>(), ...);
}

// A new kind is an event, or has its place among those that stay.
TEST(OldestRecords, OfEachKindItIsKnownWhetherItStays) {
  const std::set<std::string> stay = {
      "CUDA_GRAPH_NODE_EVENTS",      "NVTX_PAYLOAD_SCHEMAS", "NVTX_PAYLOAD_SCHEMA_ENTRIES", "SWINSCOPE_COLLECTIVE",
      "SWINSCOPE_NCCL_COMMUNICATOR", "SWINSCOPE_PROCESS",    "TARGET_INFO_GPU_METRICS"};
  test::TempFolder folder;
  const auto path = folder / "trace.db";
  TraceWriter writer(path, WriteMode::kLive);
  const auto add_an_old_one = [&]<typename Record>() {
    Record record;
    if constexpr (requires { record.start_ns; }) record.start_ns = 10;
    if constexpr (requires { record.end_ns; }) record.end_ns = 20;
    if constexpr (requires { record.ended_ns; }) record.ended_ns = 20;
    if constexpr (requires { record.timestamp_ns; }) record.timestamp_ns = 10;
    if constexpr (requires { record.time_ns; }) record.time_ns = 10;
    writer.add(record);
  };
  constexpr auto kAll = std::make_index_sequence<kRecordKinds>();
  for_each_kind(add_an_old_one, kAll);
  for (int i = 0; i < 100; ++i)
    writer.add(range(1'000 + i, 1'001 + i, NvtxType::kPushPop));
  writer.flush();
  writer.make_room();
  writer.flush();
  writer.finish();
  test::Sqlite db(path);
  const auto expect_it_gone_or_kept = [&]<typename Record>() {
    const std::string table = tables::kTable<Record>.name;
    const std::string old = table == "NVTX_EVENTS" ? " WHERE start < 1000" : "";
    EXPECT_EQ(db.value("SELECT count(*) > 0 FROM " + table + old), stay.contains(table) ? "1" : "0") << table;
  };
  for_each_kind(expect_it_gone_or_kept, kAll);
}

// A recording of NCCL whose times could not be put on the trace's clock would else grow for ever.
TEST(OldestRecords, OfChannelsWithoutTimesTheOlderHalfGoes) {
  test::TempFolder folder;
  const auto path = folder / "trace.db";
  TraceWriter writer(path, WriteMode::kLive);
  for (std::int32_t channel = 0; channel < 10; ++channel) {
    NcclChannelRecord record;
    record.channel = channel;
    writer.add(record);
  }
  writer.flush();
  EXPECT_THAT(writer.make_room(), ElementsAre(DropInfo{"channel of NCCL", 5, "older than what --max-size keeps"}));
  writer.flush();
  writer.finish();
  EXPECT_THAT(test::Sqlite(path).values("SELECT channel FROM SWINSCOPE_NCCL_CHANNEL"),
              ElementsAre("5", "6", "7", "8", "9"));
}

TEST(OldestRecords, AFileWithoutEventsLosesNothing) {
  test::TempFolder folder;
  TraceWriter writer(folder / "trace.db", WriteMode::kLive);
  EXPECT_THAT(writer.make_room(), ElementsAre());
  writer.finish();
}

TEST(OldestRecords, RoomIsUsedAgain) {
  test::TempFolder folder;
  TraceWriter writer(folder / "trace.db", WriteMode::kLive);
  writer.flush();
  const std::int64_t empty = writer.bytes();
  for (int i = 0; i < 20'000; ++i)
    writer.add(range(i, i + 1, NvtxType::kPushPop));
  writer.flush();
  const std::int64_t before = writer.bytes();
  writer.make_room();
  writer.flush();
  EXPECT_LT(writer.bytes() - empty, (before - empty) * 3 / 4);
  for (int i = 20'000; i < 30'000; ++i)
    writer.add(range(i, i + 1, NvtxType::kPushPop));
  writer.flush();
  EXPECT_LE(writer.bytes() - empty, (before - empty) * 21 / 20);
  writer.finish();
}

}  // namespace
}  // namespace swinscope
