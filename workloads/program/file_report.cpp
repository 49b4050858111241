#include "workloads/program/file_report.h"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/say.h"

namespace swinscope {

void warn_of_skipped(std::size_t done, const std::vector<SkippedPath>& skipped, nlohmann::ordered_json& document) {
  if (done == 0 && !interrupted()) {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("none of {} files can be read", skipped.size()),
                        fmt::format("{}: {}", skipped.front().path.string(), skipped.front().reason), {});
  }
  for (const SkippedPath& one : skipped) {
    const std::string warning = fmt::format("{}: skipped: {}", one.path.string(), one.reason);
    document["warnings"].push_back(warning);
    say("warning: {}\n", warning);
  }
}

nlohmann::ordered_json describe_skipped(const std::vector<SkippedPath>& skipped) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SkippedPath& one : skipped)
    rows.push_back({{"path", one.path.string()}, {"reason", one.reason}});
  return rows;
}

void print_document(const nlohmann::ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int status_of_files(const std::vector<SkippedPath>& skipped) {
  if (interrupted()) return kInterruptedStatus;
  return skipped.empty() ? 0 : static_cast<int>(WorkloadErrorKind::kInput);
}

}  // namespace swinscope
