#include "collector/nvtx/nvtx_registry.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx/nvtx_names.h"
#include "collector/nvtx/payload_wire.h"
#include "tests/unit/collector/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

// What a program registers, and what its reader finds.
struct Registered {
  Segment segment = test::small_segment();
  NvtxRegistry registry{segment.view()};
  NvtxNames names{segment.view()};

  std::vector<std::string> domains() {
    names.update();
    std::vector<std::string> texts;
    for (const NvtxNames::Domain& domain : names.domains())
      texts.push_back(std::to_string(domain.number) + " " + domain.name);
    return texts;
  }
};

TEST(NvtxRegistry, EqualNamesAreOneDomain) {
  Registered r;
  NvtxRegistry& registry = r.registry;
  EXPECT_EQ(registry.add_domain("NCCL"), 1U);
  EXPECT_EQ(registry.add_domain("torch"), 2U);
  EXPECT_EQ(registry.add_domain("NCCL"), 1U);
  EXPECT_EQ(registry.add_domain(L"torch"), 2U);
  EXPECT_TRUE(registry.has_domain(0) && registry.has_domain(2));
  EXPECT_FALSE(registry.has_domain(3) || registry.has_domain(NvtxRegistry::kMaxDomains));
  EXPECT_THAT(r.domains(), ElementsAre("1 NCCL", "2 torch"));
}

TEST(NvtxRegistry, BeyondTheLimitDomainsShareTheLast) {
  Registered r;
  NvtxRegistry& registry = r.registry;
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 1000; ++i)
    ids.insert(registry.add_domain("d" + std::to_string(i)));
  EXPECT_EQ(ids.size(), NvtxRegistry::kMaxDomains - 1);
  EXPECT_EQ(*ids.rbegin(), NvtxRegistry::kMaxDomains - 1);
  EXPECT_EQ(r.domains().back(), "255 " + std::string(NvtxRegistry::kOverflowDomain));
  EXPECT_EQ(registry.add_domain("d0"), 1U);  // a known one is still found
}

TEST(NvtxRegistry, EqualStringsHaveOneId) {
  Registered r;
  const std::uint32_t a = r.registry.add_string("a");
  const std::uint32_t empty = r.registry.add_string("");
  EXPECT_NE(a, 0U);
  EXPECT_NE(empty, 0U);
  EXPECT_NE(empty, a);
  EXPECT_EQ(r.registry.add_string("a"), a);
  EXPECT_EQ(r.registry.string_text(a), "a");
  EXPECT_EQ(r.registry.string_text(a + 1), "");  // in the middle of it
  EXPECT_EQ(r.names.string_text(a), "a");
  EXPECT_EQ(r.names.string_text(empty), "");
  EXPECT_EQ(r.names.string_text(99999), "(unregistered string)");
  EXPECT_EQ(r.names.string_text(r.registry.add_string("\xFF")), "\uFFFD");
  EXPECT_EQ(r.names.string_text(r.registry.add_string(L"gr\u00F6\u00DFe")), "gr\u00F6\u00DFe");
}

TEST(NvtxRegistry, CategoriesAreRepeatedOnlyWhenTheyChange) {
  Registered r;
  r.registry.name_category(1, 5, "copy");
  r.registry.name_category(1, 5, "copy");
  r.registry.name_category(2, 5, "copy");
  r.registry.name_category(1, 5, "move");
  r.names.update();
  EXPECT_EQ(r.names.categories().size(), 3U);
  EXPECT_EQ(r.names.categories().at(2).name, "move");
}

TEST(NvtxRegistry, WhatFindsNoRoomIsCounted) {
  Registered r;
  const std::string text(1000, 'x');
  int kept = 0;
  for (int i = 0; i < 100; ++i)
    kept += r.registry.add_string(text + std::to_string(i)) != 0 ? 1 : 0;
  EXPECT_GT(kept, 50);  // of 64 KiB
  EXPECT_LT(kept, 65);
  constexpr auto kName = static_cast<std::size_t>(DropKind::kName);
  EXPECT_EQ(r.segment.header().drops[kName].load(), static_cast<std::uint64_t>(100 - kept));
}

TEST(NvtxRegistry, AForkedChildKeepsWhatItsParentRegistered) {
  Registered parent;
  const std::uint32_t domain = parent.registry.add_domain("d");
  const std::uint32_t string = parent.registry.add_string("s");
  const RegistrationLog log(parent.segment.view());
  log.append(LogKind::kString, 0, 0, 8);  // another thread's, which the child does not have
  const std::uint32_t after = parent.registry.add_string("after");
  const Segment segment = test::small_segment();
  parent.registry.move_to(segment.view());  // as in the child
  EXPECT_EQ(parent.registry.add_domain("d"), domain);
  EXPECT_EQ(parent.registry.add_string("s"), string);
  EXPECT_EQ(parent.registry.add_string("after"), after);
  NvtxNames names(segment.view());
  parent.registry.name_thread(7, "new");
  names.update();
  EXPECT_EQ(names.string_text(string), "s");
  EXPECT_EQ(names.domains().at(0).name, "d");
  EXPECT_EQ(names.thread_names().at(7), "new");  // behind what was never finished
}

TEST(NvtxRegistry, PayloadTypesReachTheReader) {
  Registered r;
  const nvtxPayloadEnum_t values[] = {{"gemm", 1, 0}, {"last", 4, 1}};
  nvtxPayloadEnumAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
  attributes.entries = values;
  attributes.numEntries = 2;
  const std::uint64_t id = r.registry.add_enum(3, attributes);
  r.names.update();
  const PayloadType* type = r.names.types().find(3, id);
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(type->is_enum);
  EXPECT_EQ(type->size, sizeof(int));
  EXPECT_EQ(type->values, (std::vector<std::pair<std::uint64_t, std::string>>{{1, "gemm"}}));
  EXPECT_EQ(type->flag_values, (std::vector<std::pair<std::uint64_t, std::string>>{{4, "last"}}));
}

TEST(NvtxRegistry, BytesThatAreNoTypeAreRefused) {
  PayloadType type;
  type.name = "work";
  type.entries.resize(3);
  std::vector<std::byte> bytes(wire_bytes(type));
  write_wire(type, bytes.data());
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(read_wire(all, false)->entries.size(), 3U);
  for (std::size_t size = 0; size < all.size(); ++size)
    EXPECT_FALSE(read_wire(all.substr(0, size), false).has_value()) << size;
}

TEST(NvtxRegistry, TheLastNameOfAThreadCounts) {
  Registered r;
  NvtxRegistry& registry = r.registry;
  registry.name_thread(7, "old");
  registry.name_thread(7, "new");
  r.names.update();
  EXPECT_EQ(r.names.thread_names().at(7), "new");
}

TEST(NvtxRegistry, LookingUpWhileOthersRegister) {
  Registered r;
  NvtxRegistry& registry = r.registry;
  nvtxPayloadSchemaEntry_t entry{};
  entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
  entry.name = "x";
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = &entry;
  attributes.numEntries = 1;
  constexpr int kTypes = 300;
  std::atomic<std::uint64_t> newest = registry.add_schema(0, attributes);
  const std::uint64_t last = newest.load() + kTypes;
  std::thread registrar([&] {
    for (int i = 0; i < kTypes; ++i) {
      newest.store(registry.add_schema(0, attributes), std::memory_order_release);
      registry.add_domain("d" + std::to_string(i % 20));
      registry.add_string(std::to_string(i % 100));
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
