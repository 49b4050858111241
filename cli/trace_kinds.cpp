#include "cli/trace_kinds.h"

#include <optional>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::cli {

Option add_trace_option(Command& command, std::string& list, const std::string& of_what) {
  return command
      .option("--trace", list,
              of_what +
                  ": cuda (kernels, copies, sets, and the calls behind them), nvtx, api (every CUDA call), sync (what "
                  "waited for what, and events), memory (allocations), overhead, nccl (what NCCL "
                  "says of its operations and their channels)")
      .show_default();
}

TraceOptions trace_options_of(const std::string& list) {
  std::string unknown;
  const std::optional<TraceOptions> options = parse_trace_list(list, unknown);
  if (!options) {
    throw Error(ErrorKind::kUsage, fmt::format("--trace {}: \"{}\" is unknown", list, unknown), "",
                "give any of cuda, nvtx, api, sync, memory, overhead, nccl, separated by commas");
  }
  return *options;
}

}  // namespace swinscope::cli
