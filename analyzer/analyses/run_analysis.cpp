#include "analyzer/analyses/run_analysis.h"

namespace swinscope {

RunAnalysis::RunAnalysis(const Trace& of, const Selection& selection)
    : trace(of),
      scope(of, selection),
      devices(time_breakdown(of, scope)),
      host(host_phases(of, scope)),
      kernels(kernel_table(of, scope, devices)),
      verdict(judge(of, scope, devices, kernels, host)) {}

}  // namespace swinscope
