#include "workloads/process_group.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "workloads/device_communicator.h"
#include "workloads/error.h"
#include "workloads/gloo_module.h"
#include "workloads/rank_watch.h"
#include "workloads/shared_module.h"

namespace swinscope {
namespace {

constexpr std::chrono::seconds kConnectTimeout{15};
constexpr std::chrono::hours kOperationTimeout{24};
// A connection breaks at once when its process ends; that process is seen gone a moment later.
constexpr std::chrono::seconds kExplainPatience{5};
constexpr std::chrono::seconds kLeavePatience{10};
// For kinds of connections that know no time limit of their own.
constexpr std::chrono::seconds kLongestConnect{120};

std::unique_ptr<RankTransport> open_gloo(const RankMeeting& meeting) {
  const SharedModule module("libswinscope_gloo.so", "this build has no support for several CPU ranks",
                            "install libgloo-dev and build again, or run one rank");
  const auto open = module.find<OpenGlooFunction>(kOpenGlooSymbol);
  GlooOptions gloo;
  gloo.rank = meeting.info.rank;
  gloo.size = meeting.info.size;
  gloo.folder = meeting.folder / "gloo";
  gloo.host = meeting.one_machine() ? "127.0.0.1" : meeting.own().host;
  gloo.connect_timeout = kConnectTimeout;
  gloo.operation_timeout = kOperationTimeout;
  std::filesystem::create_directories(gloo.folder);
  std::array<char, 512> message{};
  std::unique_ptr<RankTransport> transport(open(gloo, message.data(), message.size()));
  if (!transport) {
    throw WorkloadError(WorkloadErrorKind::kFailure,
                        fmt::format("rank {} could not connect to the others", meeting.info.rank), message.data());
  }
  return transport;
}

[[noreturn]] void give_up(const std::string& failure) {
  // The main thread is somewhere in a computation: there is no way to unwind it from here.
  std::fputs(
      format_error(WorkloadError(WorkloadErrorKind::kFailure, failure, {}, "see that rank's own messages")).c_str(),
      stderr);
  std::_Exit(static_cast<int>(WorkloadErrorKind::kFailure));
}

class ConnectedRanks : public ProcessGroup, private DeviceCommunicator {
 public:
  ConnectedRanks(const RankInfo& info, const RankConfiguration& configuration, const RendezvousOptions& options,
                 const OpenTransport& open)
      : meeting_(meet_ranks(info, configuration, options)), exceptions_(std::uncaught_exceptions()) {
    WatchOptions watch;
    watch.on_failure = [this] { abort(); };
    watch.on_stuck = give_up;
    watch.standstill = options.standstill;
    watch.trouble = [this] { return trouble(); };
    watch_ = std::make_unique<RankWatch>(meeting_, std::move(watch));
    guarded([&] { connect(open); });
  }

  ~ConnectedRanks() override {
    try {
      if (std::uncaught_exceptions() == exceptions_) watch_->leave(kLeavePatience);
    } catch (const std::exception&) {
      // The others will say that this rank died; there is nobody else to tell.
    }
    watch_.reset();
  }
  ConnectedRanks(const ConnectedRanks&) = delete;
  ConnectedRanks& operator=(const ConnectedRanks&) = delete;
  ConnectedRanks(ConnectedRanks&&) = delete;
  ConnectedRanks& operator=(ConnectedRanks&&) = delete;

  int rank() const override { return meeting_.info.rank; }
  int size() const override { return meeting_.info.size; }
  const RankMeeting& meeting() const override { return meeting_; }
  void advance() noexcept override { watch_->advance(); }

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
  DeviceCommunicator* gpus() override { return transport_->device() == nullptr ? nullptr : this; }

  void report_failure(const char* reason) noexcept override {
    try {
      watch_->report(fmt::format("{} failed: {}", describe(meeting_.own()), reason));
    } catch (const std::exception&) {
      // As in the destructor.
    }
  }

 private:
  void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    on_gpus([&](DeviceTransport& gpus) { gpus.all_reduce_sum(values, count, type, stream); });
  }
  void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) override {
    on_gpus([&](DeviceTransport& gpus) { gpus.broadcast(data, bytes, root, stream); });
  }
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    std::shared_ptr<void> memory;
    on_gpus([&](DeviceTransport& gpus) { memory = gpus.allocate(bytes); });
    return memory;
  }
  void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                  cuda::Stream stream) override {
    on_gpus([&](DeviceTransport& gpus) { gpus.all_to_all(parts, received, count, type, stream); });
  }
  void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    on_gpus([&](DeviceTransport& gpus) { gpus.all_gather(parts, count, type, stream); });
  }
  void require_all() override {
    if (has_failed()) guarded([] { throw std::runtime_error("a rank has failed"); });
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return aborted_;
  }

  void connect(const OpenTransport& open) {
    std::unique_ptr<RankTransport> transport = open(meeting_, [this] { return has_failed(); });
    const std::lock_guard lock(mutex_);
    transport_ = std::move(transport);
    if (aborted_) transport_->abort();
  }

  std::optional<std::string> trouble() {
    const std::lock_guard lock(mutex_);
    if (!transport_ && std::chrono::steady_clock::now() - begun_ > kLongestConnect)
      return fmt::format("it has not connected to the others after {} s", kLongestConnect.count());
    return transport_ && transport_->device() != nullptr ? transport_->device()->trouble() : std::nullopt;
  }

  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    if (transport_) transport_->abort();
  }

  void on_gpus(const std::function<void(DeviceTransport&)>& operation) {
    guarded([&] {
      try {
        operation(*transport_->device());
      } catch (const std::runtime_error& error) {
        throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: {}", describe(meeting_.own()), error.what()),
                            {}, "NCCL_DEBUG=INFO in the environment makes NCCL say more");
      }
    });
  }

  // Runs an operation; if it breaks, finds out whose fault it is and passes that on.
  void guarded(const std::function<void()>& operation) {
    watch_->advance();  // of two that wait for a third, both have come to the operation
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
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  bool aborted_ = false;
  std::unique_ptr<RankTransport> transport_;
  std::unique_ptr<RankWatch> watch_;  // last: its thread uses the others
};

}  // namespace

std::unique_ptr<ProcessGroup> connect_ranks(const RankInfo& info, const RankConfiguration& configuration,
                                            const RendezvousOptions& options) {
  return connect_ranks(
      info, configuration, options,
      [](const RankMeeting& meeting, const std::function<bool()>& /*broken*/) { return open_gloo(meeting); });
}

std::unique_ptr<ProcessGroup> connect_ranks(const RankInfo& info, const RankConfiguration& configuration,
                                            const RendezvousOptions& options, const OpenTransport& open) {
  // Gloo writes to ranks that may just have died: that is to fail, and the error says which one it was.
  std::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<ConnectedRanks>(info, configuration, options, open);
}

}  // namespace swinscope
