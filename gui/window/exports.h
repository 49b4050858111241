// What the window writes: its page as a picture, a report, the events for other viewers; each says what it wrote, with
// the command that writes the same where there is one.
#pragma once

#include <QObject>

#include "gui/core/background.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"

class QWidget;

namespace swinscope::gui {

struct PictureTitle;

// Where to; empty where the user chose nothing.
QString ask_image_path(QWidget* parent, const QString& page_id);
QString ask_report_path(QWidget* parent);
QString ask_events_path(QWidget* parent);

class Exports : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // .svg, else .png. False where it could not be written.
  bool write_image(QWidget& page, const PictureTitle& title, const QString& path);
  // .html, .md, .csv or .json; it is written later, in another thread.
  void write_report(const Session& session, const QString& path);
  // As export_trace(); likewise.
  void write_events(const RunPointer& run, const QString& path);
  bool is_idle() const { return working_.is_idle(); }

 Q_SIGNALS:
  void said(const QString& text);
  void problem(const swinscope::gui::Problem& problem);

 private:
  Background working_;
};

}  // namespace swinscope::gui
