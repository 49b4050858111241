// What the NCCL module (libswinscope_nccl.so) and the program that opens it agree on. NCCL is linked by this module
// alone, so that a program with CUDA parts runs where NCCL is not installed.
#pragma once

#include <array>
#include <cstddef>

#include "workloads/rank_transport.h"

namespace swinscope {

inline constexpr std::size_t kNcclIdBytes = 128;
using NcclId = std::array<char, kNcclIdBytes>;

struct NcclOptions {
  int rank = 0;
  int size = 1;
  int most_blocks = 0;  // multiprocessors that an operation may take; 0: as NCCL thinks best
  bool copies = false;  // for allocate(), all_to_all() and all_gather()
  NcclId id{};          // made by one rank, the same on all
};

// Whether the NCCL that this machine has offers the functions that `copies` needs.
using NcclOffersCopiesFunction = bool (*)();
// Both write a reason into `message` (cut to `capacity`, always terminated) where they fail.
// False on failure.
using MakeNcclIdFunction = bool (*)(NcclId& id, char* message, std::size_t capacity);
// Connects all ranks, each with the GPU that is current. Null on failure.
using OpenNcclFunction = DeviceTransport* (*)(const NcclOptions& options, char* message, std::size_t capacity);
inline constexpr const char* kNcclOffersCopiesSymbol = "swinscope_nccl_offers_copies";
inline constexpr const char* kMakeNcclIdSymbol = "swinscope_make_nccl_id";
inline constexpr const char* kOpenNcclSymbol = "swinscope_open_nccl";

}  // namespace swinscope
