// The first page of a report, out of the documents of its parts: no figure of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace swinscope {

ReportSummary summarize(const std::vector<ReportPart>& parts);

// "Scaling of swin_large with 1, 2 GPUs (2 x NVIDIA H200)".
std::string report_title(const std::vector<ReportPart>& parts);

// Whether it compares other parts.
bool is_comparison(const Document& document);

// The charts of a document: those of the first page, and the others, which stand in their section.
struct SplitCharts {
  std::vector<ReportChart> first;
  std::optional<ReportChart> waterfall;
  std::vector<ReportChart> others;
};
SplitCharts split_charts(const Document& document);

// The lines of a part's headline, the paths of its commands without the folder of the recordings; those on what to do
// next apart.
struct SplitHeadline {
  std::vector<std::string> why;
  std::vector<std::string> next;
};
SplitHeadline split_headline(const ReportPart& part);

}  // namespace swinscope
