// What agents can ask: the runs of a folder, one tool for each analysis of the registry (analyzer/report/registry.h),
// and the documents of `info`, `analyze`, `advise`, `compare`, `gate` and `query`. All of them only read, and answer
// with the document that the command prints with --format json. Only runs below the folder are opened, links followed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mcp/arguments.h"

namespace swinscope::mcp {

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  std::vector<Argument> arguments;
  std::function<std::string(const Arguments&)> call;  // throws Error
};

struct ToolLimits {
  std::size_t rows = 1000;        // of a query
  std::size_t bytes = 1U << 20U;  // of its texts
  int query_seconds = 30;         // that it may take
  std::size_t table_rows = 100;   // of each table of an analysis, where `top` says nothing
};

// Throws Error(kInput) where the folder cannot be found.
std::vector<Tool> tools_below(const std::filesystem::path& folder, const ToolLimits& limits = {});

}  // namespace swinscope::mcp
