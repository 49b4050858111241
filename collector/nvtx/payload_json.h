// Extended NVTX payloads as JSON, by the types that the program registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/nvtx/payload_types.h"

namespace swinscope {

struct PayloadBlob {
  std::uint64_t type = 0;     // a registered or predefined type, or kCopiedMemory
  std::uint64_t address = 0;  // in the program
  const std::byte* data = nullptr;
  std::size_t size = 0;
};

// What the payloads say: the event's own attributes where entries carry them, and all else as JSON.
struct PayloadText {
  // One payload: {"$schema":name, field:value…}, or the bare value of a predefined type; several: an array of those.
  // Empty when there is nothing to show. A value that cannot be decoded (a pointer to memory that was not copied, an
  // unknown type, beyond the payload's end) is null; bytes that no schema describes are a hexadecimal string. Of what
  // would take hundreds of thousands of values (types that hold themselves several times) the beginning is there.
  std::string json;
  std::optional<std::string> message;
  std::optional<std::uint32_t> category;
  std::optional<std::uint32_t> color;
};

// `registered_string` gives the text of a registered string's handle.
PayloadText describe_payloads(const std::vector<PayloadBlob>& blobs, std::uint32_t domain,
                              const PayloadTypeTable& types,
                              const std::function<std::string(std::uint64_t)>& registered_string);

}  // namespace swinscope
