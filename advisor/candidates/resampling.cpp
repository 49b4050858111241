#include <fmt/format.h>

#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_resampling(const Work& work) {
  Grouped found;
  if (work.copy_rate() <= 0) return {};
  for (const WorkStream& stream : work.streams()) {
    for (const WorkItem& item : stream.items) {
      const bool is_backward = item.kernel.find("backward") != std::string_view::npos;
      if (item.kind != OperationKind::kResample || !is_backward || item.threads == 0) continue;
      // A thread for each element of the larger tensor: it is read once, the smaller one written.
      const double element_bytes = item.full_name.find("float") != std::string_view::npos ? 4 : 2;
      const double bytes = 1.25 * element_bytes * static_cast<double>(item.threads);
      const double least_ns = work.bytes_ns(bytes);
      const double halved_ns = work.bytes_ns(bytes / 2);
      if (least_ns > 0.5 * static_cast<double>(item.duration_ns)) continue;  // nothing to gain
      Change& change = found.of(std::string(item.kernel), [&] {
        Change made;
        made.title = fmt::format("Gather instead of atomics in {}", item.kernel);
        made.why =
            "each element of the larger tensor is added to the smaller one by atomics, which wait for each other; "
            "the transposed interpolation, as a gather, writes each element of the smaller tensor once";
        made.assumptions = {
            fmt::format("a gather moves the larger tensor once and a quarter of it again, at {:.0f} GB/s ({}); "
                        "twice that time (once to six times)",
                        work.copy_rate() * 1e-9, work.copy_rate_source())};
        made.confidence = Confidence::kLikely;
        return made;
      });
      change.evidence.push_back(item.ref);
      change.scaled.push_back(
          {.op = item.ref,
           .times = NewTimes{{6 * least_ns, 2 * least_ns, least_ns}, {6 * halved_ns, 2 * halved_ns, halved_ns}}});
    }
  }
  return found.take(work, "resampling");
}

}  // namespace swinscope
