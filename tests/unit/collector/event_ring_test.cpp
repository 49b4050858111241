#include "collector/event_ring.h"

#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

constexpr std::size_t kCapacity = 1024;

struct Ring {
  std::vector<std::byte> memory = std::vector<std::byte>(kCapacity);
  EventRing ring{memory.data(), kCapacity};

  bool put(std::uint32_t bytes, std::uint32_t value, std::size_t keep_free = 0) {
    std::byte* to = ring.reserve(bytes, keep_free);
    if (to == nullptr) return false;
    std::memset(to, static_cast<int>(value & 0xFFU), bytes);
    std::memcpy(to, &bytes, sizeof(bytes));
    std::memcpy(to + sizeof(bytes), &value, sizeof(value));
    ring.commit();
    return true;
  }
  std::vector<std::uint32_t> take(std::size_t max_bytes = kCapacity) {
    std::vector<std::uint32_t> values;
    ring.drain(max_bytes, [&](const std::byte* record) {
      std::uint32_t bytes = 0;
      std::uint32_t value = 0;
      std::memcpy(&bytes, record, sizeof(bytes));
      std::memcpy(&value, record + sizeof(bytes), sizeof(value));
      for (std::uint32_t i = 8; i < bytes; ++i)
        EXPECT_EQ(std::to_integer<std::uint32_t>(record[i]), value & 0xFFU);
      values.push_back(value);
    });
    return values;
  }
};

TEST(EventRing, GivesRecordsBackInOrder) {
  Ring r;
  for (std::uint32_t i = 0; i < 5; ++i)
    ASSERT_TRUE(r.put(20 + 30 * i, i));
  EXPECT_EQ(r.take(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(r.take().empty());
}

TEST(EventRing, RecordsStayContiguousAcrossTheEnd) {
  Ring r;
  std::uint32_t next_out = 0;
  // Sizes that do not divide the capacity, so that the end is met at many distances.
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(r.put(8 + (i * 37) % 300, i)) << i;
    if (i % 2 == 0) continue;
    for (const std::uint32_t value : r.take())
      EXPECT_EQ(value, next_out++);
  }
  EXPECT_EQ(next_out, 1000U);
}

TEST(EventRing, RefusesWhatHasNoRoomAndTakesItLater) {
  Ring r;
  std::uint32_t count = 0;
  while (r.put(32, count))
    ++count;
  EXPECT_EQ(count, kCapacity / 32);
  EXPECT_FALSE(r.put(32, 99));
  EXPECT_EQ(r.take(64).size(), 2U);
  EXPECT_TRUE(r.put(32, 99));
  EXPECT_TRUE(r.put(32, 99));
  EXPECT_FALSE(r.put(32, 99));
}

TEST(EventRing, RoomKeptFreeIsFoundBySmallRecordsWhereverTheyFall) {
  // Whatever came before, a granule that was kept free must be there.
  for (std::uint32_t shift = 0; shift < kCapacity; shift += 32) {
    Ring r;
    for (std::uint32_t i = 0; i < shift / 32; ++i)
      r.put(32, 0);
    r.take();
    std::size_t kept = 0;
    while (r.put(100, 1, kept + 32))
      kept += 32;
    ASSERT_GT(kept, 0U);
    for (; kept > 0; kept -= 32)
      EXPECT_TRUE(r.put(32, 2, kept - 32)) << shift;
  }
}

TEST(EventRing, ARecordThatThrowsIsConsumed) {
  Ring r;
  r.put(32, 1);
  r.put(32, 2);
  EXPECT_THROW(r.ring.drain(kCapacity, [](const std::byte*) { throw 1; }), int);
  EXPECT_EQ(r.take(), (std::vector<std::uint32_t>{2}));
}

TEST(EventRing, ToldHalfFull) {
  Ring r;
  for (std::uint32_t i = 0; i < 16; ++i)
    r.put(32, i);
  EXPECT_FALSE(r.ring.is_half_full());
  r.put(32, 16);
  EXPECT_TRUE(r.ring.is_half_full());
  r.take();
  EXPECT_FALSE(r.ring.is_half_full());
}

TEST(EventRing, OneThreadWritesWhileAnotherReads) {
  Ring r;
  constexpr std::uint32_t kRecords = 50'000;
  std::thread producer([&] {
    for (std::uint32_t i = 0; i < kRecords;) {
      if (r.put(8 + (i * 13) % 120, i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint32_t next = 0;
  std::uint32_t wrong = 0;
  while (next < kRecords) {
    const std::vector<std::uint32_t> values = r.take();
    for (const std::uint32_t value : values)
      wrong += value == next++ ? 0U : 1U;
    if (values.empty()) std::this_thread::yield();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_TRUE(r.take().empty());
}

}  // namespace
}  // namespace swinscope
