#include "collector/nccl/nccl_assembler.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kStartNs = 1'000'000;

class NcclAssemblerTest : public ::testing::Test {
 protected:
  template <typename Body>
  void tell(NcclEventKind kind, std::uint64_t number, std::int64_t time_ns, const Body& body, std::size_t cut = 0) {
    std::string bytes(sizeof(EventHead) + sizeof(body), '\0');
    EventHead head;
    head.bytes = static_cast<std::uint32_t>(bytes.size() - cut);
    head.kind = EventKind::kNccl;
    head.time_ns = kStartNs + time_ns;
    head.id = number;
    head.domain = static_cast<std::uint32_t>(kind);
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), &body, sizeof(body));
    assembler_.add(*writer_, make_global_tid(1, 2), reinterpret_cast<const std::byte*>(bytes.data()));
  }
  std::vector<std::string> values(const std::string& query) {
    if (writer_) {
      assembler_.add_open(*writer_);
      writer_->finish();
      writer_.reset();
    }
    return test::Sqlite(path_).values(query);
  }

  test::TempFolder folder_;
  test::fs::path path_ = folder_ / "rank0.db";
  std::optional<TraceWriter> writer_{std::in_place, path_, WriteMode::kImport};
  NcclAssembler assembler_{make_global_pid(1), kStartNs};
};

// The lanes of two threads are read one after the other.
TEST_F(NcclAssemblerTest, AnEndMayComeBeforeItsBeginning) {
  tell(NcclEventKind::kOperationEnd, 7, 30, std::uint64_t{0});
  tell(NcclEventKind::kChannelEnd, 8, 40, std::uint64_t{5000});
  tell(NcclEventKind::kChannel, 8, 20, NcclChannel{7, 4000, 3});
  tell(NcclEventKind::kOperation, 7, 10, NcclOperation{});
  EXPECT_THAT(values("SELECT operationId || ' ' || start || ' ' || end FROM SWINSCOPE_NCCL_OPERATION"),
              ElementsAre("7 10 30"));
  EXPECT_THAT(values("SELECT operationId || ' ' || channel || ' ' || gpuStart || ' ' || gpuEnd FROM "
                     "SWINSCOPE_NCCL_CHANNEL"),
              ElementsAre("7 3 4000 5000"));
}

TEST_F(NcclAssemblerTest, WhatIsOpenAtTheEndHasNoEnd) {
  tell(NcclEventKind::kLaunch, 1, 10, NcclLaunch{4, 5});
  tell(NcclEventKind::kCommunicator, 4, 5, NcclCommunicator{0xAB, 1, 2, 1});
  EXPECT_THAT(values("SELECT start || ' ' || quote(end) || ' ' || communicatorId || ' ' || callGroupId FROM "
                     "SWINSCOPE_NCCL_LAUNCH"),
              ElementsAre("10 NULL 4 5"));
  EXPECT_THAT(values("SELECT groupName || quote(end) FROM SWINSCOPE_NCCL_COMMUNICATOR"),
              ElementsAre("0x00000000000000abNULL"));
}

TEST_F(NcclAssemblerTest, DamagedEventsAreNone) {
  tell(NcclEventKind::kOperation, 1, 10, NcclOperation{}, 1);
  tell(NcclEventKind::kChannelEnd, 2, 10, std::uint64_t{1}, 1);
  tell(static_cast<NcclEventKind>(99), 3, 10, std::uint64_t{1});
  EXPECT_THAT(values("SELECT count(*) FROM SWINSCOPE_NCCL_OPERATION"), ElementsAre("0"));
}

TEST_F(NcclAssemblerTest, EndsWithoutBeginningsAreCountedWhenThereAreTooMany) {
  for (std::uint64_t i = 1; i <= 65536 + 3; ++i)
    tell(NcclEventKind::kLaunchEnd, i, 0, std::uint64_t{0});
  RunInfo run;
  assembler_.describe(run);
  ASSERT_EQ(run.drops.size(), 1U);
  EXPECT_EQ(run.drops[0].count, 3);
}

}  // namespace
}  // namespace swinscope
