// What `analyze` says of a run, as a document; reports show the same one.
#pragma once

#include <cstddef>

#include "analyzer/render.h"
#include "analyzer/trace.h"

namespace swinscope::cli {

struct AnalyzeDocumentOptions {
  std::size_t top = 10;        // kernels
  bool thesis = false;         // with the utilization of the thesis's definition
  bool verdict_facts = false;  // the verdict as facts, too, for programs that read the document
};

Document analyze_document(const Trace& trace, const AnalyzeDocumentOptions& options);

}  // namespace swinscope::cli
