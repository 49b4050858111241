#include "analyzer/importers/kineto_document.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/importers/json_damage.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Times beyond this cannot be real, and a stored trace with them would not be read back.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;
// Times since 1970 are later than May 2014 in any PyTorch trace.
constexpr std::int64_t kFirstEpochNs = 1'400'000'000'000'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kHourNs = 3600 * kSecondNs;
// Texts of events that wait for the other times to be known.
constexpr std::size_t kMaxHeldBytes = std::size_t{64} << 20;
// A damaged file can invent any number of reasons.
constexpr std::size_t kMaxReasons = 64;

std::string what_of(const KinetoEvent& event) {
  return event.category.empty() ? "event" : fmt::format("{} event", cut_text(event.category, 20));
}

std::string_view reason_of_category(std::string_view category) {
  if (category.starts_with("mtia")) return "the work of MTIA accelerators is not read";
  if (category.starts_with("hpu")) return "the work of Gaudi accelerators is not read";
  return "this kind of event is not read";
}

}  // namespace

KinetoDocumentReader::KinetoDocumentReader(std::string path) : path_(std::move(path)), is_survey_(true) {}

KinetoDocumentReader::KinetoDocumentReader(std::string path, TraceSink& sink) : path_(std::move(path)), sink_(&sink) {
  members_.push_back(std::make_unique<Member>(sink.add_process(), 0));
}

KinetoDocumentReader::KinetoDocumentReader(std::string path, TraceSink& sink, RankPlan plan)
    : path_(std::move(path)), sink_(&sink), plan_(std::move(plan)), is_planned_(true) {
  for (const RankPlan::Member& rank : plan_.ranks())
    members_.push_back(std::make_unique<Member>(sink.add_process(), rank.pid));
  if (members_.empty()) members_.push_back(std::make_unique<Member>(sink.add_process(), 0));
}

void KinetoDocumentReader::take(std::string_view text) {
  ++order_;
  if (const KinetoEvent* event = parser_.parse(text)) {
    take_event(*event, text);
  } else {
    take_damaged(text);
  }
}

void KinetoDocumentReader::take_arrows(std::int64_t count) {
  census_.take_arrows(count);
  extent_.events += count;
}

// A text that is no event may hold some: two odd quotes hide everything between them.
void KinetoDocumentReader::take_damaged(std::string_view text) {
  SalvageOptions options;
  options.is_last = true;
  const Salvage found = salvage_events(text, options, [&](std::string_view part) {
    if (const KinetoEvent* event = parser_.parse(part)) {
      take_event(*event, part);
    } else {
      ++damaged_;
    }
  });
  damaged_ += found.lost;
}

void KinetoDocumentReader::take_event(const KinetoEvent& event, std::string_view text) {
  const std::string_view phase = event.phase;
  const KinetoKind kind = kineto_kind(event.category);
  if (!is_replaying_) {
    census_.take(event, kind);
    ++extent_.events;
  }
  if (phase == "X") {
    if (kind == KinetoKind::kIgnored || !is_usable(event)) return;
    if (kind != KinetoKind::kCudaEvent && hold(event, text)) return;
    take_complete(event, kind);
  } else if (phase == "B") {
    begin_range(event, text);
  } else if (phase == "E") {
    end_range(event);
  } else if (phase == "M") {
    event.name.starts_with(kOwnPrefix) ? take_own(event.name, text) : take_name(event);
  } else if (phase == "i" || phase == "I") {
    if (is_usable(event) && !hold(event, text)) take_mark(event);
  } else if (phase != "s" && phase != "f" && phase != "t") {
    // Flow arrows repeat what correlation and sequence number say.
    drop(fmt::format("event of phase '{}'", cut_text(phase, 20)), "this kind of event is not read");
  }
}

bool KinetoDocumentReader::is_usable(const KinetoEvent& event) {
  const std::int64_t duration = event.dur_ns.value_or(0);
  const char* reason = nullptr;
  if (event.bad_time) {
    reason = "the time or duration is not a number";
  } else if (!event.ts_ns) {
    reason = "there is no start time";
  } else if (duration < 0) {
    reason = "the duration is negative";
  } else if (*event.ts_ns > kMaxTimeNs - duration) {
    reason = "the time is out of range";
  }
  if (reason != nullptr) drop(what_of(event), reason);
  return reason == nullptr;
}

void KinetoDocumentReader::take_complete(const KinetoEvent& event, KinetoKind kind) {
  if (kind == KinetoKind::kOther) {
    drop(fmt::format("event of category '{}'", cut_text(event.category, 20)),
         std::string(reason_of_category(event.category)));
    return;
  }
  if (event.own.is_derived) return;
  const std::int64_t process = keys_.key(event);
  if (is_survey_) {
    if (is_on_gpu(kind)) survey_.take_gpu(GpuClaim::of(event, kind, process, order_));
    survey_.take_host(event, kind, process, order_);
    return;
  }
  if (!is_planned_ && !own_) {
    evidence_.take(event, kind, process);
    if (evidence_.several()) throw SeveralRanks{};
  }
  const std::size_t index = member_of(event, kind, process);
  if (index == members_.size()) {
    drop(what_of(event), "the rank it belongs to is not known");
    return;
  }
  if (kind == KinetoKind::kCudaEvent) {
    const std::int64_t time_ns = time_of_cuda_event(*event.ts_ns);
    members_[index]->records.add(event, kind, time_ns, time_ns, 0);
    return;
  }
  set_origin(*event.ts_ns);
  const std::int64_t start_ns = *event.ts_ns - *origin_ns_;
  const std::int64_t end_ns = start_ns + event.dur_ns.value_or(0);
  if (start_ns < -kMaxTimeNs || end_ns > kMaxTimeNs) return drop(what_of(event), "the time is out of range");
  extend(start_ns, end_ns);
  is_xpu_ |= event.category.starts_with("xpu_");
  Member& member = *members_[index];
  member.records.add(event, kind, start_ns, end_ns, is_on_gpu(kind) ? 0 : keys_.pid(process));
  const bool is_work = kind == KinetoKind::kKernel || kind == KinetoKind::kCopy || kind == KinetoKind::kSet;
  // Only of foreign recordings is it a question whether they can be right.
  const bool is_foreign = !own_ || own_->source == "kineto";
  if (is_work && event.graph_node == 0 && is_foreign) note_overlap(member, event, start_ns, end_ns);
}

// Before CUDA 12.8 it was not recorded, and the event stands at zero or before all others: it tells nothing of them.
std::int64_t KinetoDocumentReader::time_of_cuda_event(std::int64_t ts_ns) const {
  if (ts_ns <= 0 || !origin_ns_) return kUnknownTime;
  const std::int64_t time_ns = ts_ns - *origin_ns_;
  return time_ns < extent_.first_ns - kHourNs || time_ns > kMaxTimeNs ? kUnknownTime : time_ns;
}

// members_.size() when it is not known.
std::size_t KinetoDocumentReader::member_of(const KinetoEvent& event, KinetoKind kind, std::int64_t process) {
  if (members_.size() == 1) return 0;
  if (!is_on_gpu(kind)) return plan_.of_host(process, order_);
  return plan_.of_gpu(GpuClaim::of(event, kind, process, order_)).value_or(members_.size());
}

void KinetoDocumentReader::note_overlap(Member& member, const KinetoEvent& event, std::int64_t start_ns,
                                        std::int64_t end_ns) {
  // Contexts have streams of their own; those of one process are few.
  const auto device = static_cast<std::int32_t>(event.device.value_or(event.pid.value_or(0)) ^ (event.context << 16));
  const std::uint32_t stream = member.records.stream_of(event);
  const auto [lane, is_new] =
      member.lanes.try_emplace({device, stream}, static_cast<std::uint32_t>(member.lanes.size()));
  member.overlaps.add(lane->second, start_ns, end_ns);
}

void KinetoDocumentReader::set_origin(std::int64_t ts_ns) {
  if (!origin_ns_) origin_ns_ = ts_ns >= kFirstEpochNs ? ts_ns / kSecondNs * kSecondNs : 0;
}

void KinetoDocumentReader::extend(std::int64_t start_ns, std::int64_t end_ns) {
  ++extent_.records;
  extent_.first_ns = std::min(extent_.first_ns, start_ns);
  extent_.last_ns = std::max(extent_.last_ns, end_ns);
}

void KinetoDocumentReader::take_mark(const KinetoEvent& event) {
  if (is_survey_) return;
  set_origin(*event.ts_ns);
  const std::size_t index = members_.size() == 1 ? 0 : plan_.of_host(keys_.key(event), order_);
  const std::int64_t time_ns = *event.ts_ns - *origin_ns_;
  if (time_ns < -kMaxTimeNs || time_ns > kMaxTimeNs) return drop(what_of(event), "the time is out of range");
  members_[index]->records.add_mark(event, time_ns);
}

// Only a file that begins as one of ours is taken for one; it has one rank.
void KinetoDocumentReader::take_own(std::string_view name, std::string_view text) {
  if (is_survey_ || sink_ == nullptr) return;
  KinetoRecords& records = members_.front()->records;
  if (name == kOwnRecords && own_records_) {
    const std::int64_t unused = own_records_->take(text);
    if (unused > 0) drop("row of an export", "it is not as such a row is written", unused);
    return;
  }
  const auto event = read_own_event(text);
  if (event && name == kOwnExport && order_ == 1 && members_.size() == 1) {
    own_ = event->exported;
    origin_ns_ = own_->offset_ns;
    own_records_.emplace(members_.front()->sink, sink_);
    parser_.expect_own();
    records.set_exact(*own_);
  } else if (event && own_) {
    records.define(*event);
  }
}

void KinetoDocumentReader::take_name(const KinetoEvent& event) {
  if (event.label.empty() || own_) return;
  const std::int64_t process = keys_.key(event);
  const bool is_process = event.name == "process_name";
  if (is_survey_) {
    if (is_process || event.name == "process_labels") survey_.take_name(process, event.label);
    return;
  }
  const std::uint64_t pid = keys_.pid(process);
  if (!event.pid && pid == 0) return;  // "Spans", "Traces"
  KinetoRecords& records = members_[members_.size() == 1 ? 0 : plan_.of_host(process, order_)]->records;
  if (is_process) records.name_process(pid, event.label);
  if (event.name == "thread_name") records.name_thread(pid, event);
}

void KinetoDocumentReader::begin_range(const KinetoEvent& event, std::string_view text) {
  if (!is_usable(event) || pairs_.begin(event, text, keys_.key(event), order_)) return;
  drop("event of phase 'B'", "too many are open at once");
}

void KinetoDocumentReader::end_range(const KinetoEvent& event) {
  if (!is_usable(event)) return;
  if (const auto range = pairs_.end(event, keys_.key(event))) {
    replay(*range);
  } else {
    drop("event of phase 'E'", "no event of phase 'B' begins it");
  }
}

// Events at time zero or before are kept until the times of the others are known.
bool KinetoDocumentReader::hold(const KinetoEvent& event, std::string_view text) {
  if (is_replaying_ || *event.ts_ns > 0 || is_survey_ || held_bytes_ + text.size() > kMaxHeldBytes) return false;
  held_bytes_ += text.size();
  held_.push_back({std::string(text), {}, *event.ts_ns, event.dur_ns, order_});
  return true;
}

// Takes a kept event; one that has begun and ended as a whole.
void KinetoDocumentReader::replay(const KeptEvent& kept) {
  std::string text = kept.text;
  text.resize(text.size() + KinetoEventParser::padding(), ' ');
  const KinetoEvent* event = parser_.parse(std::string_view(text).substr(0, kept.text.size()));
  if (event == nullptr) return;
  KinetoEvent whole = *event;
  if (whole.phase == "B") whole.phase = "X";
  whole.dur_ns = kept.dur_ns;
  const std::int64_t order = std::exchange(order_, kept.order);
  const bool was_replaying = std::exchange(is_replaying_, true);
  take_event(whole, kept.text);
  is_replaying_ = was_replaying;
  order_ = order;
}

void KinetoDocumentReader::settle_held(ImportReport& report) {
  if (pairs_.open() > 0) drop("event of phase 'B'", "the end is missing", pairs_.open());
  std::int64_t last_ns = INT64_MIN;
  for (const KeptEvent& kept : held_)
    last_ns = std::max(last_ns, kept.ts_ns);
  const bool are_far = extent_.records > 0 && origin_ns_.has_value() && !held_.empty() &&
                       extent_.first_ns + *origin_ns_ - last_ns > kHourNs;
  const bool are_few = std::ssize(held_) * 2 < extent_.records;
  if (!are_far || !are_few) {
    for (const KeptEvent& kept : held_)
      replay(kept);
    return;
  }
  drop("event at time zero", "hours before all others, as if never timed", std::ssize(held_));
  report.doubts.push_back(fmt::format("{} left out that stand hours before all others: their times are missing",
                                      counted(std::ssize(held_), "event at time zero")));
}

void KinetoDocumentReader::drop(const std::string& what, const std::string& reason, std::int64_t count,
                                std::size_t member) {
  if (is_survey_) return;
  auto& drops = members_[member]->drops;
  if (drops.size() >= kMaxReasons && drops.count({what, reason}) == 0) {
    drops[{"event", "further reasons"}] += count;
  } else {
    drops[{what, reason}] += count;
  }
}

}  // namespace swinscope
