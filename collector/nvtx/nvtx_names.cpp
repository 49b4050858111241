#include "collector/nvtx/nvtx_names.h"

#include <algorithm>
#include <utility>

#include "collector/nvtx/payload_wire.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

std::size_t round_up(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

std::string NvtxNames::string_text(std::uint32_t id) const {
  const auto text = log_.text(id, LogKind::kString);
  return text ? replace_invalid_utf8(*text) : "(unregistered string)";
}

void NvtxNames::update(bool has_ended) {
  const std::size_t used =
      std::min(segment_.header().log_used.load(std::memory_order_acquire), segment_.size().log_bytes);
  while (offset_ + sizeof(LogHead) <= used) {
    const auto& head = *reinterpret_cast<const LogHead*>(segment_.log() + offset_);
    const std::uint32_t bytes = head.bytes.load(std::memory_order_acquire);
    if (bytes < sizeof(LogHead) || round_up(bytes) > used - offset_) return;
    const bool is_ready = head.is_ready.load(std::memory_order_acquire) != 0;
    if (!is_ready && !has_ended) return;
    const auto id = static_cast<std::uint32_t>(offset_ / 8) + 1;
    offset_ += round_up(bytes);
    const std::string copy(reinterpret_cast<const char*>(&head + 1), bytes - sizeof(LogHead));
    if (is_ready) take(head, id, copy);
  }
}

void NvtxNames::take(const LogHead& head, std::uint32_t id, std::string_view data) {
  switch (head.kind) {
    case LogKind::kDomain:
      // Not one that two threads registered at once.
      if (head.a < kMaxDomains && segment_.header().domains[head.a].load(std::memory_order_acquire) == id)
        domains_.push_back({head.a, replace_invalid_utf8(data)});
      break;
    case LogKind::kCategory: {
      Category named{head.a, head.b, replace_invalid_utf8(data)};
      // Each client library of a program tends to repeat the same names.
      if (std::find(categories_.begin(), categories_.end(), named) == categories_.end())
        categories_.push_back(std::move(named));
      break;
    }
    case LogKind::kThreadName:
      thread_names_[head.a] = replace_invalid_utf8(data);
      break;
    case LogKind::kSchema:
    case LogKind::kEnum:
      if (auto type = read_wire(data, head.kind == LogKind::kEnum)) {
        const std::uint32_t domain = type->domain;
        const std::uint64_t number = type->id;
        types_.add(std::move(*type));
        if (head.kind == LogKind::kSchema) schemas_.push_back(types_.find(domain, number));
      }
      break;
    case LogKind::kCommandLine:
      command_line_ = data;
      break;
    case LogKind::kVariable:
      variables_.emplace_back(data);
      break;
    default:
      break;
  }
}

}  // namespace swinscope
