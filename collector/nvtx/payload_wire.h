// A registered payload type as bytes, in the registration log of a segment.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "collector/nvtx/payload_types.h"

namespace swinscope {

std::size_t wire_bytes(const PayloadType& type);
// `to` has wire_bytes(type).
void write_wire(const PayloadType& type, std::byte* to);
// Nothing when the bytes are no type. What to copy (deep_copies) is not in it: the program has copied.
std::optional<PayloadType> read_wire(std::string_view bytes, bool is_enum);

}  // namespace swinscope
