// Collective operations between data-parallel ranks. The trainer knows nothing else about other ranks.
//
// All ranks call the same operations in the same order with the same lengths; calls of one communicator do not overlap.
// An operation that cannot complete because a rank died or failed throws WorkloadError (kFailure) naming that rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace swinscope {

class DeviceCommunicator;

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The sum over the ranks, in place; the same bits on every rank.
  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  // From `root` to all ranks, in place.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  // Returns when all ranks have called it.
  virtual void barrier() = 0;
  // This rank has come on, by a step or whatever else takes long. One that does not while the others wait is found by
  // it.
  virtual void advance() noexcept {}
  // Between the GPUs of the same ranks; null where they are not connected. Lives as long as this.
  virtual DeviceCommunicator* gpus() { return nullptr; }
};

// One rank alone: all operations are done at once.
std::unique_ptr<Communicator> make_single_rank();

// The values of all ranks by rank, the same on each of them. Bytes may be of another length on each rank.
std::vector<double> all_gather(Communicator& communicator, double value);
std::vector<std::vector<std::uint8_t>> all_gather(Communicator& communicator, std::vector<std::uint8_t> bytes);

}  // namespace swinscope
