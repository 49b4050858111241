#include "mcp/tools.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/answers.h"
#include "analyzer/experiment/gate.h"
#include "analyzer/experiment/run_comparison.h"
#include "analyzer/importers/open.h"
#include "analyzer/query/query.h"
#include "analyzer/report/analysis_documents.h"
#include "analyzer/report/registry.h"
#include "mcp/deadline.h"
#include "mcp/root.h"
#include "store/error.h"

namespace swinscope::mcp {
namespace {

using Type = Argument::Type;

// What the tools share.
struct Place {
  Root root;
  ToolLimits limits;
};
using PlacePtr = std::shared_ptr<const Place>;

std::string json_of(const Document& document) { return render(document, {.format = Format::kJson}); }

std::vector<Argument> selection_arguments() {
  return {
      {"scope",
       Type::kText,
       "steps: the measured steps (default); trace: everything recorded",
       false,
       {"steps", "trace"}},
      {"steps", Type::kText, "only steps A:B, counted from 1, both included, or one step"},
      {"rank", Type::kWhole, "only this rank", false, {}, 0},
      {"device", Type::kWhole, "only this GPU", false, {}, 0},
      {"stream", Type::kWhole, "only this stream", false, {}, 0},
      {"name", Type::kText, "only kernels and copies whose full name matches this POSIX extended regular expression"},
      {"step", Type::kText, "ranges whose name matches this POSIX extended regular expression are the steps"},
      {"warmup_steps", Type::kWhole, "steps left out at the beginning", false, {}, 0}};
}

std::vector<Argument> with_selection(std::vector<Argument> arguments) {
  for (Argument& argument : selection_arguments())
    arguments.push_back(std::move(argument));
  return arguments;
}

Argument run_argument(const char* name = "run",
                      const char* description = "a run or trace, by its path below the served folder") {
  return {name, Type::kText, description, true};
}

Argument top_argument() { return {"top", Type::kWhole, "rows of each table at most", false, {}, 1}; }

std::optional<std::int32_t> small(const Arguments& arguments, const char* name) {
  const std::optional<std::int64_t> value = arguments.whole(name);
  if (value && *value > std::numeric_limits<std::int32_t>::max())
    throw WrongArgument(fmt::format("{}: there is no such {}", name, name));
  return value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
}

Selection selection_of(const Arguments& arguments) {
  Selection selection;
  selection.scope = arguments.text("scope") == "trace" ? Scope::kTrace : Scope::kSteps;
  if (arguments.has("steps")) selection.steps = parse_steps(arguments.text("steps"));
  if (selection.steps && selection.scope == Scope::kTrace) throw WrongArgument("steps: not with scope trace");
  selection.rank = small(arguments, "rank");
  selection.device = small(arguments, "device");
  if (const auto stream = arguments.whole("stream")) selection.stream = static_cast<std::uint64_t>(*stream);
  selection.name = arguments.text("name");
  selection.step_name = arguments.text("step");
  selection.warmup_steps = arguments.whole("warmup_steps");
  return selection;
}

std::size_t top_of(const Arguments& arguments, const ToolLimits& limits) {
  return static_cast<std::size_t>(arguments.whole("top").value_or(static_cast<std::int64_t>(limits.table_rows)));
}

// Long tables end where the answer would be too long to be read, which is said.
void cut(Document& document, std::size_t top) {
  for (Table& table : document.tables) {
    if (table.rows.size() <= top) continue;
    document.warnings.push_back(fmt::format("{}: the first {} of {} rows", table.key, top, table.rows.size()));
    keep_top(table, top);
  }
}

// What of the registry has a document of its own, with a verdict.
Document answer_of(const Analysis& analysis, const RunFacts& run, std::size_t top) {
  if (analysis.key == "collectives") return collectives_document(run);
  if (analysis.key == "gaps") return gaps_document(run);
  if (analysis.key == "late_ranks") return ranks_document(run, true);
  if (analysis.key == "launches") return launches_document(run);
  if (analysis.key == "roofline") return roofline_document(run);
  Document document = tables_document(run, {std::string(analysis.key)}, top);
  document.run = run.trace.path;
  document.warnings = run.trace.warnings;
  return document;
}

// A tool that answers a question about one run and a selection of it.
template <typename Answer>
Tool run_tool(const PlacePtr& place, std::string name, std::string title, std::string description, Answer answer) {
  const auto call = [place, answer](const Arguments& arguments) {
    const Selection selection = selection_of(arguments);
    const Trace trace = open_trace(place->root.run(arguments.text("run")), OpenOptions());
    const std::size_t top = top_of(arguments, place->limits);
    Document document = answer(RunFacts(trace, selection), top);
    cut(document, top);
    return json_of(document);
  };
  return {std::move(name), std::move(title), std::move(description), with_selection({run_argument(), top_argument()}),
          call};
}

Tool analysis_tool(const PlacePtr& place, const Analysis& analysis) {
  return run_tool(place, std::string(analysis.key), std::string(analysis.title), std::string(analysis.definition),
                  [&analysis](const RunFacts& run, std::size_t top) { return answer_of(analysis, run, top); });
}

Tool analyze_tool(const PlacePtr& place) {
  return run_tool(
      place, "analyze", "What bounds a run",
      "The verdict first: what the run is bound by, with confidence and evidence; then utilization, time "
      "breakdown, idle causes, top kernels.",
      [](const RunFacts& run, std::size_t top) { return analysis_of(run, {.top = top, .verdict_facts = true}); });
}

Tool advise_tool(const PlacePtr& place) {
  return run_tool(place, "advise", "What changes would save",
                  "Fusion, CUDA graphs, precision and other changes, each replayed: what it saves of a step, at least "
                  "and at most, with confidence and assumptions.",
                  [](const RunFacts& run, std::size_t /*top*/) {
                    const Advisor advisor(run, {});
                    return advice_of(run, advisor, advise(advisor));
                  });
}

Tool info_tool(const PlacePtr& place) {
  return {"info",
          "What is in a run",
          "Ranks, GPUs, command, environment, counts, what was lost, how the ranks' clocks agree.",
          {run_argument()},
          [place](const Arguments& arguments) {
            return json_of(info_document(open_trace(place->root.run(arguments.text("run")), OpenOptions()), true));
          }};
}

Tool list_tool(const PlacePtr& place) {
  return {"list_runs",
          "Runs below the served folder",
          "Runs and trace files that the other tools take, by their paths.",
          {},
          [place](const Arguments& /*arguments*/) { return json_of(place->root.runs()); }};
}

std::vector<ComparedRun> compared(const std::vector<std::string>& paths, const Selection& selection) {
  const std::vector<std::string> names = short_names({paths.begin(), paths.end()});
  std::vector<ComparedRun> runs;
  for (std::size_t i = 0; i < paths.size(); ++i)
    runs.push_back(compared_run(open_trace(paths[i], OpenOptions()), names[i], selection));
  return runs;
}

Tool compare_tool(const PlacePtr& place) {
  return {
      "compare", "Why steps of runs differ",
      "Runs beside a base: step, images/s, what differs in their configuration, and kernel by kernel why steps take "
      "longer or shorter, beyond or within the noise.",
      with_selection({run_argument("base"),
                      {"runs", Type::kTexts, "the runs that are compared with the base", true},
                      top_argument()}),
      [place](const Arguments& arguments) {
        std::vector<std::string> paths = {place->root.run(arguments.text("base"))};
        for (const std::string& run : arguments.texts("runs"))
          paths.push_back(place->root.run(run));
        if (paths.size() < 2) throw WrongArgument("runs: is empty");
        Document document = runs_document(compared(paths, selection_of(arguments)),
                                          {.order = RunOrder::kAsGiven, .top = top_of(arguments, place->limits)});
        document.run = fmt::format("{}", fmt::join(paths, " "));
        return json_of(document);
      }};
}

Tool gate_tool(const PlacePtr& place) {
  return {"gate", "Whether a run is slower than another",
          "pass, regression or inconclusive, with why, what was compared, the kernels that grew most, and evidence.",
          with_selection({run_argument("base"),
                          run_argument(),
                          {"fail_above_percent",
                           Type::kNumber,
                           "how much slower the step or a kernel may be (default: 5)",
                           false,
                           {},
                           0},
                          top_argument()}),
          [place](const Arguments& arguments) {
            const std::vector<std::string> paths = {place->root.run(arguments.text("base")),
                                                    place->root.run(arguments.text("run"))};
            const std::vector<ComparedRun> runs = compared(paths, selection_of(arguments));
            const double above = arguments.number("fail_above_percent", 100 * kGateAbove) / 100;
            Document document = gate_document(runs[0], runs[1], above, top_of(arguments, place->limits)).document;
            document.run = fmt::format("{}", fmt::join(paths, " "));
            return json_of(document);
          }};
}

std::string query(const Place& place, const Arguments& arguments) {
  const ToolLimits& limits = place.limits;
  const std::string path = place.root.run(arguments.text("run"));
  const Deadline deadline{std::chrono::seconds(limits.query_seconds)};
  try {
    const QueriedRun run(path, &deadline.has_passed());
    QueryResult result =
        run.run(arguments.text("sql"),
                {.cancel = &deadline.has_passed(), .most_rows = limits.rows, .most_bytes = limits.bytes});
    Document document;
    document.schema = "query";
    document.run = path;
    document.warnings = run.warnings();
    if (result.is_cut) document.warnings.push_back(fmt::format("the first {} rows", result.table.rows.size()));
    document.tables.push_back(std::move(result.table));
    return json_of(document);
  } catch (const Error& error) {
    if (!deadline.has_passed()) throw;
    throw Error(ErrorKind::kFailure, fmt::format("the query took more than {} s", limits.query_seconds), error.what(),
                "ask for fewer rows, or a narrower time");
  }
}

Tool query_tool(const PlacePtr& place) {
  return {
      "query",
      "SQL on a run",
      "One statement that reads, on the trace files of a run (tables as Nsight Systems names them, and SWINSCOPE_*): "
      "`SELECT name, sql FROM sqlite_master` lists them.",
      {run_argument(), {"sql", Type::kText, "the statement", true}},
      [place](const Arguments& arguments) { return query(*place, arguments); }};
}

}  // namespace

std::vector<Tool> tools_below(const std::filesystem::path& folder, const ToolLimits& limits) {
  const auto place = std::make_shared<const Place>(Place{Root(folder), limits});
  std::vector<Tool> tools = {list_tool(place),    info_tool(place), analyze_tool(place), advise_tool(place),
                             compare_tool(place), gate_tool(place), query_tool(place)};
  for (const Analysis& analysis : analyses())
    tools.push_back(analysis_tool(place, analysis));
  return tools;
}

}  // namespace swinscope::mcp
