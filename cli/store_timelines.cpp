#include "cli/store_timelines.h"

#include <exception>

#include <fmt/format.h>

#include "analyzer/open.h"
#include "analyzer/timeline_open.h"

namespace swinscope::cli {

void store_timelines(const std::filesystem::path& run, bool quiet, const std::atomic<bool>* cancel) {
  const auto failed = [&](const std::filesystem::path& file, const std::exception& error) {
    if (!quiet) fmt::print(stderr, "swinscope: {}: no timeline was stored: {}\n", file.string(), error.what());
  };
  try {
    for (const std::filesystem::path& file : trace_files(run)) {
      try {
        store_timeline(file, cancel);
      } catch (const std::exception& error) {
        failed(file, error);
      }
    }
  } catch (const std::exception& error) {
    failed(run, error);
  }
}

}  // namespace swinscope::cli
