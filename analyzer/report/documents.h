// What is said of a run and of an experiment: the documents that the terminal, reports and the desktop program show.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/table/render.h"

namespace swinscope {

struct AnalyzeDocumentOptions {
  std::size_t top = 10;        // kernels
  bool thesis = false;         // with the utilization of the thesis's definition
  bool verdict_facts = false;  // the verdict as facts, too, for programs that read the document
};

Document analyze_document(const RunFacts& run, const AnalyzeDocumentOptions& options);

// Tables of the registry by their keys; of those without rows a fact says so. `top`: of kernels and of gaps.
Document tables_document(const RunFacts& run, const std::vector<std::string>& keys, std::size_t top);

// What the points are called in tables and sentences.
std::vector<std::string> point_names(const Experiment& experiment, const std::vector<ScalingRow>& rows);
// One row per point, as scaling_table() measured them.
Document experiment_document(const Experiment& experiment, const std::vector<ScalingRow>& rows);
// Opens the runs and measures them; throws Error as scaling_table does.
Document experiment_document(const Experiment& experiment);

}  // namespace swinscope
