// What runs were made with, and in what these differ: said before any of their figures are compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/table/render.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Host, GPUs, environment of the first rank, and how the GPUs reach each other; nothing of a trace without ranks.
std::vector<Fact> environment_facts(const Trace& trace);

// Whether a fact tells one platform or program from another; the rest of an environment differs from run to run.
bool tells_apart(const Fact& fact);

struct Configuration {
  std::string name;  // of its column
  std::vector<Fact> facts;
};

// A row for what differs, a column for each; no rows where nothing does.
Table differences_table(std::span<const Configuration> configurations);

}  // namespace swinscope
