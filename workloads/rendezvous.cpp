#include "workloads/rendezvous.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <random>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr const char* kInvitation = "current";
constexpr const char* kSessionPrefix = "session-";

// First line: session; second: a counter that moves while rank 0 waits; then its card.
struct Invitation {
  std::string session;
  std::uint64_t beat = 0;
  RankCard leader;
};

std::optional<Invitation> parse_invitation(const std::string& text) {
  const std::size_t first = text.find('\n');
  const std::size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
  if (second == std::string::npos) return std::nullopt;
  Invitation invitation;
  invitation.session = text.substr(0, first);
  const char* end = text.data() + second;
  if (std::from_chars(text.data() + first + 1, end, invitation.beat).ptr != end) return std::nullopt;
  const std::optional<RankCard> leader = parse_card(text.substr(second + 1));
  if (!leader) return std::nullopt;
  invitation.leader = *leader;
  return invitation;
}

std::string differences(const RankCard& ours, const RankCard& theirs) {
  std::vector<std::string> parts;
  if (ours.size != theirs.size)
    parts.push_back(fmt::format("number of ranks {} instead of {}", theirs.size, ours.size));
  const auto value_in = [](const RankConfiguration& configuration, const std::string& key) {
    const auto found = configuration.find(key);
    return found == configuration.end() ? std::string("(none)") : found->second;
  };
  RankConfiguration keys = ours.configuration;
  keys.insert(theirs.configuration.begin(), theirs.configuration.end());
  for (const auto& [key, unused] : keys) {
    const std::string mine = value_in(ours.configuration, key);
    const std::string other = value_in(theirs.configuration, key);
    if (mine != other) parts.push_back(fmt::format("{} {} instead of {}", key, other, mine));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Joining, from one rank's side.
class Joining {
 public:
  Joining(const RankInfo& info, const RankConfiguration& configuration, const RendezvousOptions& options)
      : deadline_(Clock::now() + options.patience) {
    meeting_.info = info;
    meeting_.options = options;
    own_ = make_card(info, configuration);
  }

  RankMeeting run() {
    std::error_code error;
    std::filesystem::create_directories(meeting_.options.folder, error);
    if (error) {
      throw WorkloadError(WorkloadErrorKind::kFailure,
                          fmt::format("{}: the ranks cannot meet there", meeting_.options.folder.string()),
                          error.message());
    }
    if (meeting_.options.temporary) check_owner();
    if (meeting_.info.rank == 0) {
      open_session();
    } else {
      find_session();
    }
    if (!write_new_file(meeting_.rank_file(meeting_.info.rank), to_text(own_))) {
      throw WorkloadError(WorkloadErrorKind::kUsage,
                          fmt::format("two processes claim to be rank {}", meeting_.info.rank),
                          "each process needs its own RANK");
    }
    await_cards();
    if (meeting_.info.rank == 0) {
      std::error_code ignored;
      std::filesystem::remove(meeting_.options.folder / kInvitation, ignored);
    }
    return meeting_;
  }

 private:
  // Its name in the folder for everybody can be guessed: whoever made it before could read along, or invite elsewhere.
  void check_owner() const {
    const std::filesystem::path& folder = meeting_.options.folder;
    struct stat info = {};
    const bool is_own = ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
    if (is_own && ::chmod(folder.c_str(), S_IRWXU) == 0) return;
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: the ranks do not meet there", folder.string()),
                        "it belongs to another user, or is no folder",
                        "set --run-dir or SWINSCOPE_RUN_DIR to a folder of your own");
  }

  void open_session() {
    remove_abandoned_sessions(meeting_.options.folder);
    std::random_device random;
    session_ = fmt::format("{}{}-{}-{:08x}", kSessionPrefix, own_.host, own_.process.pid, random());
    meeting_.folder = meeting_.options.folder / session_;
    std::error_code error;
    if (!std::filesystem::create_directory(meeting_.folder, error)) {
      throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be made", meeting_.folder.string()),
                          error.message());
    }
    invite();
  }

  void invite() {
    write_file_atomically(meeting_.options.folder / kInvitation,
                          fmt::format("{}\n{}\n{}", session_, ++beat_, to_text(own_)));
  }

  void find_session() {
    std::optional<Invitation> last;
    while (true) {
      const std::optional<std::string> text = read_small_file(meeting_.options.folder / kInvitation);
      const std::optional<Invitation> invitation = text ? parse_invitation(*text) : std::nullopt;
      if (invitation && leader_lives(*invitation, last)) {
        meeting_.folder = meeting_.options.folder / invitation->session;
        return;
      }
      if (invitation) last = invitation;
      pause({0});
    }
  }

  bool leader_lives(const Invitation& invitation, const std::optional<Invitation>& last) const {
    if (invitation.leader.machine == own_.machine) return is_running(invitation.leader.process);
    return last && last->session == invitation.session && last->beat != invitation.beat;
  }

  void await_cards() {
    meeting_.cards.assign(static_cast<std::size_t>(meeting_.info.size), RankCard{});
    std::vector<bool> present(meeting_.cards.size());
    while (true) {
      std::vector<int> absent;
      for (std::size_t i = 0; i < present.size(); ++i) {
        present[i] = present[i] || read_card(i);
        if (!present[i]) absent.push_back(static_cast<int>(i));
      }
      check_agreement(present);
      check_gpus(present);
      if (absent.empty()) return;
      check_alive(present);
      if (meeting_.info.rank == 0) invite();
      pause(absent);
    }
  }

  bool read_card(std::size_t index) {
    const std::optional<std::string> text = read_small_file(meeting_.rank_file(static_cast<int>(index)));
    const std::optional<RankCard> card = text ? parse_card(*text) : std::nullopt;
    if (card) meeting_.cards[index] = *card;
    return card.has_value();
  }

  void check_agreement(const std::vector<bool>& present) const {
    if (!present[0]) return;
    std::vector<std::string> sentences;
    for (std::size_t i = 1; i < present.size(); ++i) {
      const std::string differs = present[i] ? differences(meeting_.cards[0], meeting_.cards[i]) : std::string();
      if (!differs.empty()) sentences.push_back(fmt::format("rank {} has {}", i, differs));
    }
    if (sentences.empty()) return;
    throw WorkloadError(WorkloadErrorKind::kUsage, "the ranks disagree with rank 0",
                        fmt::format("{}", fmt::join(sentences, "; ")), "start all ranks with the same command line");
  }

  void check_gpus(const std::vector<bool>& present) const {
    for (std::size_t i = 0; i < present.size(); ++i) {
      const RankCard& card = meeting_.cards[i];
      if (!present[i] || card.gpu.id.empty()) continue;
      for (std::size_t other = 0; other < i; ++other) {
        if (!present[other] || meeting_.cards[other].gpu.id != card.gpu.id) continue;
        throw WorkloadError(WorkloadErrorKind::kUsage,
                            fmt::format("{} and rank {} have the same GPU", describe(card), other),
                            fmt::format("it is {}", card.gpu.id),
                            "start no more ranks on a machine than it has GPUs, or give each its own with "
                            "CUDA_VISIBLE_DEVICES");
      }
    }
  }

  void check_alive(const std::vector<bool>& present) const {
    for (std::size_t i = 0; i < present.size(); ++i) {
      const RankCard& card = meeting_.cards[i];
      if (present[i] && card.machine == own_.machine && !is_running(card.process)) {
        throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{} died while the ranks met", describe(card)));
      }
    }
  }

  void pause(const std::vector<int>& absent) const {
    if (Clock::now() >= deadline_) {
      throw WorkloadError(
          WorkloadErrorKind::kFailure,
          fmt::format("rank {} of {} waited {} s in vain for rank {}", meeting_.info.rank, meeting_.info.size,
                      std::chrono::duration_cast<std::chrono::seconds>(meeting_.options.patience).count(),
                      fmt::join(absent, ", ")),
          fmt::format("they did not come to {}", meeting_.options.folder.string()),
          "all ranks must see this folder: set --run-dir or SWINSCOPE_RUN_DIR to a shared one");
    }
    std::this_thread::sleep_for(kPoll);
  }

  RankMeeting meeting_;
  RankCard own_;
  std::string session_;
  std::uint64_t beat_ = 0;
  Clock::time_point deadline_;
};

}  // namespace

RendezvousOptions default_rendezvous(const Environment& environment) {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) base = "/tmp";
  RendezvousOptions options;
  options.folder = base / fmt::format("swinscope-ranks-{}-{}", ::getuid(), launch_key(environment));
  options.temporary = true;
  return options;
}

std::filesystem::path RankMeeting::rank_file(int rank, const std::string& suffix) const {
  return folder / fmt::format("rank{}{}", rank, suffix);
}

bool RankMeeting::one_machine() const {
  return std::ranges::all_of(cards, [this](const RankCard& card) { return card.machine == own().machine; });
}

int RankMeeting::ranks_sharing_cpus() const {
  return static_cast<int>(std::ranges::count_if(
      cards, [this](const RankCard& card) { return card.machine == own().machine && card.cpus == own().cpus; }));
}

void remove_abandoned_sessions(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> abandoned;
  for (const auto& session : std::filesystem::directory_iterator(folder, error)) {
    if (!session.is_directory(error) || !session.path().filename().string().starts_with(kSessionPrefix)) continue;
    // Rank 0's card comes first and stays until all have left, so that a session without one is just being opened.
    const std::optional<std::string> text = read_small_file(session.path() / "rank0");
    const std::optional<RankCard> leader = text ? parse_card(*text) : std::nullopt;
    if (leader && leader->machine == machine_identity() && !is_running(leader->process))
      abandoned.push_back(session.path());
  }
  for (const std::filesystem::path& session : abandoned)
    std::filesystem::remove_all(session, error);
}

RankMeeting meet_ranks(const RankInfo& info, const RankConfiguration& configuration, const RendezvousOptions& options) {
  return Joining(info, configuration, options).run();
}

}  // namespace swinscope
