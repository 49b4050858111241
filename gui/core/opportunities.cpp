#include "gui/core/opportunities.h"

#include <algorithm>
#include <utility>

#include "analyzer/base/text.h"

namespace swinscope::gui {
namespace {

QString text_of(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

Opportunities::Opportunities(std::optional<AdviceOptions> options, QObject* parent)
    : QObject(parent), options_(std::move(options)) {}

Opportunities::Found Opportunities::find(const OpenedRun& run, const Selection& selection,
                                         const std::optional<AdviceOptions>& options) {
  Found found;
  try {
    const std::shared_ptr<const RunFacts> facts = run.shared->of(run.trace, selection);
    std::shared_ptr<const Advisor> advisor = options ? nullptr : run.shared->advisor(run.trace, selection);
    // Of a large trace nobody has asked for it yet; of one that cannot be replayed it says why.
    if (advisor == nullptr) advisor = std::make_shared<const Advisor>(*facts, options.value_or(AdviceOptions()));
    const std::shared_ptr<Advised> advised(new Advised{facts, std::move(advisor), {}});
    const Replay replayed = replay(advised->advisor->graph());
    advised->step = ShownStep::choose(*facts, advised->advisor->graph(), replayed);
    found.pictures = advised->pictures(advised->advisor->graph(), replayed);
    found.advised = advised;
    if (const Advice& advice = found.advised->advisor->advice(); advice.is_refused()) {
      found.problem =
          Problem{QStringLiteral("no savings are given"), QString::fromStdString(advice.abstained.front().reason),
                  QStringLiteral("choose other steps above, or record what waited for what: swinscope record "
                                 "--trace cuda,nvtx,sync")};
    }
  } catch (const Error& error) {
    found.problem = problem_of(error);
  } catch (const std::exception& error) {
    found.problem = problem_of(error);
  }
  return found;
}

void Opportunities::compute(const RunPointer& run, const Selection& selection) {
  clear();
  finding_.start([run, selection, options = options_] { return find(*run, selection, options); },
                 [this](Found result) {
                   found_ = std::move(result);
                   if (advice() != nullptr) {
                     applied_.assign(advice()->cards.size(), false);
                     joint_step_ns_.fill(advice()->step_ns());
                     pictures_ = found_.pictures;
                   }
                   Q_EMIT found();
                 });
}

void Opportunities::clear() {
  finding_.forget();
  simulating_.forget();
  found_ = {};
  applied_.clear();
  joint_step_ns_.fill(0);
  pictures_.reset();
}

std::size_t Opportunities::applied_count() const {
  return static_cast<std::size_t>(std::ranges::count(applied_, true));
}

QStringList Opportunities::applied_ids() const {
  QStringList ids;
  for (std::size_t i = 0; i < applied_.size(); ++i)
    if (applied_[i]) ids << QString::fromStdString(advice()->cards[i].change.id);
  return ids;
}

void Opportunities::apply(std::size_t index, bool is_on) {
  if (applied_[index] == is_on) return;
  applied_[index] = is_on;
  const std::string& alternative = advice()->cards[index].change.alternative;
  for (std::size_t i = 0; is_on && !alternative.empty() && i < applied_.size(); ++i)
    if (i != index && advice()->cards[i].change.alternative == alternative) applied_[i] = false;
  simulate();
}

void Opportunities::apply_all() {
  if (advice() == nullptr) return;
  const std::vector<std::string> ids = usual_changes(*advice());
  for (std::size_t i = 0; i < applied_.size(); ++i)
    applied_[i] = std::ranges::find(ids, advice()->cards[i].change.id) != ids.end();
  simulate();
}

void Opportunities::apply_none() {
  applied_.assign(applied_.size(), false);
  simulate();
}

void Opportunities::simulate() {
  if (advice() == nullptr) return;
  std::vector<std::string> ids;
  for (const QString& id : applied_ids())
    ids.push_back(id.toStdString());
  if (ids.empty()) {  // as it was replayed
    simulating_.forget();
    joint_step_ns_.fill(advice()->step_ns());
    pictures_ = found_.pictures;
    Q_EMIT simulated();
    return;
  }
  simulating_.start([advised = found_.advised, ids] { return simulate(*advised, ids); },
                    [this](const Simulated& result) {
                      joint_step_ns_ = result.step_ns;
                      pictures_ = result.pictures;
                      Q_EMIT simulated();
                    });
}

Opportunities::Simulated Opportunities::simulate(const Advised& advised, const std::vector<std::string>& ids) {
  const Simulation simulation = advised.advisor->simulation(ids);
  return {simulation.step_ns, advised.pictures(simulation.graph, simulation.replay)};
}

std::shared_ptr<const StepPictures> Opportunities::Advised::pictures(const DependencyGraph& graph,
                                                                     const Replay& replay) const {
  if (!step) return nullptr;
  return std::make_shared<const StepPictures>(step->pictures(graph, replay));
}

std::optional<Call> Opportunities::evidence(std::size_t index) const {
  if (advice() == nullptr) return std::nullopt;
  const std::vector<EvidenceEvent> events = found_.advised->advisor->evidence_of(advice()->cards[index]);
  if (events.empty()) return std::nullopt;
  const auto [rank, event] = events.front();
  const GpuEvents& gpu = found_.advised->run->trace.ranks[rank].gpu;
  return Call{static_cast<std::uint32_t>(rank), LaneKind::kKernels, event, gpu.start_ns[event],
              gpu.end_ns[event] - gpu.start_ns[event]};
}

QString range_text(std::int64_t low_ns, std::int64_t high_ns) {
  QString low = text_of(low_ns);
  const QString high = text_of(high_ns);
  const QString unit = high.mid(high.lastIndexOf(QLatin1Char(' ')));
  if (low.endsWith(unit)) low.chop(unit.size());
  return QStringLiteral("%1 to %2").arg(low, high);
}

QString confidence_text(const swinscope::Card& card) {
  const QString confidence = QString::fromUtf8(confidence_name(card.change.confidence).data());
  const auto [low_ns, high_ns] = std::pair(card.saving_ns.front(), card.saving_ns.back());
  return low_ns == high_ns ? confidence : range_text(low_ns, high_ns) + QStringLiteral(", ") + confidence;
}

QString share_text(std::int64_t saving_ns, std::int64_t step_ns) {
  const double share = step_ns == 0 ? 0 : static_cast<double>(saving_ns) / static_cast<double>(step_ns);
  return QStringLiteral("saves %1, %2 % of the step").arg(text_of(saving_ns)).arg(100 * share, 0, 'f', 1);
}

QString saving_text(const swinscope::Card& card) {
  return QStringLiteral("saves %1, %2")
      .arg(text_of(card.likely_ns()), range_text(card.saving_ns.front(), card.saving_ns.back()));
}

}  // namespace swinscope::gui
