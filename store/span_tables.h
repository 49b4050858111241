// The tables whose rows a timeline is made of: what the reader reads where only a timeline is wanted.
#pragma once

#include <span>

namespace swinscope {

// Names, each there once; NVTX ranges are one table, with a payload or without.
std::span<const char* const> span_tables();

}  // namespace swinscope
