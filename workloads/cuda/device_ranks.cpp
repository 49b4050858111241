#include "workloads/cuda/device_ranks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/device.h"
#include "workloads/cuda/staged_transport.h"
#include "workloads/error.h"
#include "workloads/nccl_module.h"
#include "workloads/shared_module.h"

namespace swinscope {
namespace {

constexpr std::chrono::milliseconds kPoll{5};
constexpr std::chrono::seconds kIdPatience{60};
constexpr std::size_t kMessage = 1024;
constexpr const char* kMoreHint = "NCCL_DEBUG=INFO in the environment makes NCCL say more";

[[noreturn]] void fail(const RankMeeting& meeting, const char* what, const std::string& cause) {
  throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: {}", describe(meeting.own()), what), cause,
                      kMoreHint);
}

SharedModule open_module() {
  return {
      "libswinscope_nccl.so", "this build has no support for several GPUs: NCCL was not found",
      "install libnccl-dev (or libnccl2, where the program was built with it) and build again; one rank needs no NCCL"};
}

// False without NCCL, too: that is an error once the ranks have met, so that all know of it.
bool nccl_offers_copies() {
  try {
    return open_module().find<NcclOffersCopiesFunction>(kNcclOffersCopiesSymbol)();
  } catch (const WorkloadError&) {
    return false;
  }
}

NcclId make_id(const RankMeeting& meeting, const SharedModule& module) {
  NcclId id{};
  std::array<char, kMessage> message{};
  if (!module.find<MakeNcclIdFunction>(kMakeNcclIdSymbol)(id, message.data(), message.size()))
    fail(meeting, "NCCL cannot be used", message.data());
  write_file_atomically(meeting.rank_file(0, ".nccl"), std::string(id.data(), id.size()));
  return id;
}

NcclId read_id(const RankMeeting& meeting, const std::function<bool()>& broken) {
  const auto deadline = std::chrono::steady_clock::now() + kIdPatience;
  while (true) {
    const std::optional<std::string> text = read_small_file(meeting.rank_file(0, ".nccl"));
    if (text && text->size() == kNcclIdBytes) {
      NcclId id{};
      std::ranges::copy(*text, id.begin());
      return id;
    }
    if (broken() || std::chrono::steady_clock::now() > deadline)
      fail(meeting, "could not connect to the other GPUs", "rank 0 has not told NCCL's unique id");
    std::this_thread::sleep_for(kPoll);
  }
}

std::unique_ptr<RankTransport> open_nccl(const RankMeeting& meeting, const std::function<bool()>& broken,
                                         const GpuRankOptions& options) {
  const SharedModule module = open_module();
  NcclOptions nccl;
  nccl.rank = meeting.info.rank;
  nccl.size = meeting.info.size;
  nccl.most_blocks = options.most_blocks;
  nccl.copies = choose_all_reduce(meeting) == kAllReduceCopies;
  nccl.id = meeting.info.rank == 0 ? make_id(meeting, module) : read_id(meeting, broken);
  std::array<char, kMessage> message{};
  std::unique_ptr<DeviceTransport> transport(
      module.find<OpenNcclFunction>(kOpenNcclSymbol)(nccl, message.data(), message.size()));
  if (!transport) fail(meeting, "could not connect to the other GPUs", message.data());
  return std::make_unique<StagedTransport>(std::move(transport));
}

}  // namespace

RankInfo take_gpu(const RankInfo& info) {
  const int count = cuda::device_count();
  if (count == 0) return info;  // check_device() says what to do
  RankInfo result = info;
  // One for each rank to see: its launcher has chosen. Where ranks share it after all, their meeting refuses.
  result.gpu.index = count == 1 ? 0 : info.local_rank;
  if (result.gpu.index >= count) {
    throw WorkloadError(
        WorkloadErrorKind::kUsage, fmt::format("rank {} of {} has no GPU", info.rank, info.size),
        fmt::format("its number on this machine is {}, counted from 0, and {} GPUs answer", info.local_rank, count),
        "start no more ranks on a machine than it has GPUs");
  }
  cuda::use_device(result.gpu.index);
  result.gpu.id = cuda::device_unique_id();
  return result;
}

std::string own_all_reduce(const GpuRankOptions& options, bool nccl_offers_copies, const Environment& environment) {
  if (options.all_reduce != kAllReduceAuto) return options.all_reduce;
  const char* const disabled = environment("NCCL_P2P_DISABLE");  // a number, as NCCL reads it
  const bool may_access = disabled == nullptr || std::strtol(disabled, nullptr, 0) == 0;
  return nccl_offers_copies && may_access && options.most_blocks == 0 ? kAllReduceAuto : kAllReduceKernels;
}

std::string choose_all_reduce(const RankMeeting& meeting) {
  const std::vector<RankCard>& cards = meeting.cards;
  if (cards.front().gpu.all_reduce == kAllReduceCopies) return kAllReduceCopies;
  if (cards.size() < 2 || !meeting.one_machine()) return kAllReduceKernels;
  for (const RankCard& card : cards) {
    if (card.gpu.all_reduce != kAllReduceAuto) return kAllReduceKernels;
    for (const RankCard& other : cards) {
      if (card.rank != other.rank && std::ranges::find(card.gpu.accessible, other.gpu.id) == card.gpu.accessible.end())
        return kAllReduceKernels;
    }
  }
  return kAllReduceCopies;
}

std::unique_ptr<ProcessGroup> connect_gpus(const RankInfo& info, const RankConfiguration& configuration,
                                           const GpuRankOptions& options) {
  RankInfo own = info;
  own.gpu.all_reduce = options.all_reduce;
  if (options.all_reduce == kAllReduceAuto) {
    own.gpu.all_reduce = own_all_reduce(options, nccl_offers_copies());
    own.gpu.accessible = cuda::accessible_devices();
  }
  return connect_ranks(own, configuration, options.rendezvous,
                       [&](const RankMeeting& meeting, const std::function<bool()>& broken) {
                         return open_nccl(meeting, broken, options);
                       });
}

}  // namespace swinscope
