// The intervals of loss_intervals.h as columns of a scaling experiment's table of why steps take longer.
#pragma once

#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/table/render.h"

namespace swinscope {

// Into the table "scaling_loss" of experiment_document(), whose rows these are. Opens the traced runs.
// Points whose traces are large or cannot be replayed get none, and a note says why.
void add_loss_columns(const Experiment& experiment, const std::vector<ScalingRow>& rows, OpenedTraces& traces,
                      Document& document);

}  // namespace swinscope
