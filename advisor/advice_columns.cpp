#include "advisor/advice_columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/table/cells.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {

const std::string_view kAdviceColumnsDefinition =
    "8-bit gain = GPU time per step that products take less with 8-bit operands by the GPU's measured rates (below 0: "
    "more), and fusable with = what a change of `swinscope advise`, in brackets, makes one kernel with it.";

namespace {

using Places = std::map<std::pair<std::uint32_t, NodeIndex>, double>;  // by OpRef

bool is_to_8_bits(const Change& change) {
  return change.kind == "precision" && (change.id.ends_with("-fp8") || change.id.ends_with("-int8"));
}
bool is_fusion(const Change& change) { return change.kind == "fusion" || change.kind == "epilogue"; }

std::string_view text_at(const std::vector<Cell>& row, std::size_t column) {
  const auto* text = std::get_if<std::string>(&row[column]);
  return text == nullptr ? std::string_view() : *text;
}

// Which row of a table GPU work belongs to.
class Rows {
 public:
  Rows(const Table& table, const RunFacts& run, const DependencyGraph& graph)
      : run_(run), graph_(graph), of_kernels_(table.key == "kernels") {
    const std::size_t name = find_column(table, of_kernels_ ? "full_name" : "path");
    const std::size_t part = find_column(table, of_kernels_ ? "rank" : "phase");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const auto* rank = std::get_if<std::int64_t>(&table.rows[i][part]);
      const std::string which = rank == nullptr ? std::string(text_at(table.rows[i], part)) : fmt::format("{}", *rank);
      by_key_.emplace(std::pair(std::string(text_at(table.rows[i], name)), which), i);
    }
  }

  std::optional<std::size_t> of(const OpRef& ref) const {
    const Rank& rank = rank_of(ref);
    const EventIndex event = event_of(ref);
    if (of_kernels_) {
      const std::string number = fmt::format("{}", rank.run.rank);
      for (const StringId name : {rank.gpu.name[event], rank.gpu.short_name[event]})
        if (const auto row = find(std::string(run_.trace.text(name)), number)) return row;
      return std::nullopt;
    }
    const Operation* operation = operation_of(ref);
    if (operation == nullptr) return std::nullopt;
    std::string path(operation->path);
    while (true) {  // of paths that were cut the row has the beginning
      if (const auto row = find(path, std::string(operation->phase))) return row;
      const std::size_t dot = path.rfind('.');
      if (dot == std::string::npos) return std::nullopt;
      path.resize(dot);
    }
  }

  // As it is called in another row; of a layer's own work its kernel.
  std::string name_of(const OpRef& ref, std::size_t seen_from) const {
    const Operation* operation = of_kernels_ || of(ref) == seen_from ? nullptr : operation_of(ref);
    if (operation != nullptr) return std::string(operation->path);
    return readable_kernel_name(run_.trace.text(rank_of(ref).gpu.name[event_of(ref)]));
  }

  std::int64_t duration_ns(const OpRef& ref) const {
    const GpuEvents& gpu = rank_of(ref).gpu;
    return gpu.end_ns[event_of(ref)] - gpu.start_ns[event_of(ref)];
  }

 private:
  const RankGraph& nodes_of(const OpRef& ref) const { return graph_.ranks[ref.rank]; }
  const Rank& rank_of(const OpRef& ref) const { return run_.trace.ranks[nodes_of(ref).rank_index]; }
  EventIndex event_of(const OpRef& ref) const { return nodes_of(ref).ops[ref.op].event; }
  const Operation* operation_of(const OpRef& ref) const {
    const RankOperations& operations = run_.operations()[nodes_of(ref).rank_index];
    const OperationId id = operations.of_event(event_of(ref));
    return id == kNoOperation ? nullptr : &operations.all()[id];
  }
  std::optional<std::size_t> find(const std::string& name, const std::string& part) const {
    auto found = by_key_.find({name, part});
    if (found == by_key_.end()) found = by_key_.find({name, ""});  // all ranks, or phases, in one row
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
  }

  const RunFacts& run_;
  const DependencyGraph& graph_;
  const bool of_kernels_;
  std::map<std::pair<std::string, std::string>, std::size_t> by_key_;  // name, rank or phase
};

// By row: nanoseconds, of all steps. Where several changes give products 8 bits, the better one of each.
std::map<std::size_t, double> gains(const Advice& advice, const Rows& rows) {
  Places best;
  for (const Card& card : advice.cards) {
    if (!is_to_8_bits(card.change)) continue;
    for (const Scaled& scaled : card.change.scaled) {
      const double factor = scaled.factor[static_cast<std::size_t>(Estimate::kLikely)];
      const double gain = (1 - factor) * static_cast<double>(rows.duration_ns(scaled.op));
      const auto [place, is_new] = best.try_emplace({scaled.op.rank, scaled.op.op}, gain);
      if (!is_new) place->second = std::max(place->second, gain);
    }
  }
  std::map<std::size_t, double> by_row;
  for (const auto& [place, gain] : best)
    if (const auto row = rows.of({place.first, place.second})) by_row[*row] += gain;
  return by_row;
}

// "gelu + add (fusion-1)": the others of a chain, each once, as one of it sees them.
std::string others(const std::vector<OpRef>& chain, const OpRef& seen_from, std::size_t row, const Rows& rows,
                   const std::string& id) {
  std::vector<std::string> names;
  for (const OpRef& ref : chain) {
    if (ref == seen_from) continue;
    std::string name = rows.name_of(ref, row);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{} ({})", fmt::join(names, " + "), id);
}

// By row: with what most of its time could be fused.
std::map<std::size_t, std::string> partners(const Advice& advice, const Rows& rows) {
  std::map<std::size_t, std::map<std::string, std::int64_t>> times;
  for (const Card& card : advice.cards) {
    if (!is_fusion(card.change)) continue;
    for (const Scaled& scaled : card.change.scaled) {
      std::vector<OpRef> chain = scaled.others();
      if (chain.empty()) continue;
      chain.push_back(scaled.op);
      std::ranges::sort(chain, {}, [](const OpRef& ref) { return std::pair(ref.rank, ref.op); });
      for (const OpRef& ref : chain)
        if (const auto row = rows.of(ref))
          times[*row][others(chain, ref, *row, rows, card.change.id)] += rows.duration_ns(ref);
    }
  }
  std::map<std::size_t, std::string> by_row;
  for (const auto& [row, of_row] : times)
    by_row[row] = std::ranges::max_element(of_row, {}, [](const auto& entry) { return entry.second; })->first;
  return by_row;
}

}  // namespace

bool has_advice_columns(std::string_view table) { return table == "kernels" || table == "layers"; }

void add_advice_columns(Table& table, const RunFacts& run, const Advisor* advisor) {
  if (!has_advice_columns(table.key)) return;
  std::map<std::size_t, double> gain;
  std::map<std::size_t, std::string> fusable;
  if (advisor != nullptr && !table.rows.empty()) {
    const Rows rows(table, run, advisor->graph());
    gain = gains(advisor->advice(), rows);
    fusable = partners(advisor->advice(), rows);
  }
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, run.scope.step_count()));
  table.columns.push_back({"gain_8bit_ns", "8-bit gain", Unit::kDuration, true});
  table.columns.push_back({"fusable_with", "fusable with", Unit::kText, true});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].push_back(gain.contains(i) ? int_cell(std::llround(gain[i] / steps)) : Cell());
    table.rows[i].push_back(fusable.contains(i) ? Cell(fusable[i]) : Cell());
  }
  hide_empty(table, {"gain_8bit_ns", "fusable_with"});
  if (!table.definition.empty()) table.definition += ' ';
  table.definition += kAdviceColumnsDefinition;
}

void add_advice_columns(std::vector<Table>& tables, const RunFacts& run, const Advisor* advisor) {
  for (Table& table : tables)
    add_advice_columns(table, run, advisor);
}

}  // namespace swinscope
