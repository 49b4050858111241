// What is said of one question about a run: `swinscope kernels`, `layers`, `roofline`, `launches`, `gaps`,
// `collectives`, `ranks`, `ranges` and `info`. Each throws Error(kFailure), which says why and what to do, where the
// run has nothing of the kind.
#pragma once

#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/analyses/ranges.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/render.h"

namespace swinscope {

Document kernels_document(const RunFacts& run, const KernelTableOptions& options, NameStyle style);

// After the layers, where it was sampled, the CPU time of threads.
Document layers_document(const RunFacts& run, const LayerOptions& options);

Document launches_document(const RunFacts& run);

Document gaps_document(const RunFacts& run, NameStyle style = NameStyle::kShort);

// Layers against the roofs of their GPU, then the roofs.
Document roofline_document(const RunFacts& run);

Document collectives_document(const RunFacts& run);

// Who waits for whom and why, then the ranks beside each other. `with_facts`: the verdict as a fact, too, for programs
// that read the document.
Document ranks_document(const RunFacts& run, bool with_facts);

Document ranges_document(const RunFacts& run, const RangeOptions& options);

// `with_environment`: with the machine, the settings and what the recorder says of itself.
Document info_document(const Trace& trace, bool with_environment);

}  // namespace swinscope
