// What `analyze` and `advise` answer about a run, with what programs that read it may rely on: documents that the
// command line and agents get alike.
#pragma once

#include "advisor/advice.h"
#include "analyzer/report/documents.h"

namespace swinscope {

// What is said of a run: the verdict, the change to make next where that is quick to know, tables. With
// `options.verdict_facts` for programs: tables have the advisor's columns, and the verdict stands in facts, too.
// Without `with_advice` nothing is replayed: there is no such change, and no such columns.
Document analysis_of(const RunFacts& run, const AnalyzeDocumentOptions& options, bool with_advice = true);

// The opportunities. The evidence is the work that the first one is about.
Document advice_of(const RunFacts& run, const Advisor& advisor, const Advice& advice);

}  // namespace swinscope
