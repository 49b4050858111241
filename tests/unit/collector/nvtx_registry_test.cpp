#include "collector/nvtx_registry.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExtPayload.h>

namespace swinscope {
namespace {

using ::testing::ElementsAre;

TEST(NvtxRegistry, EqualNamesAreOneDomain) {
  NvtxRegistry registry;
  EXPECT_EQ(registry.add_domain("NCCL"), 1U);
  EXPECT_EQ(registry.add_domain("torch"), 2U);
  EXPECT_EQ(registry.add_domain("NCCL"), 1U);
  EXPECT_EQ(registry.domain_count(), 3U);
  EXPECT_THAT(registry.domains_from(0), ElementsAre("", "NCCL", "torch"));
  EXPECT_THAT(registry.domains_from(2), ElementsAre("torch"));
}

TEST(NvtxRegistry, BeyondTheLimitDomainsShareTheLast) {
  NvtxRegistry registry;
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 1000; ++i)
    ids.insert(registry.add_domain("d" + std::to_string(i)));
  EXPECT_EQ(ids.size(), NvtxRegistry::kMaxDomains - 1);
  EXPECT_EQ(*ids.rbegin(), NvtxRegistry::kMaxDomains - 1);
  EXPECT_EQ(registry.domains_from(NvtxRegistry::kMaxDomains - 1).at(0), NvtxRegistry::kOverflowDomain);
  EXPECT_EQ(registry.add_domain("d0"), 1U);  // a known one is still found
}

TEST(NvtxRegistry, StringsHaveIndicesFromOne) {
  NvtxRegistry registry;
  EXPECT_EQ(registry.add_string("a"), 1U);
  EXPECT_EQ(registry.add_string(""), 2U);
  EXPECT_EQ(registry.add_string("a"), 1U);
  EXPECT_EQ(registry.string_text(1), "a");
  EXPECT_EQ(registry.string_text(2), "");
  EXPECT_EQ(registry.string_text(99), "");
  EXPECT_EQ(registry.string_text(registry.add_string("\xFF")), "\uFFFD");
}

TEST(NvtxRegistry, CategoriesAreRepeatedOnlyWhenTheyChange) {
  NvtxRegistry registry;
  registry.name_category(1, 5, "copy");
  registry.name_category(1, 5, "copy");
  registry.name_category(2, 5, "copy");
  registry.name_category(1, 5, "move");
  EXPECT_EQ(registry.categories_from(0).size(), 3U);
  EXPECT_EQ(registry.categories_from(2).at(0).name, "move");
  EXPECT_TRUE(registry.categories_from(3).empty());
}

TEST(NvtxRegistry, TheLastNameOfAThreadCounts) {
  NvtxRegistry registry;
  registry.name_thread(7, "old");
  registry.name_thread(7, "new");
  EXPECT_EQ(registry.thread_names().at(7), "new");
}

TEST(NvtxRegistry, LookingUpWhileOthersRegister) {
  NvtxRegistry registry;
  nvtxPayloadSchemaEntry_t entry{};
  entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
  entry.name = "x";
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = &entry;
  attributes.numEntries = 1;
  constexpr int kTypes = 2000;
  std::atomic<std::uint64_t> newest = registry.add_schema(0, attributes);
  const std::uint64_t last = newest.load() + kTypes;
  std::thread registrar([&] {
    for (int i = 0; i < kTypes; ++i) {
      newest.store(registry.add_schema(0, attributes), std::memory_order_release);
      registry.add_domain("d" + std::to_string(i % 20));
      registry.add_string(std::to_string(i));
    }
  });
  int wrong = 0;
  while (newest.load(std::memory_order_acquire) < last) {
    const std::uint64_t id = newest.load(std::memory_order_acquire);
    const PayloadType* type = registry.types().find(0, id);
    const bool is_right = type != nullptr && type->id == id && type->entries.at(0).name == "x";
    wrong += is_right && registry.types().find(1, id) == nullptr ? 0 : 1;
    std::this_thread::yield();
  }
  registrar.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace swinscope
