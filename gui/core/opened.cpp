#include "gui/core/opened.h"

#include "analyzer/report/documents.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

constexpr std::size_t kTopKernels = 50;

}  // namespace

AnalyzedRun analyze_run(const OpenedRun& opened, const Selection& selection) {
  AnalyzedRun analyzed;
  try {
    const std::shared_ptr<const RunFacts> run = opened.shared->of(opened.trace, selection);
    analyzed.figures = key_figures(*run);
    analyzed.document = analyze_document(*run, {.top = kTopKernels, .thesis = true, .verdict_facts = true});
    analyzed.document.warnings = opened.trace->warnings;
    analyzed.what = what_was_run(*opened.trace, opened.trace->path, run->scope.title());
    analyzed.quality = data_quality(*run);
  } catch (const Error& error) {
    analyzed.document.headline = {error.what()};
  }
  analyzed.document.run = opened.trace->path;
  return analyzed;
}

bool is_more_of(const RunPointer& before, const RunPointer& now) {
  return before != nullptr && now != nullptr && before->path == now->path && before->trace == nullptr;
}

}  // namespace swinscope::gui
