#include "workloads/cuda/device_ranks.h"

#include <algorithm>
#include <array>
#include <chrono>
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
  const SharedModule module("libswinscope_nccl.so", "this build has no support for several GPUs: NCCL was not found",
                            "install libnccl-dev (or libnccl2, where the program was built with it) and build again; "
                            "one rank needs no NCCL");
  NcclOptions nccl;
  nccl.rank = meeting.info.rank;
  nccl.size = meeting.info.size;
  nccl.most_blocks = options.most_blocks;
  nccl.copies = options.copies;
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

std::unique_ptr<ProcessGroup> connect_gpus(const RankInfo& info, const RankConfiguration& configuration,
                                           const GpuRankOptions& options) {
  return connect_ranks(info, configuration, options.rendezvous,
                       [&](const RankMeeting& meeting, const std::function<bool()>& broken) {
                         return open_nccl(meeting, broken, options);
                       });
}

}  // namespace swinscope
