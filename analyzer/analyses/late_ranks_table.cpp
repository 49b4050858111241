#include "analyzer/analyses/late_ranks_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

constexpr double kWorthSaying = 0.005;  // of the step: less is no straggler
constexpr double kSecondCause = 0.2;    // of the delay: less is not worth a word

std::vector<const LateRank*> by_delay(const LateRanks& late) {
  std::vector<const LateRank*> ranks;
  for (const LateRank& rank : late.ranks)
    ranks.push_back(&rank);
  std::ranges::stable_sort(ranks, std::greater(), &LateRank::delay_ns);
  return ranks;
}

// Per step, or of the whole scope: what `per_step` is a share of.
std::int64_t whole_ns(const RunFacts& run, const LateRank& rank) {
  if (const auto step = run.scope.step_ns_of_rank(rank.rank_index)) return *step;
  std::int64_t longest = 0;
  for (const DeviceBreakdown& device : run.devices())
    longest = std::max(longest, device.window_ns);
  return longest;
}

std::string name_of(const RunFacts& run, const LateRank& rank) {
  const auto same = std::ranges::count(run.late_ranks().ranks, rank.rank_index, &LateRank::rank_index);
  return same > 1 ? fmt::format("rank {}, GPU {}", rank.rank, rank.device) : fmt::format("rank {}", rank.rank);
}

std::string words_of(const RunFacts& run, const LateRank& rank, LateCause cause, std::int64_t per_step_ns) {
  const std::string time = format_duration(per_step_ns);
  const auto with_kernel = [&](std::string_view what) {
    if (rank.kernel == kNoString) return fmt::format("{} ({})", what, time);
    return fmt::format("{} ({}), {} most ({})", what, time, run.trace.text(rank.kernel),
                       format_duration(run.late_ranks().per_step(rank, rank.kernel_ns)));
  };
  switch (cause) {
    case LateCause::kHost:
      return fmt::format("its host launches late ({})", time);
    case LateCause::kSynchronization:
      return fmt::format("its host is blocked in synchronizing calls ({})", time);
    case LateCause::kInput:
      return fmt::format("its data come late ({})", time);
    case LateCause::kDependency:
      return fmt::format("its streams wait for each other ({})", time);
    case LateCause::kKernels:
      return with_kernel("its kernels are slower");
    case LateCause::kClock:
      return with_kernel(
          fmt::format("its GPU's clock is lower, {} MHz on average", std::llround(rank.clock_mhz.value_or(0))));
    case LateCause::kCopies:
      return fmt::format("its copies take longer ({})", time);
    case LateCause::kCommunication:
      return fmt::format("it comes late from other collectives ({})", time);
    case LateCause::kOther:
      break;
  }
  return fmt::format("why is not known ({})", time);
}

// The largest cause, and the second where it is worth a word.
std::string why(const RunFacts& run, const LateRank& rank) {
  const auto causes = run.late_ranks().causes_per_step(rank);
  std::array<std::size_t, kLateCauses> order{};
  for (std::size_t i = 0; i < kLateCauses; ++i)
    order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return causes[i]; });
  std::string words = words_of(run, rank, static_cast<LateCause>(order[0]), causes[order[0]]);
  const auto delay = static_cast<double>(run.late_ranks().delay_per_step(rank));
  if (static_cast<double>(causes[order[1]]) >= kSecondCause * delay)
    words += ", and " + words_of(run, rank, static_cast<LateCause>(order[1]), causes[order[1]]);
  return words;
}

bool has_communication(const RunFacts& run) {
  return !unmatched_communication(run.trace, run.scope, run.collectives()).empty() ||
         std::ranges::any_of(run.devices(), [](const DeviceBreakdown& d) { return d.communication_ns > 0; });
}

bool has_peer_copies(const RunFacts& run) {
  return std::ranges::any_of(run.scope.devices(), [&](const DeviceScope& device) {
    const GpuEvents& gpu = run.trace.ranks[device.rank_index].gpu;
    return std::ranges::any_of(device.events, [&](EventIndex e) {
      return gpu.kind[e] == GpuKind::kMemcpy && gpu.gpu_class[e] == GpuClass::kCommunication;
    });
  });
}

std::string not_known(const RunFacts& run) {
  if (run.late_ranks().undecided > 0) {
    return fmt::format(
        "who waits for whom is not known: at all of {} the ranks come within what their clocks may be wrong by",
        format_counted(run.late_ranks().undecided, "collectives"));
  }
  if (!run.collectives().empty())
    return "who waits for whom is not known: no collective's wait could be told from its transfer";
  if (run.devices().empty()) return "who waits for whom is not known: no GPU activity was recorded";
  return has_communication(run) ? "who waits for whom is not known: no collective could be matched over the ranks"
                                : "the ranks do not wait for each other: no communication was recorded";
}

std::string missing_words(const RunFacts& run) {
  const MissingRanks missing = missing_ranks(run.trace);
  return missing.count > 0 ? "; " + missing.sentence() : "";
}

}  // namespace

std::string late_rank_abstention(const RunFacts& run) {
  if (run.scope.selection().rank) return "one rank is chosen: nothing to compare";
  if (rank_count(run.trace) < 2 && run.late_ranks().ranks.size() < 2)
    return "one rank: nothing to compare" + missing_words(run);
  if (run.late_ranks().ranks.empty() || run.late_ranks().collectives == 0) return not_known(run) + missing_words(run);
  return {};
}

std::string late_rank_verdict(const RunFacts& run) {
  if (std::string abstained = late_rank_abstention(run); !abstained.empty()) return abstained;
  const std::vector<const LateRank*> ranks = by_delay(run.late_ranks());
  const LateRank& latest = *ranks.front();
  const std::int64_t delay = run.late_ranks().delay_per_step(latest);
  const std::int64_t whole = whole_ns(run, latest);
  const std::string share = fmt::format("{:.1f} %", percent_of(delay, whole));
  const std::string per_step = latest.steps > 0 ? fmt::format(" per {}", run.scope.unit()) : "";
  if (static_cast<double>(delay) < kWorthSaying * static_cast<double>(whole)) {
    return fmt::format("no rank makes the others wait at collectives: {} most, {}{} ({})", name_of(run, latest),
                       format_duration(delay), per_step, share) +
           missing_words(run);
  }
  const bool are_two = run.late_ranks().ranks.size() == 2;
  return fmt::format("{} arrives last at {:.0f} % of {} and makes the other{} wait {}{} ({}): {}", name_of(run, latest),
                     percent_of(latest.last, latest.collectives), format_counted(latest.collectives, "collectives"),
                     are_two ? "" : "s", format_duration(delay), per_step, share, why(run, latest)) +
         missing_words(run);
}

std::vector<std::string> late_rank_notes(const RunFacts& run) {
  std::vector<std::string> notes;
  const LateRanks& late = run.late_ranks();
  if (!late.ranks.empty()) {
    notes.emplace_back(
        "delay: the exposed wait of each of the other ranks that ended when this one came, on average; its causes sum "
        "to it. They are what the rank did longer than the median of the others since they last went on together.");
  }
  if (late.undecided > 0) {
    notes.push_back(
        fmt::format("At {} the ranks come within what their clocks may be wrong by: nobody was last ({} of "
                    "exposed wait).",
                    format_counted(late.undecided, "collectives"), format_duration(late.undecided_ns)));
  }
  for (const std::string& doubt : run.waits().doubts())
    notes.push_back(doubt + ".");
  const bool has_clock = std::ranges::any_of(late.ranks, [](const LateRank& r) { return r.clock_mhz.has_value(); });
  if (!late.ranks.empty() && !has_clock)
    notes.emplace_back(
        "Clocks of the GPUs were not recorded: kernels that are slower by a lower clock count as kernels.");
  if (has_peer_copies(run))
    notes.emplace_back("Copies between GPUs are not looked at: nothing says which of another rank belong to them.");
  if (const MissingRanks missing = missing_ranks(run.trace); missing.count > 0)
    notes.push_back(missing.sentence() + ". Figures are of those that are here.");
  return notes;
}

Table late_ranks_table(const RunFacts& run) {
  Table table{"late_ranks",
              "Late ranks, per step of each of the others",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"collectives", "collectives", Unit::kCount},
               {"last_percent", "last", Unit::kPercent},
               {"delay_ns", "delay", Unit::kDuration},
               {"delay_percent", "of step", Unit::kPercent}},
              {}};
  for (std::size_t i = 0; i < kLateCauses; ++i) {
    const std::string cause(late_cause_name(static_cast<LateCause>(i)));
    const bool is_any =
        std::ranges::any_of(run.late_ranks().ranks, [&](const LateRank& r) { return r.cause_ns[i] > 0; });
    table.columns.push_back({cause + "_ns", cause, Unit::kDuration, !is_any});
  }
  table.columns.push_back({"kernel", "kernel"});
  table.columns.push_back({"kernel_ns", "of it", Unit::kDuration});
  table.columns.push_back({"wait_ns", "wait, hidden too", Unit::kDuration, true});
  const LateRanks& late = run.late_ranks();
  for (const LateRank* rank : by_delay(late)) {
    std::vector<Cell> row = {int_cell(rank->rank),       int_cell(rank->device),
                             rank->collectives,          percent_of(rank->last, rank->collectives),
                             late.delay_per_step(*rank), percent_of(late.delay_per_step(*rank), whole_ns(run, *rank))};
    for (const std::int64_t cause : late.causes_per_step(*rank))
      row.emplace_back(cause);
    const bool has_kernel = rank->kernel != kNoString;
    row.push_back(has_kernel ? Cell(std::string(run.trace.text(rank->kernel))) : Cell());
    row.push_back(has_kernel ? Cell(late.per_step(*rank, rank->kernel_ns)) : Cell());
    row.emplace_back(late.per_step(*rank, rank->wait_ns));
    table.rows.push_back(std::move(row));
  }
  hide_empty(table, {"kernel", "kernel_ns"});
  return table;
}

}  // namespace swinscope
