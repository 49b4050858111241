#include "analyzer/importers/kineto.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/importers/kineto_document.h"
#include "analyzer/importers/kineto_stream.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Reads the documents of a file, one behind the other.
class FileImport {
 public:
  FileImport(const std::filesystem::path& path, TraceSink& sink, const std::atomic<bool>* cancel)
      : path_(path), sink_(sink), cancel_(cancel) {}

  ImportReport run() {
    try {
      read([&] { return std::make_unique<KinetoDocumentReader>(path_.string(), sink_); });
    } catch (const SeveralRanks&) {
      read_several_ranks();
    }
    return finish();
  }

 private:
  using MakeReader = std::function<std::unique_ptr<KinetoDocumentReader>()>;

  // Merged traces: once to see whose events are whose, and once more.
  void read_several_ranks() {
    remove_processes(processes_ + current_->processes());
    processes_ = 0;
    std::vector<RankPlan> plans;
    stream([&] { return std::make_unique<KinetoDocumentReader>(path_.string()); },
           [&](const KinetoDocument& document) {
             ImportReport ignored;
             current_->finish(document, ignored);
             plans.push_back(current_->plan());
           });
    std::size_t next = 0;
    read([&] { return std::make_unique<KinetoDocumentReader>(path_.string(), sink_, plans.at(next++)); });
  }

  void stream(const MakeReader& make, const std::function<void(const KinetoDocument&)>& on_document) {
    current_.reset();
    const auto current = [&]() -> KinetoDocumentReader& {
      if (!current_) current_ = make();
      return *current_;
    };
    KinetoVisitor visitor;
    visitor.on_event = [&](std::string_view text) { current().take(text); };
    visitor.on_arrows = [&](std::int64_t count) { current().take_arrows(count); };
    visitor.on_document = [&](const KinetoDocument& document) {
      current();
      on_document(document);
      current_.reset();
    };
    visitor.on_other_member = [&](const std::string& name) { other_members_.push_back(name); };
    stream_kineto(path_, KinetoEventParser::padding(), cancel_, visitor);
  }

  void read(const MakeReader& make) {
    documents_ = 0;
    events_ = 0;
    report_ = {};
    extents_.clear();
    other_members_.clear();
    refusal_.reset();
    stream(make, [&](const KinetoDocument& document) { end_document(document); });
  }

  void end_document(const KinetoDocument& document) {
    ++documents_;
    ImportReport own;
    const std::optional<Error> error = current_->finish(document, own);
    const bool repeats = !error && std::ranges::find(extents_, current_->extent()) != extents_.end();
    if (error || repeats) {
      remove_processes(current_->processes());
      if (error && !refusal_) refusal_ = error;
      const std::string name = document.member.empty() ? fmt::format("document {}", documents_) : document.member;
      const std::string line = error ? fmt::format("{} of the file was left out: {}", name, error->cause())
                                     : fmt::format("{} of the file repeats an earlier one and was left out", name);
      report_.warnings.push_back(fmt::format("{}: {}", path_.string(), line));
      return;
    }
    processes_ += current_->processes();
    events_ += current_->extent().events;
    extents_.push_back(current_->extent());
    report_.corrupt |= own.corrupt;
    report_.warnings.insert(report_.warnings.end(), own.warnings.begin(), own.warnings.end());
    report_.doubts.insert(report_.doubts.end(), own.doubts.begin(), own.doubts.end());
  }

  void remove_processes(std::size_t count) {
    for (; count > 0; --count)
      sink_.remove_last_process();
  }

  ImportReport finish() {
    if (extents_.empty() && refusal_) throw Error(*refusal_);
    if (extents_.empty()) {
      throw Error(ErrorKind::kInput, fmt::format("{}: an archive without traces", path_.string()),
                  other_members_.empty() ? "it has no .json file"
                                         : fmt::format("its members are no .json files: {}", other_members_.front()),
                  "unpack it and give the folder");
    }
    if (!other_members_.empty()) {
      report_.warnings.push_back(fmt::format("{}: {} left out that are no .json files: {}; unpack the archive",
                                             path_.string(), counted(std::ssize(other_members_), "member"),
                                             fmt::join(other_members_, ", ")));
    }
    if (extents_.size() > 1) {
      report_.warnings.push_back(
          fmt::format("{}: {} traces in one file, each read as a file of its own", path_.string(), extents_.size()));
    }
    report_.description = fmt::format("PyTorch trace (Kineto), {}", counted(events_, "event"));
    return std::move(report_);
  }

  const std::filesystem::path& path_;
  TraceSink& sink_;
  const std::atomic<bool>* cancel_;
  std::unique_ptr<KinetoDocumentReader> current_;
  ImportReport report_;
  std::size_t documents_ = 0;
  std::size_t processes_ = 0;  // that stay in the sink
  std::int64_t events_ = 0;
  std::vector<KinetoExtent> extents_;
  std::vector<std::string> other_members_;
  std::optional<Error> refusal_;
};

}  // namespace

ImportReport import_kineto(const std::filesystem::path& path, TraceSink& sink, const std::atomic<bool>* cancel) {
  return FileImport(path, sink, cancel).run();
}

}  // namespace swinscope
