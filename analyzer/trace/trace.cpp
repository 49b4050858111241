#include "analyzer/trace/trace.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace swinscope {

std::string_view Rank::cuda_activity() const {
  const auto fact = std::ranges::find(run.collector, kCudaActivity, &NamedValue::name);
  return fact == run.collector.end() ? std::string_view() : fact->value;
}

bool Rank::missed_cuda() const { return !cuda_activity().empty() && !cuda_activity().starts_with("recorded"); }

bool Rank::is_within_windows(std::int64_t start_ns, std::int64_t end_ns) const {
  if (run.windows.empty()) return true;
  const std::int64_t middle = start_ns + (end_ns - start_ns) / 2;
  const auto after = std::upper_bound(run.windows.begin(), run.windows.end(), middle,
                                      [](std::int64_t t, const WindowInfo& window) { return t < window.start_ns; });
  return after != run.windows.begin() && middle < std::prev(after)->end_ns;
}

std::string Rank::domain_name(std::uint32_t domain, const StringPool& strings) const {
  const auto found = std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.first == domain; });
  if (found != domains.end()) return std::string(strings.text(found->second));
  return domain == 0 ? std::string() : fmt::format("domain {}", domain);
}

bool CopyEnds::is_between_gpus() const {
  return kind == CopyKind::kPeerToPeer || (src_device >= 0 && dst_device >= 0 && src_device != dst_device);
}

bool CopyEnds::is_with_host() const {
  switch (kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kDeviceToHost:
    case CopyKind::kHostToArray:
    case CopyKind::kArrayToHost:
    case CopyKind::kUnifiedHostToDevice:
    case CopyKind::kUnifiedDeviceToHost:
      return true;
    default:
      return false;
  }
}

const CopyEnds* Rank::ends_of(EventIndex gpu_event) const {
  return gpu.kind[gpu_event] == GpuKind::kMemcpy ? &copy_ends[gpu.config[gpu_event]] : nullptr;
}

StringId Rank::mangled_name(StringId full_name) const {
  const auto found = std::lower_bound(mangled.begin(), mangled.end(), std::pair(full_name, StringId{0}));
  return found == mangled.end() || found->first != full_name ? full_name : found->second;
}

std::int64_t Trace::gpu_event_count() const {
  return std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0},
                         [](std::int64_t sum, const Rank& rank) { return sum + rank.gpu.size(); });
}

}  // namespace swinscope
