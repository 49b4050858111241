// A report as the files that it is made of: one, a text with figures beside it, or everything that papers and slides
// take from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"

namespace swinscope {

struct ReportFile {
  std::string name;  // from the folder of the report: "report.md", "report_figures/1-step-time.svg"
  std::string content;
};

// The name's ending, where a report can have it: .html, .md, .csv or .json. Throws Error(kUsage).
std::string report_kind(std::string_view name);

// Of a name with such an ending. An .html or .md report is of all parts, and .md has its figures in NAME_figures; .csv
// and .json are the document of the first part. There must be a part.
std::vector<ReportFile> report_files(std::vector<ReportPart> parts, const std::string& name);

// index.md, which says what is what; report.html, report.json; figures/NAME.svg with NAME.csv, the figures drawn; and
// of every table tables/KEY.csv with all rows and columns and tables/KEY.tex with what people read. A second table of a
// key is KEY-2. The same bytes for the same parts.
std::vector<ReportFile> report_bundle(std::vector<ReportPart> parts);

}  // namespace swinscope
