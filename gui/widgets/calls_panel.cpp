#include "gui/widgets/calls_panel.h"

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "analyzer/base/text.h"
#include "gui/widgets/chart_widget.h"

namespace swinscope::gui {
namespace {

constexpr const char* kHistogramTitle = "Duration of the calls";
constexpr const char* kBoxesTitle = "Duration by rank";
constexpr int kLongestName = 600;  // letters; templates write longer ones

QString duration_text(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

CallsPanel::CallsPanel(const QString& accessible_name, QWidget* parent)
    : QWidget(parent),
      histogram_(new ChartWidget(this)),
      boxes_(new ChartWidget(this)),
      summary_(new QPlainTextEdit(this)) {
  summary_->setAccessibleName(accessible_name);
  summary_->setReadOnly(true);
  summary_->setTabChangesFocus(true);
  summary_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);  // names of kernels have no spaces
  auto* side = new QWidget(this);
  auto* column = new QVBoxLayout(side);
  column->addWidget(summary_, 1);
  auto* buttons = new QHBoxLayout;
  for (const bool forward : {false, true}) {
    auto* button =
        new QPushButton(forward ? QStringLiteral("&Next call in timeline") : QStringLiteral("&Previous call"), side);
    connect(button, &QPushButton::clicked, this, [this, forward] { step(forward); });
    buttons->addWidget(button);
  }
  auto* longest = new QPushButton(QStringLiteral("&Longest"), side);
  longest->setToolTip(QStringLiteral("The longest call in the timeline; again: the next shorter one"));
  connect(longest, &QPushButton::clicked, this, &CallsPanel::step_by_length);
  buttons->addWidget(longest);
  column->addLayout(buttons);
  connect(histogram_, &ChartWidget::category_activated, this, [this](int bin) { step_in_bin(bin); });
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(histogram_);
  split->addWidget(boxes_);
  split->addWidget(side);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setStretchFactor(2, 2);
  clear({});
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(split);
}

void CallsPanel::set_calls(const QString& name, std::vector<Call> calls, const Trace& trace) {
  if (calls.empty()) return clear(name);
  name_ = name;
  calls_ = std::move(calls);
  current_ = -1;
  by_length_.clear();
  length_rank_.reset();
  histogram_->set_chart(duration_histogram(calls_, kHistogramTitle));
  const bool has_ranks = trace.ranks.size() > 1;
  boxes_->set_chart(duration_boxes(has_ranks ? calls_ : std::vector<Call>(), trace, kBoxesTitle));
  boxes_->setVisible(has_ranks);
  summarize();
  Q_EMIT changed();
}

void CallsPanel::clear(const QString& message) {
  calls_.clear();
  current_ = -1;
  histogram_->set_chart(duration_histogram({}, kHistogramTitle));
  boxes_->set_chart(duration_boxes({}, {}, kBoxesTitle));
  boxes_->hide();
  summary_->setPlainText(message);
  Q_EMIT changed();
}

void CallsPanel::summarize() {
  const auto [low, high] = std::minmax_element(
      calls_.begin(), calls_.end(), [](const Call& a, const Call& b) { return a.duration_ns < b.duration_ns; });
  QString text =
      QStringLiteral("%1\n\n%2 calls from %3 to %4")
          .arg(name_.left(kLongestName), QString::fromStdString(format_count(static_cast<std::int64_t>(calls_.size()))),
               duration_text(low->duration_ns), duration_text(high->duration_ns));
  if (current_ >= 0) {
    text += QStringLiteral("\nin the timeline: call %1, %2")
                .arg(current_ + 1)
                .arg(duration_text(calls_[static_cast<std::size_t>(current_)].duration_ns));
  }
  summary_->setPlainText(text);
}

QString CallsPanel::summary() const { return summary_->toPlainText(); }

void CallsPanel::step(bool forward) {
  if (calls_.empty()) return;
  const int count = static_cast<int>(calls_.size());
  length_rank_.reset();
  go_to(static_cast<std::size_t>(current_ < 0 ? (forward ? 0 : count - 1)
                                              : (current_ + (forward ? 1 : count - 1)) % count));
}

void CallsPanel::step_by_length() {
  if (calls_.empty()) return;
  if (by_length_.empty()) {
    by_length_.resize(calls_.size());
    std::iota(by_length_.begin(), by_length_.end(), std::size_t{0});
    std::ranges::stable_sort(by_length_, std::greater(), [&](std::size_t i) { return calls_[i].duration_ns; });
  }
  length_rank_ = length_rank_ ? (*length_rank_ + 1) % by_length_.size() : 0;
  go_to(by_length_[*length_rank_]);
}

void CallsPanel::step_in_bin(int bin) {
  const DurationBins bins(calls_);
  for (std::size_t i = 1; i <= calls_.size(); ++i) {
    const std::size_t at = (static_cast<std::size_t>(current_ + 1) + i - 1) % calls_.size();
    if (bins.bin_of(calls_[at].duration_ns) != static_cast<std::size_t>(bin)) continue;
    length_rank_.reset();
    return go_to(at);
  }
}

void CallsPanel::go_to(std::size_t call) {
  current_ = static_cast<int>(call);
  summarize();
  Q_EMIT call_requested(calls_[call]);
}

}  // namespace swinscope::gui
