// The end of a document: whether it can be used, what is said about it, and the facts of its ranks.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/importers/json_damage.h"
#include "analyzer/importers/kineto_document.h"
#include "analyzer/importers/kineto_facts.h"
#include "store/utf8.h"

namespace swinscope {

// A trace with facts of PyTorch may be empty; events none of which can be used are no trace.
std::optional<Error> KinetoDocumentReader::refusal(const KinetoDocument& document, const KinetoFacts& facts) const {
  const JsonDocument& json = document.json;
  const bool is_json = json.complete && !json.broken_skeleton && check_json(json.skeleton).state == JsonState::kWhole;
  if (!json.found_events && !is_json) {
    const std::string cause = !document.damage.empty() ? document.damage
                              : json.complete          ? "it is no valid JSON"
                                                       : "the file is cut off before its \"traceEvents\"";
    return Error(ErrorKind::kInput, fmt::format("{}: no event can be read", path_), cause,
                 "copy or export the trace again");
  }
  const std::int64_t lost = damaged_ + json.lost_events;
  const bool nearly_nothing = extent_.records * 20 < census_.unknown();
  const bool is_foreign =
      !facts.is_pytorch && (census_.known() == 0 ? lost == 0 || census_.unknown() > 0 : nearly_nothing);
  if (!json.found_events || is_foreign) return refuse_foreign(path_, json, census_);
  if (extent_.records > 0 || (census_.known() + census_.unknown() + lost == 0)) return std::nullopt;
  std::string cause = lost > 0 ? "they are damaged" : "";
  for (const auto& [what_and_reason, count] : members_.front()->drops) {
    if (cause.empty()) cause = fmt::format("{}: {}", counted(count, what_and_reason.first), what_and_reason.second);
  }
  return Error(ErrorKind::kInput,
               fmt::format("{}: none of {} can be read", path_, counted(extent_.events + lost, "event")), cause,
               "export the trace again");
}

void KinetoDocumentReader::warn(const KinetoDocument& document, const KinetoFacts& facts, ImportReport& report) {
  const JsonDocument& json = document.json;
  const auto say = [&](const std::string& line) { report.warnings.push_back(fmt::format("{}: {}", path_, line)); };
  if (!json.complete) {
    report.corrupt = true;
    say(fmt::format("{} after {} bytes; the {} before it {} read",
                    document.damage.empty() ? "the file is cut off" : document.damage, document.bytes,
                    counted(extent_.events, "event"), extent_.events == 1 ? "was" : "were"));
  }
  if (!facts.unread.empty()) {
    say(fmt::format("what stands beside the events is damaged; {} cannot be read and stay unknown",
                    fmt::join(facts.unread, ", ")));
  } else if (json.complete && json.broken_skeleton) {
    say("what stands beside the events is damaged; what could be found of rank, GPUs and versions was read");
  }
  if (json.bytes_behind > 0) {
    say(fmt::format("{} behind the end of the trace left out",
                    counted(static_cast<std::int64_t>(json.bytes_behind), "byte")));
  }
  if (parser_.repaired() > 0) {
    say(fmt::format("{} held text that is not UTF-8; its bytes were replaced by U+FFFD",
                    counted(parser_.repaired(), "event")));
  }
  if (is_xpu_) say("the GPU is an Intel XPU; its events are read, what most of its kernels do is not known");
  if (members_.size() > 1) say(fmt::format("{} ranks in one file: {}", members_.size(), plan_.explanation()));
  for (const auto& member : members_) {
    for (const auto& [id, number] : member->records.streams().large())
      say(fmt::format("stream {:#x} is called stream {}", static_cast<std::uint64_t>(id), number));
  }
  if (json.odd_elements > 0) drop("element of traceEvents", "not an object", json.odd_elements);
  if (damaged_ + json.lost_events > 0) drop("event", "the text is damaged and no JSON", damaged_ + json.lost_events);
  if (facts.repeated_gpus > 0) drop("GPU of deviceProperties", "an earlier one has the same id", facts.repeated_gpus);
  warn_of_overlaps(report);
}

void KinetoDocumentReader::warn_of_overlaps(ImportReport& report) {
  StreamOverlaps::Count sum;
  for (const auto& member : members_) {
    const StreamOverlaps::Count count = member->overlaps.count();
    sum.overlapping += count.overlapping;
    sum.impossible += count.impossible;
  }
  if (sum.impossible > 0) {
    const std::string line = fmt::format(
        "{} by more than 1 us, which a GPU cannot do: durations in this trace are wrong",
        sum.overlapping == 1 ? "1 GPU event overlaps another one of its stream"
                             : fmt::format("{} overlap others of their stream", counted(sum.overlapping, "GPU event")));
    report.warnings.push_back(fmt::format("{}: {}", path_, line));
    report.doubts.push_back(line);
  } else if (sum.overlapping > 0) {
    report.warnings.push_back(fmt::format(
        "{}: {} more than 1 us before the one before it on its stream has ended, which only programmatic "
        "dependent launch allows",
        path_,
        sum.overlapping == 1 ? "1 GPU event begins" : fmt::format("{} begin", counted(sum.overlapping, "GPU event"))));
  }
}

RunInfo KinetoDocumentReader::run_of(std::size_t index, const KinetoDocument& document,
                                     const KinetoFacts& facts) const {
  if (own_ && facts.own) return *facts.own;
  RunInfo run = facts.run;
  const std::vector<std::int32_t>& used = members_[index]->records.devices();
  if (members_.size() > 1) {
    run.rank = plan_.ranks()[index].number;
    state_rank(run, plan_.is_labelled() ? "labels in the trace" : "order in the trace");
    std::erase_if(run.gpus, [&](const GpuInfo& gpu) { return std::ranges::find(used, gpu.device) == used.end(); });
  }
  const auto named = parse_rank_label(std::filesystem::path(document.member).filename().string()).number;
  if (named && run.collector.empty()) {
    run.rank = *named;
    state_rank(run, "name in the archive");
  }
  // Times since 1970 that a base is added to as well would be twice as late.
  if (origin_ns_.value_or(0) != 0) run.utc_epoch_ns = *origin_ns_;
  return run;
}

void KinetoDocumentReader::finish_members(const KinetoDocument& document, const KinetoFacts& facts,
                                          const ImportReport& report) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    RunInfo run = run_of(i, document, facts);
    const std::string name = document.member.empty() ? path_ : document.member;
    if (!own_ || !facts.own) run.source_file = replace_invalid_utf8(std::filesystem::path(name).filename().string());
    run.complete = run.complete && document.json.complete;
    for (const std::string& doubt : report.doubts) {
      const NamedValue fact{"doubt", doubt};
      if (std::ranges::find(run.collector, fact) == run.collector.end()) run.collector.push_back(fact);
    }
    for (const auto& [what, count] : members_[i]->drops)
      run.drops.push_back({what.first, count, what.second});
    extent_.pid = i == 0 ? members_[i]->records.pid() : extent_.pid;
    members_[i]->records.finish(std::move(run));
  }
}

std::optional<Error> KinetoDocumentReader::finish(const KinetoDocument& document, ImportReport& report) {
  ImportReport own;
  settle_held(own);
  if (is_survey_) return std::nullopt;
  const KinetoFacts facts = read_kineto_facts(document.json);
  if (auto error = refusal(document, facts)) return error;
  warn(document, facts, own);
  finish_members(document, facts, own);
  report.corrupt |= own.corrupt;
  report.warnings.insert(report.warnings.end(), own.warnings.begin(), own.warnings.end());
  report.doubts.insert(report.doubts.end(), own.doubts.begin(), own.doubts.end());
  return std::nullopt;
}

}  // namespace swinscope
