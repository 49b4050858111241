#include "cli/store_timelines.h"

#include <exception>

#include <fmt/format.h>

#include "analyzer/analyses/rank_summary.h"
#include "analyzer/importers/open.h"
#include "analyzer/timeline/timeline_open.h"

namespace swinscope::cli {

namespace {

void failed(const std::filesystem::path& file, bool quiet, const std::exception& error) {
  if (!quiet)
    fmt::print(stderr, "swinscope: {}: no timeline and summary were stored: {}\n", file.string(), error.what());
}

}  // namespace

void store_timelines(const std::vector<std::filesystem::path>& files, bool quiet, const std::atomic<bool>* cancel) {
  for (const std::filesystem::path& file : files) {
    try {
      store_timeline(file, cancel);
      store_summary(file, cancel);
    } catch (const std::exception& error) {
      failed(file, quiet, error);
    }
  }
}

void store_timelines(const std::filesystem::path& run, bool quiet, const std::atomic<bool>* cancel) {
  try {
    store_timelines(trace_files(run), quiet, cancel);
  } catch (const std::exception& error) {
    failed(run, quiet, error);
  }
}

}  // namespace swinscope::cli
