// What a report's first page says of a recording before any figure: model, GPUs, host, command, ranks, dates; and the
// names under which people know what an environment holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/table/render.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct WhatWasRun {
  std::string subject;  // "swin_large on 2 x NVIDIA H200"; the name of the recording where no model is known
  std::vector<Fact> facts;
};

WhatWasRun what_was_run(const Trace& trace, const std::string& path, const std::string& scope_title);
// `trace`: of a run of it that knows the machine; without ranks where there is none.
WhatWasRun what_was_run(const Experiment& experiment, const Trace& trace, std::string_view counted);

// When the first event happened, in UTC; nothing where the trace does not say.
Cell recorded_at(const Trace& trace);

// "cpu.cores_allowed" -> "CPU cores allowed"; keys that nobody has named stay as they are.
std::string environment_title(std::string_view key);
// The facts of environment_facts() with those names, bytes as bytes, and without what stands there twice.
std::vector<Fact> readable_environment(const std::vector<Fact>& facts);

}  // namespace swinscope
