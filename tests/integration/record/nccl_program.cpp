// nccl_program VERSION SCENARIO [FILE]: plays NCCL's part beside the profiler plugin that NCCL_PROFILER_PLUGIN names,
// with the calls in the order and on the threads of NCCL itself. Prints what the plugin wants to hear of. Status 1 when
// the plugin reports a failure or cannot be loaded, 2 when it hands out a handle where it must not, or none where it
// must.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/nccl/nccl_abi.h"

namespace {

using namespace swinscope::nccl;  // NOLINT(google-build-using-namespace): a program of its own

constexpr std::uint64_t kHash = 0xf000000000000002;

void require(bool holds, int status) {
  if (!holds) _exit(status);
}

template <typename Descriptor>
constexpr bool kKnowsCalls = std::is_same_v<Descriptor, DescriptorV5>;

// One communicator of one rank.
template <typename PluginType, typename Descriptor>
class Communicator {
 public:
  Communicator(const PluginType& plugin, const char* name, std::uint64_t hash, int rank, int ranks) : plugin_(plugin) {
    if constexpr (kKnowsCalls<Descriptor>) {
      require(plugin.init(&context_, hash, &wanted_, name, 1, ranks, rank, nullptr) == 0, 1);
    } else {
      require(plugin.init(&context_, &wanted_, name, hash, 1, ranks, rank, nullptr) == 0, 1);
    }
  }

  int wanted() const { return wanted_; }
  void* context() const { return context_; }
  void finalize() { require(plugin_.finalize(context_) == 0, 1); }

  void* start(std::uint64_t type, void* parent, const auto& fill) {
    Descriptor event;
    std::memset(static_cast<void*>(&event), 0xEE, sizeof(event));  // what the type does not have is anything
    event.type = static_cast<decltype(event.type)>(type);
    event.parent = parent;
    fill(event);
    void* handle = nullptr;
    require(plugin_.start_event(context_, &handle, &event) == 0, 1);
    return handle;
  }
  void stop(void* handle) { require(plugin_.stop_event(handle) == 0, 1); }
  void state(void* handle, int state, StateArguments* arguments) {
    require(plugin_.record_state(handle, state, arguments) == 0, 1);
  }

  void channel(void* operation, std::uint8_t number, std::uint64_t from, std::uint64_t to) {
    void* handle = start(kKernelChannel, operation, [&](Descriptor& e) { e.channel = {number, from}; });
    StateArguments end{to};
    state(handle, kKernelChannelStop, &end);
    stop(handle);
  }

  // The calls of a group until the launch of their kernel: the parent of the operations, null where there is none.
  struct Call {
    void* group = nullptr;
    void* call = nullptr;
  };
  Call call(bool is_captured, bool is_collective = true) {
    Call made;
    if constexpr (kKnowsCalls<Descriptor>) {
      made.group = start(kCallGroup, nullptr, [&](Descriptor& e) { e.call_group = {is_captured, 1}; });
      made.call = start(is_collective ? kCollectiveCall : kPointToPointCall, made.group, [&](Descriptor& e) {
        if (is_collective) {
          e.collective_call = {"AllReduce", 1, "ncclFloat32", 0, nullptr, is_captured};
        } else {
          e.point_to_point_call = {"Send", 1, "ncclFloat32", nullptr, is_captured};
        }
      });
      require(made.group != nullptr && made.call != nullptr, 2);
      stop(made.call);
      void* launch = start(kKernelLaunch, made.group, [](Descriptor& /*e*/) {});
      require(launch != nullptr, 2);
      stop(launch);
      stop(made.group);
    }
    return made;
  }

  void* plan() {
    return start(kPlan, nullptr, [](Descriptor& /*e*/) {});
  }
  void* collective(void* call, void* plan, std::uint64_t sequence, const char* function = "AllReduce") {
    const CollectiveV4 said{sequence, function, nullptr, nullptr, 1024, 0, "ncclFloat32", 2, 16, "RING", "LL"};
    void* parent = kKnowsCalls<Descriptor> ? call : plan;
    void* handle = start(kCollective, parent, [&](Descriptor& e) {
      if constexpr (kKnowsCalls<Descriptor>) {
        e.collective = {said, plan};
      } else {
        e.collective = said;
      }
    });
    require(handle != nullptr, 2);
    return handle;
  }
  void* send(void* call, void* plan, int peer) {
    const PointToPointV4 said{"Send", nullptr, "ncclInt8", 64, peer, 1};
    return start(kPointToPoint, kKnowsCalls<Descriptor> ? call : plan, [&](Descriptor& e) {
      if constexpr (kKnowsCalls<Descriptor>) {
        e.point_to_point = {said, plan};
      } else {
        e.point_to_point = said;
      }
    });
  }

 private:
  const PluginType& plugin_;
  void* context_ = nullptr;
  int wanted_ = -1;
};

template <typename PluginType, typename Descriptor>
struct Scenarios {
  using Comm = Communicator<PluginType, Descriptor>;
  const PluginType& plugin;

  // Two communicators, a collective, a captured one that is replayed twice, a send; what is not to be recorded; one end
  // that never comes.
  void script() const {
    Comm first(plugin, "dp", kHash, 1, 2);
    Comm second(plugin, nullptr, 5, 0, 4);
    std::printf("wanted %d\n", first.wanted());
    const auto eager = first.call(false);
    void* plan = first.plan();
    void* operation = first.collective(eager.call, plan, 7);
    first.stop(operation);
    first.stop(plan);
    // NCCL's own thread, when the GPU has got there: the operation has been stopped, its handle is used on.
    std::thread([&] {
      first.channel(operation, 0, 1000, 1900);
      first.channel(operation, 1, 1010, 1950);
    }).join();

    const auto captured = first.call(true);
    for (std::uint64_t replay = 0; replay < 2; ++replay) {
      std::thread([&] {  // of the driver
        void* again = first.plan();
        first.stop(first.collective(captured.call, again, 8 + replay));
        first.stop(again);
      })
          .join();
    }
    const auto sent = second.call(false, false);
    void* of_send = second.plan();
    second.stop(second.send(sent.call, of_send, 3));
    nothing_of(first, operation);
    copy_engine(first, eager.call);
    first.collective(eager.call, nullptr, 99, "Broadcast");  // is never stopped
    second.finalize();
    first.finalize();
  }

  void copy_engine(Comm& comm, void* call) const {
    if constexpr (kKnowsCalls<Descriptor>) {
      if ((static_cast<std::uint64_t>(comm.wanted()) & kCopyEngineCollective) == 0) return;
      comm.stop(comm.start(kCopyEngineCollective, call, [](Descriptor& e) {
        e.copy_engine = {3, "AllGather", nullptr, nullptr, 32, 0, "ncclInt8"};
      }));
    }
  }

  // What says nothing.
  void nothing_of(Comm& comm, void* operation) const {
    constexpr std::uint64_t kProxyOperation = 8;
    require(comm.start(kProxyOperation, operation, [](Descriptor& /*e*/) {}) == nullptr, 2);
    comm.stop(nullptr);
    StateArguments arguments{1};
    comm.state(nullptr, kKernelChannelStop, &arguments);
    comm.state(operation, kKernelChannelStop, &arguments);  // no channel
    comm.state(operation, 19, nullptr);
    require(plugin.start_event(comm.context(), nullptr, nullptr) == 0, 1);
    void* handle = &comm;
    require(plugin.start_event(comm.context(), &handle, nullptr) == 0 && handle == nullptr, 2);
    require(plugin.finalize(nullptr) == 0, 1);
  }

  void threads() const {
    constexpr int kThreads = 16;
    constexpr std::uint64_t kOperations = 250;
    std::vector<std::thread> all;
    all.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      all.emplace_back([this, t] {
        Comm comm(plugin, "thread", static_cast<std::uint64_t>(t), t, kThreads);
        for (std::uint64_t i = 0; i < kOperations; ++i) {
          const auto call = comm.call(false);
          void* plan = comm.plan();
          void* operation = comm.collective(call.call, plan, i);
          comm.stop(operation);
          for (std::uint8_t c = 0; c < 2; ++c)
            comm.channel(operation, c, 1000 * i + 1, 1000 * i + 500);
        }
        comm.finalize();
      });
    }
    for (std::thread& thread : all)
      thread.join();
  }

  void fork_with_it() const {
    Comm comm(plugin, "forked", kHash, 0, 1);
    if (const pid_t child = fork(); child == 0) {
      comm.stop(comm.collective(nullptr, comm.plan(), 1));
      std::exit(0);
    } else {
      int status = 0;
      waitpid(child, &status, 0);
      require(status == 0, 1);
    }
    comm.stop(comm.collective(nullptr, comm.plan(), 2));
    comm.finalize();
  }

  // Any handles, any order: nothing may be touched behind them.
  void random() const {
    std::mt19937_64 numbers(42);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
    Comm comm(plugin, "random", kHash, 0, 1);
    std::vector<void*> handles = {nullptr};
    const auto any = [&] {
      return numbers() % 4 == 0 ? reinterpret_cast<void*>(static_cast<std::uintptr_t>(numbers()))  // NOLINT
                                : handles[numbers() % handles.size()];
    };
    for (int i = 0; i < 20'000; ++i) {
      StateArguments arguments{numbers()};
      switch (numbers() % 4) {
        case 0:
          comm.stop(any());
          break;
        case 1:
          comm.state(any(), static_cast<int>(numbers() % 32), numbers() % 8 == 0 ? nullptr : &arguments);
          break;
        default:
          handles.push_back(any_event(comm, numbers() % 16, any(), any()));
      }
    }
    comm.finalize();
  }

  // A rank stands within a collective that the other one has launched. That one's watchdog finds that it takes too
  // long, and aborts, as PyTorch's does; FILE tells it when.
  void standstill(const char* file) const {
    const char* const text = std::getenv("RANK");
    const int rank = text == nullptr ? 0 : std::atoi(text);
    Comm comm(plugin, "dp", kHash, rank, 2);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto call = comm.call(false);
      void* plan = comm.plan();
      void* operation = comm.collective(call.call, plan, i);
      if (i == 2 && rank == 1) {
        std::fclose(std::fopen(file, "we"));
        while (true)
          pause();
      }
      comm.stop(operation);
      comm.stop(plan);
      if (i < 2) comm.channel(operation, 0, 1000 * i, 1000 * i + 500);  // the last one's kernel waits for the peer
    }
    while (access(file, F_OK) != 0)
      usleep(1000);
    std::abort();
  }

  static void* any_event(Comm& comm, std::uint64_t bit, void* parent, void* plan) {
    switch (std::uint64_t{1} << bit) {
      case kCollective:
        return comm.collective(parent, plan, bit);
      case kPointToPoint:
        return comm.send(parent, plan, 1);
      case kCopyEngineCollective:
        return nullptr;
      default:
        return comm.start(std::uint64_t{1} << bit, parent, [](Descriptor& /*e*/) {});
    }
  }

  void run(const std::string& scenario, const char* file) const {
    if (scenario == "standstill") standstill(file);
    if (scenario == "script") script();
    if (scenario == "threads") threads();
    if (scenario == "fork") fork_with_it();
    if (scenario == "random") random();
    if (scenario == "unrecorded") {
      Comm comm(plugin, "unrecorded", kHash, 0, 1);
      std::printf("wanted %d context %d\n", comm.wanted(), static_cast<int>(comm.context() != nullptr));
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("NCCL_PROFILER_PLUGIN");
  if (argc < 3 || path == nullptr) return 1;
  // As NCCL does with its first communicator and its last.
  for (int time = 0; time < 2; ++time) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* plugin = library == nullptr ? nullptr : dlsym(library, (std::string("ncclProfiler_v") + argv[1]).c_str());
    if (plugin == nullptr) return 1;
    if (time == 1) {
      if (std::string(argv[1]) == "4") {
        Scenarios<PluginV4, DescriptorV4>{*static_cast<PluginV4*>(plugin)}.run(argv[2], argv[argc - 1]);
      } else {
        Scenarios<PluginV5, DescriptorV5>{*static_cast<PluginV5*>(plugin)}.run(argv[2], argv[argc - 1]);
      }
    }
    dlclose(library);
  }
  return 0;
}
