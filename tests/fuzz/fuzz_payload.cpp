// NVTX payloads: whatever types a program registers and whatever bytes it sends, they are copied within their bounds,
// and what the recorder writes of them is JSON of a bounded size.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx/payload_copy.h"
#include "collector/nvtx/payload_json.h"
#include "collector/nvtx/payload_types.h"
#include "collector/nvtx/payload_wire.h"
#include "collector/segment/nvtx_event.h"
#include "store/utf8.h"
#include "tests/fuzz/byte_cursor.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {
namespace {

constexpr std::uint64_t kMostTypes = 6;
// Few, so that types and payloads meet.
std::uint64_t type_id(std::uint8_t byte) { return byte < 2 * kMostTypes ? 1'000'000U + byte : byte; }

PayloadEntry entry_from(ByteCursor& bytes) {
  PayloadEntry entry;
  entry.flags = bytes.number<std::uint16_t>();
  entry.type = type_id(bytes.number<std::uint8_t>());
  const auto wide = bytes.number<std::uint8_t>();
  entry.detail = (wide & 1U) != 0 ? bytes.number<std::uint64_t>() : bytes.number<std::uint8_t>();
  entry.offset = (wide & 2U) != 0 ? bytes.number<std::uint64_t>() : bytes.number<std::uint8_t>();
  entry.name = bytes.text();
  return entry;
}

// As a program registers it.
PayloadType type_from(ByteCursor& bytes, const PayloadTypeTable& types) {
  PayloadType type;
  type.id = type_id(static_cast<std::uint8_t>(bytes.number<std::uint8_t>() % kMostTypes));
  type.name = replace_invalid_utf8(bytes.text());
  type.kind = bytes.number<std::uint8_t>() % 8;
  type.flags = bytes.number<std::uint8_t>();
  const auto size = bytes.number<std::uint16_t>();
  type.size = size;
  for (int left = bytes.number<std::uint8_t>() % 16; left > 0; --left)
    type.entries.push_back(entry_from(bytes));
  for (PayloadEntry& entry : type.entries)
    entry.name = replace_invalid_utf8(entry.name);
  lay_out(type, size != 0, bytes.number<std::uint8_t>() % 16, types);
  return type;
}

// As it comes out of the registration log, which a program that runs wild may have written into.
std::optional<PayloadType> wire_from(ByteCursor& bytes) {
  const bool is_enum = bytes.number<std::uint8_t>() % 2 != 0;
  std::optional<PayloadType> type = read_wire(bytes.take(bytes.number<std::uint16_t>()), is_enum);
  if (type) type->domain = 0;
  return type;
}

void expect_same_on_the_wire(const PayloadType& type) {
  std::vector<std::byte> wire(wire_bytes(type));
  write_wire(type, wire.data());
  const auto again = read_wire({reinterpret_cast<const char*>(wire.data()), wire.size()}, type.is_enum);
  expect(again.has_value(), "what is written can be read");
  expect(again->entries.size() == type.entries.size() && again->size == type.size, "and is the same");
}

// In memory of exactly their sizes.
struct Payloads {
  std::list<std::vector<std::byte>> memory;
  std::vector<PayloadBlob> blobs;

  void add(ByteCursor& bytes) {
    const std::uint64_t type = type_id(bytes.number<std::uint8_t>());
    const std::uint64_t address = std::uint64_t{bytes.number<std::uint8_t>()} * 16;
    const std::string_view data = bytes.take(bytes.number<std::uint8_t>());
    std::vector<std::byte>& copy = memory.emplace_back(data.size());
    if (!data.empty()) std::memcpy(copy.data(), data.data(), data.size());
    blobs.push_back({type, address, copy.data(), copy.size()});
  }
};

// Pointers of these payloads point anywhere; types of the wire have nothing behind pointers.
void copy(const PayloadTypeTable& types, const Payloads& payloads) {
  std::vector<nvtxPayloadData_t> given;
  for (const PayloadBlob& blob : payloads.blobs)
    given.push_back({blob.type, blob.size, blob.data});
  const PayloadCopy copy(types, 0, given.data(), given.size());
  std::vector<std::byte> to(copy.bytes());
  copy.write(to.data());
}

void describe(const PayloadTypeTable& types, const Payloads& payloads) {
  const PayloadText text =
      describe_payloads(payloads.blobs, 0, types, [](std::uint64_t handle) { return std::to_string(handle); });
  constexpr std::size_t kMost = std::size_t{4} << 20U;
  expect(text.json.size() < kMost, "the text of an event is bounded");
  expect(text.json.empty() || nlohmann::json::accept(text.json), "it is JSON", text.json);
  expect(!text.message || is_valid_utf8(*text.message), "messages are UTF-8");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  fuzz::ByteCursor bytes(data, size);
  PayloadTypeTable types;
  for (auto left = bytes.number<std::uint8_t>() % (2 * fuzz::kMostTypes); left > 0; --left) {
    const bool is_wire = bytes.number<std::uint8_t>() % 4 == 3;
    std::optional<PayloadType> type = is_wire ? fuzz::wire_from(bytes) : fuzz::type_from(bytes, types);
    if (!type) continue;
    fuzz::expect_same_on_the_wire(*type);
    types.add(std::move(*type));
  }
  fuzz::Payloads payloads;
  for (auto left = bytes.number<std::uint8_t>() % 8; left > 0 && !bytes.is_at_end(); --left)
    payloads.add(bytes);
  fuzz::copy(types, payloads);
  fuzz::describe(types, payloads);
  return 0;
}
