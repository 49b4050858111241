// The experiment as a document: one row per point.
#pragma once

#include "analyzer/experiment.h"
#include "analyzer/render.h"

namespace swinscope::cli {

// Opens the runs and measures them. Throws Error as scaling_table does.
Document experiment_document(const Experiment& experiment);

}  // namespace swinscope::cli
