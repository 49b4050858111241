// What goes when a file that keeps the newest records has reached its size.
#include "store/oldest_records.h"

#include <string>

#include <gmock/gmock.h>

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

TEST(OldestRecords, AFileWithoutEventsLosesNothing) {
  test::TempFolder folder;
  TraceWriter writer(folder / "trace.db", WriteMode::kLive);
  EXPECT_THAT(writer.make_room(), ElementsAre());
  writer.finish();
}

TEST(OldestRecords, RoomIsUsedAgain) {
  test::TempFolder folder;
  TraceWriter writer(folder / "trace.db", WriteMode::kLive);
  for (int i = 0; i < 20'000; ++i)
    writer.add(range(i, i + 1, NvtxType::kPushPop));
  writer.flush();
  const std::int64_t before = writer.bytes();
  writer.make_room();
  writer.flush();
  EXPECT_LT(writer.bytes(), before * 3 / 4);
  for (int i = 20'000; i < 30'000; ++i)
    writer.add(range(i, i + 1, NvtxType::kPushPop));
  writer.flush();
  EXPECT_LE(writer.bytes(), before * 21 / 20);
  writer.finish();
}

}  // namespace
}  // namespace swinscope
