// Reports with what the advisor says of a run: its columns of kernels and layers, its section of opportunities, and the
// next step in the verdict.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace swinscope {

// report_part() of the run; where advice is quick (advisor_if_quick), with it. Throws as report_part does.
ReportPart advised_report_part(const Trace& trace, const std::string& path, const Selection& selection);
// report_parts() of the experiment, with what replays say of its losses, and the advice on the recording that is one of
// them.
std::vector<ReportPart> advised_report_parts(const Experiment& experiment);

}  // namespace swinscope
