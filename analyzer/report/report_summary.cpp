#include "analyzer/report/report_summary.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/scaling.h"

namespace swinscope {
namespace {

constexpr std::size_t kOpportunities = 3;
constexpr std::size_t kChangeWidth = 100;     // letters of a change that names dozens of kernels
constexpr std::string_view kNext = "next: ";  // so begins what advice_document() would do first

// What is not there is left out of a command or sentence: "…/a/b" -> "b" where the folder is "…/a".
std::string without_folder(std::string text, const std::string& folder) {
  if (folder.empty()) return text;
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

bool is_remark(const std::string& line) { return line.starts_with(' '); }

const Table* table_of(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.tables, key, &Table::key);
  return found == document.tables.end() || found->rows.empty() ? nullptr : &*found;
}

// The row of the points that the headline is about: the one with the most GPUs; in a sweep the fastest.
std::size_t shown_point(const Document& document, const Table& points) {
  const auto mode = std::ranges::find(document.facts, "mode", &Fact::key);
  if (mode == document.facts.end() || mode->value != Cell("sweep")) return points.rows.size() - 1;
  const std::size_t speedup = find_column(points, "speedup");
  const auto value = [&](const std::vector<Cell>& row) {
    const auto* number = std::get_if<double>(&row[speedup]);
    return number == nullptr ? 0.0 : *number;
  };
  return static_cast<std::size_t>(std::ranges::max_element(points.rows, {}, value) - points.rows.begin());
}

// Of the table of points; its first column says with how many GPUs or ranks.
void add_experiment_figures(const Document& document, const std::string& images, ReportSummary& summary) {
  const Table* points = table_of(document, "points");
  if (points == nullptr) return;
  const std::vector<Cell>& row = points->rows[shown_point(document, *points)];
  const auto* count = std::get_if<std::int64_t>(&row.front());
  summary.figures_title = count == nullptr ? "" : fmt::format("With {}", format_counted(*count, counted_in(*points)));
  const std::vector<std::pair<const char*, std::string>> wanted = {
      {"efficiency", "parallel efficiency"},
      {"speedup", "speedup"},
      {"step_ns", "step time"},
      {"images_per_s", "images/s"},
      {"train_time_ns", fmt::format("training time of {} images", images)},
      {"gpu_busy_percent", "GPU busy (traced run)"}};
  for (const auto& [key, title] : wanted) {
    const auto column = std::ranges::find(points->columns, key, &Column::key);
    if (column == points->columns.end()) continue;
    const Cell& value = row[static_cast<std::size_t>(column - points->columns.begin())];
    if (value != Cell()) summary.figures.push_back({key, title, value, column->unit});
  }
}

void add_run_figures(const Document& document, ReportSummary& summary) {
  for (const char* key :
       {"step_ns", "images_per_s", "gpu_busy_percent", "idle_percent", "exposed_communication_percent"}) {
    const auto fact = std::ranges::find(document.facts, key, &Fact::key);
    if (fact != document.facts.end()) summary.figures.push_back(*fact);
  }
  const auto scope = std::ranges::find(document.facts, "scope", &Fact::key);
  if (scope != document.facts.end() && !summary.figures.empty())
    summary.figures_title = fmt::format("Figures are of {}", format_cell(scope->value, Unit::kText));
}

std::string why_title(const Document& document) {
  if (is_comparison(document)) return "What differs";
  return document.schema == "scaling" ? "Why it is not better" : "What the time goes into";
}

// The largest ones, without what only a program reads.
std::optional<Table> first_opportunities(const ReportPart& part) {
  for (const ReportSection& section : part.further) {
    const auto table = std::ranges::find(section.tables, "opportunities", &Table::key);
    if (table == section.tables.end() || table->rows.empty()) continue;
    Table first{table->key, "The largest savings of a step, each made alone", {}, {}};
    first.rows.resize(std::min(table->rows.size(), kOpportunities));
    for (const char* key : {"change", "saving_ns", "least_ns", "most_ns", "share_percent", "confidence"}) {
      const std::size_t column = find_column(*table, key);
      first.columns.push_back(table->columns[column]);
      for (std::size_t i = 0; i < first.rows.size(); ++i)
        first.rows[i].push_back(table->rows[i][column]);
    }
    for (std::vector<Cell>& row : first.rows)
      row.front() = elide(format_cell(row.front(), Unit::kText), kChangeWidth);
    return first;
  }
  return std::nullopt;
}

// The parts that the first page is about: comparisons where there are any, else all.
std::vector<const ReportPart*> leading_parts(const std::vector<ReportPart>& parts) {
  std::vector<const ReportPart*> leading;
  for (const ReportPart& part : parts) {
    if (is_comparison(part.document)) leading.push_back(&part);
  }
  for (const ReportPart& part : parts) {
    if (leading.empty() || !is_comparison(leading.front()->document)) leading.push_back(&part);
  }
  return leading;
}

std::string own_name(const ReportPart& part) {
  return part.prefix.ends_with(": ") ? part.prefix.substr(0, part.prefix.size() - 2) : part.prefix;
}

Fact said_of(const ReportPart& part, std::string_view key, std::string title) {
  const auto fact = std::ranges::find(part.what.facts, key, &Fact::key);
  return {std::string(key), std::move(title), fact == part.what.facts.end() ? Cell() : fact->value};
}

std::vector<Fact> compared_things(const std::vector<ReportPart>& parts) {
  std::vector<Fact> things;
  for (const ReportPart& part : parts) {
    if (is_comparison(part.document) || part.environment.facts.empty()) continue;
    const std::string date = format_cell(said_of(part, "recorded", "").value, Unit::kText);
    things.push_back({"compared", without_folder(own_name(part), part.folder),
                      fmt::format("{}; recorded {}", part.what.subject, date)});
  }
  return things;
}

// What was run, and what is not known of it. A recording of an experiment adds its ranks and its steps.
std::vector<Fact> facts_of(const std::vector<const ReportPart*>& leading) {
  std::vector<Fact> facts = leading.front()->what.facts;
  std::vector<std::string> unknown;
  for (const ReportPart* part : leading) {
    if (part != leading.front() && part->environment.facts.empty()) {
      facts.push_back(said_of(*part, "world", own_name(*part)));
      facts.back().value = fmt::format("{}; {}", format_cell(facts.back().value, Unit::kText),
                                       format_cell(said_of(*part, "scope", "").value, Unit::kText));
    }
    std::string things = unknown_things(part->quality);
    if (!things.empty()) unknown.push_back(std::move(things));
  }
  if (!unknown.empty()) facts.push_back({"unknown", "not known", fmt::format("{}", fmt::join(unknown, ", "))});
  return facts;
}

// Whether nothing of an experiment was traced.
bool lacks_causes(const ReportPart& part) {
  return std::ranges::any_of(part.quality,
                             [](const QualityFact& one) { return one.fact.key == "causes" && !one.is_known; });
}

}  // namespace

bool is_comparison(const Document& document) { return document.schema == "compare" || document.schema == "runs"; }

SplitHeadline split_headline(const ReportPart& part) {
  SplitHeadline split;
  bool is_next = false;
  for (const std::string& line : part.document.headline) {
    if (!is_remark(line)) is_next = line.starts_with(kNext);
    std::string text = without_folder(line, part.folder);
    if (is_next) {
      split.next.push_back(is_remark(line) ? std::move(text) : text.substr(kNext.size()));
    } else {
      split.why.push_back(is_remark(line) ? std::move(text) : part.prefix + text);
    }
  }
  return split;
}

std::string report_title(const std::vector<ReportPart>& parts) {
  const ReportPart& first = parts.front();
  if (is_comparison(first.document)) {
    std::vector<std::string> names;
    for (const Fact& fact : compared_things(parts))
      names.push_back(fact.title);
    return fmt::format("Comparison of {}", fmt::join(names, ", "));
  }
  return (first.document.schema == "scaling" ? "Scaling of " : "") + first.what.subject;
}

ReportSummary summarize(const std::vector<ReportPart>& parts) {
  const std::vector<const ReportPart*> leading = leading_parts(parts);
  const ReportPart& first = *leading.front();
  ReportSummary summary;
  if (first.document.schema == "scaling") {
    const auto images = std::ranges::find(first.document.facts, "images", &Fact::key);
    add_experiment_figures(first.document, format_cell(images->value, images->unit), summary);
  } else {
    add_run_figures(first.document, summary);
  }
  summary.why_title = why_title(first.document);
  for (const ReportPart* part : leading) {
    SplitHeadline headline = split_headline(*part);
    std::ranges::move(headline.why, std::back_inserter(summary.why));
    std::ranges::move(headline.next, std::back_inserter(summary.next));
    if (!summary.opportunities) summary.opportunities = first_opportunities(*part);
  }
  if (lacks_causes(first)) {
    summary.next.emplace_back(
        "Trace the points (swinscope scale does, unless it is told --no-trace): no run tells why steps take as long as "
        "they do, nor what would make them shorter.");
  }
  SplitCharts charts = split_charts(first.document);
  summary.charts = std::move(charts.first);
  summary.waterfall = std::move(charts.waterfall);
  summary.what_was_run = is_comparison(first.document) ? compared_things(parts) : facts_of(leading);
  if (!parts.front().author.empty()) summary.what_was_run.push_back({"author", "report by", parts.front().author});
  return summary;
}

}  // namespace swinscope
