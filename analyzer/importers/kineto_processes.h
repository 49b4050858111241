// The processes of a PyTorch trace: their ids, which may be names, and what says which of them are ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/importers/kineto_event.h"

namespace swinscope {

// Whether an event is of the host, is a step of torch.profiler's schedule, or makes a GPU work.
bool is_host(KinetoKind kind);
bool is_step(const KinetoEvent& event, KinetoKind kind);
bool is_launch(const KinetoEvent& event, KinetoKind kind);

// Processes of a trace by number: those that are numbers are themselves, the others are negative.
class ProcessKeys {
 public:
  std::int64_t key(const KinetoEvent& event);
  std::string name(std::int64_t key) const;
  // The process id to store: of "[TP00] 4000", 4000.
  std::uint64_t pid(std::int64_t key) const;

 private:
  std::int64_t last_ = 0;  // of the text before
  std::string last_text_;
  std::map<std::string, std::int64_t, std::less<>> keys_;
  std::vector<std::string> names_;
};

// Sees whether more than one process is a rank, while events go by.
class RankEvidence {
 public:
  void take(const KinetoEvent& event, KinetoKind kind, std::int64_t process);
  bool several() const { return with_steps_.size() > 1 || with_launches_.size() > 1; }

 private:
  std::set<std::int64_t> with_steps_;
  std::set<std::int64_t> with_launches_;
  std::int64_t last_launching_ = INT64_MIN;
};

// What a text says about the rank it belongs to: "rank0 123", "[TP00] 4000", "Rank 3: python".
struct RankLabel {
  std::string identity;  // "" when it says nothing
  std::optional<std::int32_t> number;
  bool says_rank = false;
};
RankLabel parse_rank_label(std::string_view text);

}  // namespace swinscope
