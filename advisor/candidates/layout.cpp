#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_layouts(const Work& work) {
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (const WorkItem& item : stream.items) {
      if (item.kind != OperationKind::kLayout) continue;
      Change& change = found.of(std::string(item.kernel), [&] {
        Change made;
        made.title = "Do without " + std::string(item.kernel);
        made.why =
            "it only puts elements into another order or precision, which the kernel before or behind it could do";
        made.assumptions = {
            "the kernel that writes or reads the data can address it where it lies, at no cost (half of "
            "the copy's time at worst)"};
        made.confidence = Confidence::kSpeculative;
        return made;
      });
      change.evidence.push_back(item.ref);
      change.scaled.push_back({.op = item.ref, .factor = {0.5, 0.25, 0}});
    }
  }
  return found.take(work, "layout");
}

}  // namespace swinscope
