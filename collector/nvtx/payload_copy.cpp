#include "collector/nvtx/payload_copy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <nvtx3/nvToolsExtPayload.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector/segment/nvtx_event.h"

namespace swinscope {
namespace {

constexpr std::size_t kUnknownSize = ~std::size_t{0};

// Reads memory of this process that may not be there. Returns the bytes that could be read.
std::size_t read_own_memory(std::uint64_t address, std::byte* to, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  // A transfer is all or nothing for each vector, so cut at the pages.
  std::array<iovec, kPage / 1024> remote{};
  std::size_t vectors = 0;
  for (std::size_t done = 0; done < bytes && vectors < remote.size(); ++vectors) {
    const std::size_t to_page_end = kPage - (address + done) % kPage;
    const std::size_t size = std::min(to_page_end, bytes - done);
    remote[vectors] = {reinterpret_cast<void*>(address + done), size};  // NOLINT(performance-no-int-to-ptr)
    done += size;
  }
  iovec local{to, bytes};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, remote.data(), vectors, 0);
  if (got >= 0) return static_cast<std::size_t>(got);
  if (errno != EPERM && errno != ENOSYS) return 0;
  // Forbidden in this sandbox: trust the program, which also trusts the pointer of every message.
  const std::size_t page_rest = std::min(bytes, kPage - address % kPage);
  std::memcpy(to, reinterpret_cast<const void*>(address), page_rest);  // NOLINT(performance-no-int-to-ptr)
  return page_rest;
}

// Bytes up to and without the first zero element.
std::size_t bytes_before_zero(const std::byte* data, std::size_t bytes, std::size_t unit) {
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  std::size_t i = 0;
  while (i + unit <= bytes && !std::all_of(data + i, data + i + unit, is_zero))
    i += unit;
  return i;
}

// The size that a program left for the tool to find out, or kUnknownSize.
std::size_t find_size(const PayloadType* type, const nvtxPayloadData_t& payload) {
  if (string_unit(payload.schemaId) == 1) return std::strlen(static_cast<const char*>(payload.payload)) + 1;
  if (const std::size_t size = predefined_layout(payload.schemaId).size; size != 0) return size;
  return type != nullptr && type->size != 0 ? type->size : kUnknownSize;
}

}  // namespace

PayloadCopy::PayloadCopy(const PayloadTypeTable& types, std::uint32_t domain, const nvtxPayloadData_t* payloads,
                         std::size_t count) {
  if (payloads == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    const nvtxPayloadData_t& payload = payloads[i];
    if (payload.payload == nullptr) continue;
    const PayloadType* type = types.find(domain, payload.schemaId);
    const std::size_t size = payload.size == kUnknownSize ? find_size(type, payload) : payload.size;
    if (size == kUnknownSize) {
      incomplete_ = true;
      continue;
    }
    add(payload.schemaId, reinterpret_cast<std::uintptr_t>(payload.payload), payload.payload, size);
    if (type != nullptr) follow(*type, payload.payload, size);
  }
}

void PayloadCopy::add(std::uint64_t type, std::uint64_t address, const void* source, std::size_t size) {
  const std::size_t bytes = sizeof(BlobHead) + align8(size);
  if (count_ == items_.size() || size > kMaxBytes || bytes_ + bytes > kMaxBytes) {
    incomplete_ = true;
    return;
  }
  items_[count_++] = {type, address, source, size};
  bytes_ += bytes;
}

void PayloadCopy::follow(const PayloadType& schema, const void* payload, std::size_t size) {
  for (const DeepCopy& what : schema.deep_copies) {
    std::uint64_t pointer = 0;
    // Programs register offsets beyond what they then give.
    if (what.offset > size || size - what.offset < sizeof(pointer)) {
      incomplete_ = true;
      continue;
    }
    std::memcpy(&pointer, static_cast<const std::byte*>(payload) + what.offset, sizeof(pointer));
    if (pointer != 0) copy_behind(pointer, what);
  }
}

void PayloadCopy::copy_behind(std::uint64_t pointer, const DeepCopy& what) {
  const std::size_t room = scratch_.size() - scratch_used_;
  const bool fits = what.count <= room / what.unit;
  const std::size_t wanted = what.count == 0 || !fits ? room : what.count * what.unit;
  std::byte* to = scratch_.data() + scratch_used_;
  std::size_t got = read_own_memory(pointer, to, wanted);
  if (what.count == 0) got = std::min(got, bytes_before_zero(to, got, what.unit) + what.unit);
  if (what.count != 0 && (!fits || got < wanted)) incomplete_ = true;
  if (got == 0) return;
  scratch_used_ += got;
  add(kCopiedMemory, pointer, to, got);
}

void PayloadCopy::write(std::byte* to) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const Item& item = items_[i];
    const BlobHead head{item.type, item.address, item.size};
    std::memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    std::memcpy(to, item.source, item.size);
    to += align8(item.size);
  }
}

}  // namespace swinscope
