// What a PyTorch trace says beside its events: rank, number of ranks, GPUs, versions, the time that its times count
// from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/importers/json_splitter.h"
#include "store/records.h"

namespace swinscope {

struct KinetoFacts {
  RunInfo run;                      // rank, world_size, utc_epoch_ns, gpus, environment
  std::optional<RunInfo> own;       // of an export of ours: everything (kineto_own.h)
  bool is_pytorch = false;          // it has facts that only Kineto writes
  std::vector<std::string> unread;  // keys that are there with a value that is no JSON
  std::int64_t repeated_gpus = 0;   // with an id that an earlier, different one has
};

// Says in the run's facts what stated its rank, in place of what was there.
void state_rank(RunInfo& run, std::string_view by);

// Text that is no JSON as a whole (PyTorch writes names and log lines unescaped) still gives the facts that are.
KinetoFacts read_kineto_facts(const JsonDocument& document);

}  // namespace swinscope
