// Runs beside each other, as a page shows them: which they are, what of each was read, and the document of `swinscope
// compare` for the base and the others. Reading is done beside the window and can be cancelled; what was read stays
// until another part of the runs is asked for, so that a further run costs its own reading only.
#pragma once

#include <QObject>
#include <QStringList>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/experiment/run_comparison.h"
#include "analyzer/report/report.h"
#include "gui/core/background.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"
#include "gui/core/step_pictures.h"

namespace swinscope::gui {

struct ComparedPath {
  QString path;
  double price_per_hour = 0;  // of a GPU; 0: not given
  bool is_read = false;       // what follows is as it should be, else of an earlier reading, or not there yet
  // Of them one is there when it was read.
  std::shared_ptr<const ComparedRun> run;
  std::optional<Problem> problem;
  std::shared_ptr<const MeasuredStep> step;  // null: it has none
};

class ComparedRuns : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 6;

  explicit ComparedRuns(QObject* parent = nullptr) : QObject(parent) {}
  Q_DISABLE_COPY_MOVE(ComparedRuns)
  // Cancels what is being read and waits for it.
  ~ComparedRuns() override;

  // The first one is the base. What is there already is not added again; nothing where there is room for all.
  std::optional<Problem> add(const QStringList& paths);
  // These instead of what is there; what is known of them stays.
  std::optional<Problem> replace(const QStringList& paths);
  void remove(std::size_t index);
  void make_base(std::size_t index);
  // What the window opens takes the place of the base; where it is one of them, it is read again.
  void open(const QString& path);
  void set_price(std::size_t index, double per_hour);
  void set_normalization(Normalization by);

  const std::vector<ComparedPath>& runs() const { return runs_; }
  bool has(const QString& path) const;

  // Reads those that have not been read of this part. `open`: may be one of them, and has its trace.
  void read(const RunPointer& open, const Selection& selection);
  // Everything is to be read again.
  void forget();
  void cancel();
  bool was_cancelled() const { return was_cancelled_; }
  bool is_reading() const { return !reading_.is_idle(); }
  bool is_idle() const { return reading_.is_idle() && presenting_.is_idle(); }

  // Of those that could be read, at least two; no tables where there are fewer. Tables have all rows.
  const Document& document() const { return presented_.document; }
  const std::vector<ReportChart>& charts() const { return presented_.charts; }
  // As the document calls them; of those that could be read, the base first.
  const std::vector<ComparedRun>& compared() const { return presented_.runs; }
  Normalization normalization() const { return by_; }
  // By its name in the document; nullptr for none.
  const ComparedPath* find(const std::string& name) const;

 Q_SIGNALS:
  void changed();  // which they are, or what is said of them

 private:
  struct Presented {
    QStringList paths;  // of the runs
    std::vector<ComparedRun> runs;
    Document document;
    std::vector<ReportChart> charts;
  };
  // For another thread.
  static ComparedPath read_one(ComparedPath run, const RunPointer& open, const Selection& selection,
                               const std::atomic<bool>& cancel);
  static Presented present(QStringList paths, std::vector<ComparedRun> runs, Normalization by);
  void take(const std::vector<ComparedPath>& read);
  void present();

  std::vector<ComparedPath> runs_;
  Normalization by_ = Normalization::kStep;
  Presented presented_;
  bool was_cancelled_ = false;
  std::shared_ptr<std::atomic<bool>> cancel_;  // of what is being read
  Background reading_;
  Background presenting_;
};

// In what the runs of the document are configured differently, a line each: "GPUs: 2 x H200 (a.db), H100 (b.db)".
QStringList configured_differently(const Document& document);

}  // namespace swinscope::gui
