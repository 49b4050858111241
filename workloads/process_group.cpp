#include "workloads/process_group.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "workloads/error.h"
#include "workloads/gloo_module.h"
#include "workloads/rank_watch.h"

namespace swinscope {
namespace {

constexpr std::chrono::seconds kConnectTimeout{15};
constexpr std::chrono::hours kOperationTimeout{24};
// A connection breaks at once when its process ends; that process is seen gone a moment later.
constexpr std::chrono::seconds kExplainPatience{5};
constexpr std::chrono::seconds kLeavePatience{10};
constexpr const char* kModuleName = "libswinscope_gloo.so";

// Beside the program in the build tree, or where it is installed.
std::filesystem::path find_module() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* relative : {"../lib/swinscope", "../lib"}) {
    std::filesystem::path candidate = folder / relative / kModuleName;
    if (std::filesystem::exists(candidate, error)) return candidate;
  }
  throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{} was not found", kModuleName),
                      "this build has no support for several CPU ranks",
                      "install libgloo-dev and build again, or run one rank");
}

// The module stays loaded: its code may be on the stack of Gloo's threads until the process ends.
OpenGlooFunction load_module() {
  const std::filesystem::path path = find_module();
  const auto fail = [&path](const std::string& why) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be opened", path.string()), why,
                        "is libgloo0 installed?");
  };
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) fail(::dlerror());
  const auto open = reinterpret_cast<OpenGlooFunction>(::dlsym(module, kOpenGlooSymbol));
  if (open == nullptr) fail(::dlerror());
  return open;
}

[[noreturn]] void give_up(const std::string& failure) {
  // The main thread is somewhere in a computation: there is no way to unwind it from here.
  std::fputs(
      format_error(WorkloadError(WorkloadErrorKind::kFailure, failure, {}, "see that rank's own messages")).c_str(),
      stderr);
  std::_Exit(static_cast<int>(WorkloadErrorKind::kFailure));
}

class GlooProcessGroup : public ProcessGroup {
 public:
  GlooProcessGroup(const RankInfo& info, const RankConfiguration& configuration, const RendezvousOptions& options)
      : meeting_(meet_ranks(info, configuration, options)), exceptions_(std::uncaught_exceptions()) {
    WatchOptions watch;
    watch.on_failure = [this] { abort(); };
    watch.on_stuck = give_up;
    watch_ = std::make_unique<RankWatch>(meeting_, std::move(watch));
    OpenGlooFunction open = nullptr;
    try {
      open = load_module();
    } catch (const WorkloadError& error) {
      report_failure(error.what());
      throw;
    }
    guarded([this, open] { connect(open); });
  }

  ~GlooProcessGroup() override {
    try {
      if (std::uncaught_exceptions() == exceptions_) watch_->leave(kLeavePatience);
    } catch (const std::exception&) {
      // The others will say that this rank died; there is nobody else to tell.
    }
    watch_.reset();
  }
  GlooProcessGroup(const GlooProcessGroup&) = delete;
  GlooProcessGroup& operator=(const GlooProcessGroup&) = delete;
  GlooProcessGroup(GlooProcessGroup&&) = delete;
  GlooProcessGroup& operator=(GlooProcessGroup&&) = delete;

  int rank() const override { return meeting_.info.rank; }
  int size() const override { return meeting_.info.size; }
  const RankMeeting& meeting() const override { return meeting_; }

  void all_reduce_sum(std::span<float> values) override {
    guarded([&] { transport_->all_reduce_sum(values.data(), values.size()); });
  }
  void all_reduce_sum(std::span<double> values) override {
    guarded([&] { transport_->all_reduce_sum(values.data(), values.size()); });
  }
  void broadcast(std::span<std::byte> bytes, int root) override {
    guarded([&] { transport_->broadcast(bytes.data(), bytes.size(), root); });
  }
  void barrier() override {
    guarded([&] { transport_->barrier(); });
  }

  void report_failure(const char* reason) noexcept override {
    try {
      watch_->report(fmt::format("{} failed: {}", describe(meeting_.own()), reason));
    } catch (const std::exception&) {
      // As in the destructor.
    }
  }

 private:
  void connect(OpenGlooFunction open) {
    GlooOptions gloo;
    gloo.rank = meeting_.info.rank;
    gloo.size = meeting_.info.size;
    gloo.folder = meeting_.folder / "gloo";
    gloo.host = meeting_.one_machine() ? "127.0.0.1" : meeting_.own().host;
    gloo.connect_timeout = kConnectTimeout;
    gloo.operation_timeout = kOperationTimeout;
    std::filesystem::create_directories(gloo.folder);
    std::array<char, 512> message{};
    std::unique_ptr<RankTransport> transport(open(gloo, message.data(), message.size()));
    if (!transport) {
      throw WorkloadError(WorkloadErrorKind::kFailure,
                          fmt::format("rank {} could not connect to the others", meeting_.info.rank), message.data());
    }
    const std::lock_guard lock(mutex_);
    transport_ = std::move(transport);
    if (aborted_) transport_->abort();
  }

  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    if (transport_) transport_->abort();
  }

  // Runs an operation; if it breaks, finds out whose fault it is and passes that on.
  void guarded(const std::function<void()>& operation) {
    try {
      operation();
    } catch (const std::exception& broken) {
      const std::optional<std::string> failure = watch_->failure(kExplainPatience);
      if (!failure) {
        report_failure(broken.what());
        throw;
      }
      watch_->report(*failure);
      throw WorkloadError(WorkloadErrorKind::kFailure, *failure, fmt::format("rank {} was waiting for it", rank()),
                          "see that rank's own messages");
    }
  }

  RankMeeting meeting_;
  int exceptions_;
  std::mutex mutex_;
  bool aborted_ = false;
  std::unique_ptr<RankTransport> transport_;
  std::unique_ptr<RankWatch> watch_;  // last: its thread uses the others
};

}  // namespace

std::unique_ptr<ProcessGroup> connect_ranks(const RankInfo& info, const RankConfiguration& configuration,
                                            const RendezvousOptions& options) {
  // Gloo writes to ranks that may just have died: that is to fail, and the error says which one it was.
  std::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<GlooProcessGroup>(info, configuration, options);
}

}  // namespace swinscope
