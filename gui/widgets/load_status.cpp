#include "gui/widgets/load_status.h"

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>

#include "gui/core/loader.h"

namespace swinscope::gui {
namespace {

constexpr int kProgressSteps = 1000;

}  // namespace

LoadStatus::LoadStatus(QStatusBar& bar, Loader& loader)
    : QObject(&bar),
      phase_(new QLabel(&bar)),
      progress_(new QProgressBar(&bar)),
      cancel_(new QPushButton(QStringLiteral("Cancel"), &bar)) {
  progress_->setAccessibleName(QStringLiteral("Loading"));
  progress_->setRange(0, kProgressSteps);
  progress_->setMaximumWidth(220);
  cancel_->setObjectName(QStringLiteral("cancel"));
  cancel_->setAccessibleName(QStringLiteral("Cancel loading"));
  bar.addWidget(phase_, 1);
  bar.addPermanentWidget(progress_);
  bar.addPermanentWidget(cancel_);
  end();
  connect(cancel_, &QPushButton::clicked, &loader, &Loader::cancel);
  connect(&loader, &Loader::started, this, &LoadStatus::begin);
  connect(&loader, &Loader::progressed, this, [this](double fraction, const QString& phase) {
    progress_->setValue(static_cast<int>(fraction * kProgressSteps));
    phase_->setText(phase);
  });
  connect(&loader, &Loader::run_loaded, this, &LoadStatus::end);
  connect(&loader, &Loader::experiment_loaded, this, &LoadStatus::end);
  connect(&loader, &Loader::comparison_loaded, this, &LoadStatus::end);
  connect(&loader, &Loader::failed, this, &LoadStatus::end);
  connect(&loader, &Loader::cancelled, this, &LoadStatus::end);
}

void LoadStatus::begin(const QString& path) {
  progress_->setValue(0);
  progress_->show();
  cancel_->show();
  phase_->setText(QStringLiteral("Opening %1").arg(path));
}

void LoadStatus::end() {
  progress_->hide();
  cancel_->hide();
  phase_->clear();
}

}  // namespace swinscope::gui
