#include "gui/widgets/filter_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTimer>
#include <algorithm>
#include <set>

namespace swinscope::gui {
namespace {

constexpr int kTypingMs = 150;
constexpr int kNoStep = 0;  // they are counted from 1
constexpr int kWholeTrace = 1;

}  // namespace

FilterBar::FilterBar(FilterModel& model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      run_(new QComboBox(this)),
      rank_(new QComboBox(this)),
      scope_(new QComboBox(this)),
      first_step_(new QSpinBox(this)),
      last_step_(new QSpinBox(this)),
      stream_(new QComboBox(this)),
      name_(new QLineEdit(this)),
      typing_(new QTimer(this)) {
  setObjectName(QStringLiteral("filter"));
  run_->setObjectName(QStringLiteral("filter_run"));
  run_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  run_->setMinimumContentsLength(14);
  rank_->setObjectName(QStringLiteral("filter_rank"));
  stream_->setObjectName(QStringLiteral("filter_stream"));
  name_->setObjectName(QStringLiteral("filter_name"));
  name_->setPlaceholderText(QStringLiteral("part of a name"));
  name_->setClearButtonEnabled(true);
  scope_->setObjectName(QStringLiteral("filter_scope"));
  scope_->addItems({QStringLiteral("measured steps"), QStringLiteral("whole trace")});
  scope_->setToolTip(QStringLiteral("What all figures are of: the steps after the warm-up, or everything recorded"));
  connect(scope_, &QComboBox::currentIndexChanged, this, &FilterBar::apply);
  for (QSpinBox* step : {first_step_, last_step_}) {
    step->setSpecialValueText(QStringLiteral("all"));
    step->setRange(kNoStep, kNoStep);
    connect(step, &QSpinBox::valueChanged, this, &FilterBar::apply);
  }
  first_step_->setAccessibleName(QStringLiteral("First step"));
  last_step_->setAccessibleName(QStringLiteral("Last step"));
  build_layout();
  typing_->setSingleShot(true);
  typing_->setInterval(kTypingMs);
  connect(typing_, &QTimer::timeout, this, &FilterBar::apply);
  connect(name_, &QLineEdit::textChanged, typing_, QOverload<>::of(&QTimer::start));
  connect(rank_, &QComboBox::currentIndexChanged, this, &FilterBar::apply);
  connect(stream_, &QComboBox::currentIndexChanged, this, &FilterBar::apply);
  connect(run_, &QComboBox::activated, this, &FilterBar::run_chosen);
}

void FilterBar::build_layout() {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 2, 6, 2);
  row->addWidget(labelled(QStringLiteral("Run"), run_), 3);
  row->addWidget(labelled(QStringLiteral("Rank"), rank_), 1);
  row->addWidget(labelled(QStringLiteral("Of"), scope_));
  row->addWidget(labelled(QStringLiteral("Steps"), first_step_));
  row->addWidget(labelled(QStringLiteral("to"), last_step_));
  row->addWidget(labelled(QStringLiteral("Stream"), stream_), 1);
  row->addWidget(labelled(QStringLiteral("Name"), name_), 2);
}

QWidget* FilterBar::labelled(const QString& text, QWidget* field) {
  auto* pair = new QWidget(this);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  auto* label = new QLabel(text, pair);
  label->setBuddy(field);
  if (field->accessibleName().isEmpty()) field->setAccessibleName(QStringLiteral("Filter by %1").arg(text.toLower()));
  row->addWidget(label);
  row->addWidget(field, 1);
  return pair;
}

void FilterBar::set_runs(const QStringList& titles, int current) {
  run_->clear();
  run_->addItems(titles);
  run_->setCurrentIndex(current);
}

void FilterBar::set_run(const OpenedRun* run) {
  const QSignalBlocker no_rank(rank_);
  const QSignalBlocker no_stream(stream_);
  const QSignalBlocker no_scope(scope_);
  const QSignalBlocker no_first(first_step_);
  const QSignalBlocker no_last(last_step_);
  const QSignalBlocker no_name(name_);
  rank_->clear();
  rank_->addItem(QStringLiteral("all"));
  stream_->clear();
  stream_->addItem(QStringLiteral("all"));
  int steps = 0;
  if (run != nullptr) {
    std::set<std::uint32_t> streams;
    for (const TimelineProcess& process : run->timeline->processes) {
      rank_->addItem(QString::number(process.rank), process.rank);
      steps = std::max(steps, static_cast<int>(process.steps.size()));
    }
    for (const TimelineLane& lane : run->timeline->lanes) {
      if (is_gpu(lane.key.kind)) streams.insert(lane.key.stream);
    }
    for (const std::uint32_t stream : streams)
      stream_->addItem(QString::number(stream), stream);
  }
  for (QSpinBox* step : {first_step_, last_step_})
    step->setRange(kNoStep, steps);
  typing_->stop();
  choose(run == nullptr ? Filter() : wanted_);
  model_.set_filter(read());
}

// Steps that the run does not have are none.
void FilterBar::choose(const Filter& filter) {
  const auto index_of = [](const QComboBox* box, const QVariant& value) { return std::max(0, box->findData(value)); };
  rank_->setCurrentIndex(filter.rank ? index_of(rank_, *filter.rank) : 0);
  stream_->setCurrentIndex(filter.stream ? index_of(stream_, *filter.stream) : 0);
  scope_->setCurrentIndex(filter.whole_trace ? kWholeTrace : 0);
  const bool has_steps = filter.steps && filter.steps->last <= last_step_->maximum();
  first_step_->setValue(has_steps ? static_cast<int>(filter.steps->first) : kNoStep);
  last_step_->setValue(has_steps ? static_cast<int>(filter.steps->last) : kNoStep);
  name_->setText(filter.name);
}

void FilterBar::set_in_use(bool in_use) {
  for (QWidget* part : std::initializer_list<QWidget*>{rank_, scope_, first_step_, last_step_, stream_, name_})
    part->parentWidget()->setEnabled(in_use);
}

void FilterBar::apply() {
  wanted_ = read();
  model_.set_filter(wanted_);
}

Filter FilterBar::read() const {
  Filter filter;
  if (rank_->currentIndex() > 0) filter.rank = rank_->currentData().toInt();
  if (stream_->currentIndex() > 0) filter.stream = stream_->currentData().toUInt();
  filter.name = name_->text();
  const int first = first_step_->value();
  const int last = last_step_->value();
  filter.whole_trace = scope_->currentIndex() == kWholeTrace;
  if (first != kNoStep || last != kNoStep) {
    const int from = std::max(first, 1);
    filter.steps = StepRange{from, last == kNoStep ? last_step_->maximum() : std::max(last, from)};
  }
  return filter;
}

void FilterBar::set_name(const QString& name) {
  name_->setText(name);
  typing_->stop();
  apply();
}

void FilterBar::set_rank(std::int32_t rank) {
  rank_->setCurrentIndex(std::max(0, rank_->findData(rank)));
  apply();
}

void FilterBar::focus_name() {
  name_->setFocus();
  name_->selectAll();
}

void FilterBar::clear() {
  for (QSpinBox* step : {first_step_, last_step_})
    step->setValue(kNoStep);
  scope_->setCurrentIndex(0);
  rank_->setCurrentIndex(0);
  stream_->setCurrentIndex(0);
  name_->clear();
  apply();
}

}  // namespace swinscope::gui
