#include "collector/nvtx/payload_copy.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/mman.h>

#include "collector/nvtx/nvtx_registry.h"
#include "collector/segment/nvtx_event.h"

namespace swinscope {
namespace {

struct Blob {
  BlobHead head;
  std::string bytes;
};

std::vector<Blob> blobs_of(const PayloadCopy& copy) {
  std::vector<std::byte> memory(copy.bytes());
  copy.write(memory.data());
  std::vector<Blob> blobs;
  const std::byte* at = memory.data();
  for (std::uint16_t i = 0; i < copy.blobs(); ++i) {
    Blob& blob = blobs.emplace_back();
    std::memcpy(&blob.head, at, sizeof(blob.head));
    at += sizeof(blob.head);
    blob.bytes.assign(reinterpret_cast<const char*>(at), blob.head.size);
    at += align8(blob.head.size);
  }
  EXPECT_EQ(at, memory.data() + memory.size());
  return blobs;
}

struct Note {
  std::uint64_t number = 5;
  const char* text = nullptr;
};

class PayloadCopyTest : public ::testing::Test {
 protected:
  PayloadCopyTest() {
    nvtxPayloadSchemaEntry_t entries[2] = {};
    entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
    entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
    entries[1].flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries;
    attributes.numEntries = 2;
    note_ = registry_.add_schema(0, attributes);
  }

  Segment segment_ = Segment::anonymous({64U << 10U, 4, 4});
  NvtxRegistry registry_{segment_.view()};
  std::uint64_t note_ = 0;
};

TEST_F(PayloadCopyTest, CopiesEachPayload) {
  const int first = 1;
  const double second = 2.5;
  const nvtxPayloadData_t payloads[] = {{NVTX_PAYLOAD_ENTRY_TYPE_INT, sizeof(first), &first},
                                        {NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof(second), &second}};
  const auto blobs = blobs_of(PayloadCopy(registry_.types(), 0, payloads, 2));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].head.type, std::uint64_t{NVTX_PAYLOAD_ENTRY_TYPE_INT});
  EXPECT_EQ(blobs[1].head.address, reinterpret_cast<std::uintptr_t>(&second));
  double copied = 0.0;
  ASSERT_EQ(blobs[1].bytes.size(), sizeof(copied));
  std::memcpy(&copied, blobs[1].bytes.data(), sizeof(copied));
  EXPECT_EQ(copied, second);
}

TEST_F(PayloadCopyTest, FindsOutSizesThatWereLeftOpen) {
  constexpr std::size_t kUnknown = ~std::size_t{0};
  const Note note{};
  const nvtxPayloadData_t payloads[] = {{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, kUnknown, "four"}, {note_, kUnknown, &note}};
  const auto blobs = blobs_of(PayloadCopy(registry_.types(), 0, payloads, 2));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[0].head.size, 5U);
  EXPECT_EQ(blobs[1].head.size, sizeof(Note));
  const nvtxPayloadData_t unknown = {123456, kUnknown, &note};
  const PayloadCopy copy(registry_.types(), 0, &unknown, 1);
  EXPECT_EQ(copy.blobs(), 0);
  EXPECT_TRUE(copy.is_incomplete());
}

TEST_F(PayloadCopyTest, CopiesWhatAPointerPointsTo) {
  const Note note{7, "behind"};
  const nvtxPayloadData_t payload = {note_, sizeof(note), &note};
  const auto blobs = blobs_of(PayloadCopy(registry_.types(), 0, &payload, 1));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[1].head.type, kCopiedMemory);
  EXPECT_EQ(blobs[1].head.address, reinterpret_cast<std::uintptr_t>(note.text));
  EXPECT_EQ(blobs[1].bytes, std::string("behind\0", 7));
}

TEST_F(PayloadCopyTest, APointerToNothingDoesNoHarm) {
  const std::size_t page = 4096;
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(munmap(memory + page, page), 0);
  const char edge[] = {'e', 'd', 'g', 'e'};  // no terminator before the unmapped page
  std::memcpy(memory + page - sizeof(edge), edge, sizeof(edge));
  auto* const nowhere = reinterpret_cast<char*>(std::uintptr_t{8});  // NOLINT(performance-no-int-to-ptr)
  for (const char* pointer : {memory + page, nowhere}) {
    const Note note{7, pointer};
    const nvtxPayloadData_t payload = {note_, sizeof(note), &note};
    EXPECT_EQ(PayloadCopy(registry_.types(), 0, &payload, 1).blobs(), 1);
  }
  const Note note{7, memory + page - 4};
  const nvtxPayloadData_t payload = {note_, sizeof(note), &note};
  const auto blobs = blobs_of(PayloadCopy(registry_.types(), 0, &payload, 1));
  ASSERT_EQ(blobs.size(), 2U);
  EXPECT_EQ(blobs[1].bytes, "edge");
  munmap(memory, page);
}

// The schema says 16 bytes, or has its pointer wherever it likes; what the program gives ends before.
TEST_F(PayloadCopyTest, APointerBeyondThePayloadIsLeftAlone) {
  const std::uint64_t eight = 8;
  const nvtxPayloadData_t payload = {note_, sizeof(eight), &eight};
  const PayloadCopy copy(registry_.types(), 0, &payload, 1);
  EXPECT_EQ(copy.blobs(), 1);
  EXPECT_TRUE(copy.is_incomplete());
  constexpr std::size_t kFar = ~std::size_t{0} - 4;
  for (const std::size_t offset : {std::size_t{9}, std::size_t{64}, std::size_t{1} << 40U, kFar}) {
    nvtxPayloadSchemaEntry_t entry = {};
    entry.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
    entry.offset = offset;
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = &entry;
    attributes.numEntries = 1;
    attributes.payloadStaticSize = 16;
    const std::uint64_t id = registry_.add_schema(0, attributes);
    const Note note{};
    const nvtxPayloadData_t far = {id, sizeof(note), &note};
    const PayloadCopy copied(registry_.types(), 0, &far, 1);
    EXPECT_EQ(copied.blobs(), 1) << offset;
    EXPECT_TRUE(copied.is_incomplete()) << offset;
  }
}

TEST_F(PayloadCopyTest, HugeAndManyPayloadsAreCutShort) {
  const std::vector<char> large(1 << 20);
  const nvtxPayloadData_t payload = {NVTX_TYPE_PAYLOAD_SCHEMA_RAW, large.size(), large.data()};
  const PayloadCopy copy(registry_.types(), 0, &payload, 1);
  EXPECT_EQ(copy.blobs(), 0);
  EXPECT_TRUE(copy.is_incomplete());
  const std::vector<nvtxPayloadData_t> many(100, nvtxPayloadData_t{NVTX_TYPE_PAYLOAD_SCHEMA_RAW, 8, large.data()});
  const PayloadCopy some(registry_.types(), 0, many.data(), many.size());
  EXPECT_EQ(some.blobs(), 32);
  EXPECT_TRUE(some.is_incomplete());
}

}  // namespace
}  // namespace swinscope
