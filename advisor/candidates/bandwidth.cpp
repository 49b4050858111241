#include <fmt/format.h>

#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_slow_kernels(const Work& work) {
  constexpr double kReachable = 0.8;  // of the rate of copies, by a kernel that reduces along the way
  constexpr double kSlow = 0.5;       // below that a better one is worth writing
  constexpr std::int64_t kLongNs = 10'000;
  if (work.copy_rate() <= 0) return {};
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (const WorkItem& item : stream.items) {
      if (!is_pointwise(item.kind) || item.operation == nullptr || item.duration_ns < kLongNs) continue;
      const OperationPayload& what = *item.what;
      const double bytes = static_cast<double>(what.bytes_read) + static_cast<double>(what.bytes_written);
      if (!what.has_cost || bytes <= 0) continue;
      const double least_ns = work.bytes_ns(bytes);
      if (least_ns > kSlow * static_cast<double>(item.duration_ns)) continue;
      Change& change = found.of(std::string(item.kernel), [&] {
        Change made;
        made.title = fmt::format("Let {} move its data at the rate of copies", item.kernel);
        made.why = fmt::format("it reaches less than half of the {:.0f} GB/s that copies do ({})",
                               work.copy_rate() * 1e-9, work.copy_rate_source());
        made.assumptions = {"the operation's bytes are those of its annotation, each once",
                            "a better kernel reaches 80 % (50 to 100 %) of that rate"};
        return made;
      });
      change.evidence.push_back(item.ref);
      const double halved_ns = work.bytes_ns(bytes / 2);
      change.scaled.push_back({.op = item.ref,
                               .times = NewTimes{{2 * least_ns, least_ns / kReachable, least_ns},
                                                 {2 * halved_ns, halved_ns / kReachable, halved_ns}}});
    }
  }
  return found.take(work, "bandwidth");
}

}  // namespace swinscope
