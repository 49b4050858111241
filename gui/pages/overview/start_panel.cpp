#include "gui/pages/overview/start_panel.h"

#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/core/demo_recording.h"
#include "gui/core/settings.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/file_dialogs.h"

namespace swinscope::gui {
namespace {

constexpr int kWidth = 640;

}  // namespace

StartPanel::StartPanel(QWidget* parent)
    : QWidget(parent),
      recent_(new QListWidget(this)),
      demo_(new QPushButton(QStringLiteral("Open the &example"), this)) {
  auto* file = new QPushButton(QStringLiteral("Open &trace…  (Ctrl+O)"), this);
  auto* folder = new QPushButton(QStringLiteral("Open &run or experiment…  (Ctrl+Shift+O)"), this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 12, 0, 12);
  auto* buttons = new QHBoxLayout;
  for (QPushButton* button : {file, folder, demo_})
    buttons->addWidget(button);
  buttons->addStretch(1);
  auto* heading = new QLabel(QStringLiteral("Opened lately"), this);
  heading->setObjectName(QStringLiteral("recent_heading"));
  recent_->setObjectName(QStringLiteral("recent_files"));
  recent_->setAccessibleName(QStringLiteral("Opened lately"));
  recent_->setMaximumWidth(kWidth);
  auto* how = new QLabel(QStringLiteral("Files and folders can be dropped here. To record a program:\n"
                                        "    swinscope record -o run -- python train.py\n"
                                        "Traces of PyTorch's profiler (.json, .json.gz) and exports of Nsight Systems "
                                        "(.sqlite) open as they are."),
                         this);
  how->setTextInteractionFlags(Qt::TextSelectableByMouse);
  how->setWordWrap(true);
  column->addLayout(buttons);
  column->addSpacing(8);
  column->addWidget(heading);
  column->addWidget(recent_);
  column->addSpacing(8);
  column->addWidget(how);
  demo_->setObjectName(QStringLiteral("open_demo"));
  demo_->setToolTip(QStringLiteral("A recording of a small model's inference on one GPU"));
  connect(file, &QPushButton::clicked, this, [this] {
    Q_EMIT open_requested(ask_for_files(this, QStringLiteral("Open traces"), QString::fromUtf8(kTraceKinds)));
  });
  connect(folder, &QPushButton::clicked, this, [this] {
    const QString path = ask_for_folder(this, QStringLiteral("Open a run or an experiment"));
    if (!path.isEmpty()) Q_EMIT open_requested({path});
  });
  connect(demo_, &QPushButton::clicked, this, [this] { Q_EMIT open_requested({demo_recording()}); });
  connect(recent_, &QListWidget::itemActivated, this,
          [this](const QListWidgetItem* item) { Q_EMIT open_requested({item->data(Qt::UserRole).toString()}); });
  refresh();
}

void StartPanel::refresh() {
  recent_->clear();
  for (const QString& path : Settings().recent_files()) {
    const QFileInfo info(path);
    if (!info.exists()) continue;  // the menu still has it
    auto* item = new QListWidgetItem(QStringLiteral("%1    %2").arg(info.fileName(), info.absolutePath()), recent_);
    item->setData(Qt::UserRole, path);
    item->setToolTip(tooltip_of(path));
  }
  const bool has_any = recent_->count() > 0;
  recent_->setVisible(has_any);
  findChild<QLabel*>(QStringLiteral("recent_heading"))->setVisible(has_any);
  recent_->setFixedHeight(recent_->fontMetrics().lineSpacing() * (recent_->count() + 1) + 8);
  demo_->setVisible(!demo_recording().isEmpty());
}

}  // namespace swinscope::gui
