// Copying the extended payload of an NVTX event inside the callback: no allocation, no lock, no fault on a bad pointer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/nvtx/payload_types.h"

struct nvtxPayloadData_v1;

namespace swinscope {

// What of an event is to be copied; made on the stack.
class PayloadCopy {
 public:
  // Looks at the payloads; pointed-to memory that a schema wants copied is read now.
  PayloadCopy(const PayloadTypeTable& types, std::uint32_t domain, const nvtxPayloadData_v1* payloads,
              std::size_t count);

  std::uint16_t blobs() const { return static_cast<std::uint16_t>(count_); }
  // In the ring, blob heads included.
  std::size_t bytes() const { return bytes_; }
  // Something had no room or its size could not be told.
  bool is_incomplete() const { return incomplete_; }

  void write(std::byte* to) const;

 private:
  static constexpr std::size_t kMaxBlobs = 32;
  static constexpr std::size_t kMaxBytes = std::size_t{48} << 10U;
  static constexpr std::size_t kScratch = 4096;  // for pointed-to memory

  struct Item {
    std::uint64_t type;
    std::uint64_t address;
    const void* source;
    std::size_t size;
  };

  void add(std::uint64_t type, std::uint64_t address, const void* source, std::size_t size);
  void follow(const PayloadType& schema, const void* payload, std::size_t size);
  void copy_behind(std::uint64_t pointer, const DeepCopy& what);

  std::array<Item, kMaxBlobs> items_;
  std::array<std::byte, kScratch> scratch_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t scratch_used_ = 0;
  bool incomplete_ = false;
};

}  // namespace swinscope
