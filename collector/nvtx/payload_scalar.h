// Single values of predefined NVTX payload types as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace swinscope {

// `data` holds as many bytes as predefined_layout(type) says. Integers and floating-point numbers become JSON numbers
// (infinities and NaN: null), characters strings, addresses hexadecimal strings, 128-bit numbers decimal strings.
void append_payload_scalar(std::string& json, std::uint64_t type, const std::byte* data);

}  // namespace swinscope
