// Reads the events of one document of a PyTorch trace: decides which can be used, when they happened, and whose they
// are.
//
// Begin and end events become ranges. Times that are microseconds since 1970 (PyTorch before 2.4) are stored since the
// second in which the trace begins. Events at time zero, hours before all others, were never timed: they are left out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/importers/import_report.h"
#include "analyzer/importers/kineto_event.h"
#include "analyzer/importers/kineto_facts.h"
#include "analyzer/importers/kineto_foreign.h"
#include "analyzer/importers/kineto_own.h"
#include "analyzer/importers/kineto_pairs.h"
#include "analyzer/importers/kineto_ranks.h"
#include "analyzer/importers/kineto_records.h"
#include "analyzer/importers/kineto_stream.h"
#include "analyzer/importers/stream_overlaps.h"
#include "store/error.h"
#include "store/sink.h"

namespace swinscope {

// Thrown while a document is read as one rank: it is several.
struct SeveralRanks {};

// What was in a document; two that are equal repeat each other.
struct KinetoExtent {
  std::int64_t events = 0;
  std::int64_t records = 0;
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
  std::uint64_t pid = 0;
  bool operator==(const KinetoExtent&) const = default;
};

class KinetoDocumentReader {
 public:
  // Only sees which ranks there are.
  explicit KinetoDocumentReader(std::string path);
  // Reads one rank; take() throws SeveralRanks when there are more.
  KinetoDocumentReader(std::string path, TraceSink& sink);
  // Reads the ranks of a plan, if it has any.
  KinetoDocumentReader(std::string path, TraceSink& sink, RankPlan plan);

  void take(std::string_view text);
  // So many flow arrows, of which nothing is kept.
  void take_arrows(std::int64_t count);

  // What refuses the document as a whole, when there is something.
  std::optional<Error> finish(const KinetoDocument& document, ImportReport& report);
  RankPlan plan() const { return survey_.decide(path_, keys_); }
  KinetoExtent extent() const { return extent_; }
  // How many processes it has added to the sink.
  std::size_t processes() const { return members_.size() + (own_records_ ? own_records_->launchers() : 0); }

 private:
  // A rank on its way into the sink.
  struct Member {
    Member(RecordSink& to, std::uint64_t pid) : sink(to), records(to, pid) {}
    RecordSink& sink;
    KinetoRecords records;
    std::map<std::pair<std::string, std::string>, std::int64_t> drops;
    std::map<std::pair<std::int32_t, std::uint32_t>, std::uint32_t> lanes;  // of device and stream, numbered
    StreamOverlaps overlaps;
  };
  void take_damaged(std::string_view text);
  void take_event(const KinetoEvent& event, std::string_view text);
  void take_complete(const KinetoEvent& event, KinetoKind kind);
  void take_mark(const KinetoEvent& event);
  void take_name(const KinetoEvent& event);
  void take_own(std::string_view name, std::string_view text);
  void begin_range(const KinetoEvent& event, std::string_view text);
  void end_range(const KinetoEvent& event);
  bool hold(const KinetoEvent& event, std::string_view text);
  void replay(const KeptEvent& kept);
  void settle_held(ImportReport& report);
  bool is_usable(const KinetoEvent& event);
  void set_origin(std::int64_t ts_ns);
  std::int64_t time_of_cuda_event(std::int64_t ts_ns) const;
  void extend(std::int64_t start_ns, std::int64_t end_ns);
  std::size_t member_of(const KinetoEvent& event, KinetoKind kind, std::int64_t process);
  void note_overlap(Member& member, const KinetoEvent& event, std::int64_t start_ns, std::int64_t end_ns);
  void drop(const std::string& what, const std::string& reason, std::int64_t count = 1, std::size_t member = 0);

  std::optional<Error> refusal(const KinetoDocument& document, const KinetoFacts& facts) const;
  void warn(const KinetoDocument& document, const KinetoFacts& facts, ImportReport& report);
  void warn_of_overlaps(ImportReport& report);
  void finish_members(const KinetoDocument& document, const KinetoFacts& facts, const ImportReport& report);
  RunInfo run_of(std::size_t member, const KinetoDocument& document, const KinetoFacts& facts) const;

  std::string path_;
  TraceSink* sink_ = nullptr;
  RankPlan plan_;
  bool is_survey_ = false;
  bool is_planned_ = false;
  KinetoEventParser parser_;
  ProcessKeys keys_;
  KinetoCensus census_;
  RankEvidence evidence_;
  RankSurvey survey_;
  std::vector<std::unique_ptr<Member>> members_;
  std::int64_t order_ = 0;
  std::int64_t damaged_ = 0;
  std::optional<std::int64_t> origin_ns_;
  KinetoExtent extent_;
  KinetoPairs pairs_;
  std::size_t held_bytes_ = 0;
  std::vector<KeptEvent> held_;
  bool is_replaying_ = false;
  bool is_xpu_ = false;
  std::optional<OwnExport> own_;  // of a file that we exported
  std::optional<OwnRecords> own_records_;
};

}  // namespace swinscope
