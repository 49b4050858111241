// What the Gloo module (libswinscope_gloo.so) and the program that opens it agree on. Gloo is only a shared library, so
// that it is linked by this module alone and a machine without it still runs one rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "workloads/rank_transport.h"

namespace swinscope {

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::string folder;  // of this session, for Gloo's file store
  std::string host;    // name or address that the other ranks reach this one by
  std::chrono::milliseconds connect_timeout{};
  // Of one operation: it is not what notices a dead rank, since a slow one may compute for long.
  std::chrono::milliseconds operation_timeout{};
};

// Connects all ranks. Null on failure, with the reason in `message` (cut to `capacity`, always terminated).
using OpenGlooFunction = RankTransport* (*)(const GlooOptions& options, char* message, std::size_t capacity);
inline constexpr const char* kOpenGlooSymbol = "swinscope_open_gloo";

}  // namespace swinscope
