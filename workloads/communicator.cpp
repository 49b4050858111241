#include "workloads/communicator.h"

namespace swinscope {
namespace {

class SingleRank : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce_sum(std::span<float> /*values*/) override {}
  void all_reduce_sum(std::span<double> /*values*/) override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
  void barrier() override {}
};

}  // namespace

std::unique_ptr<Communicator> make_single_rank() { return std::make_unique<SingleRank>(); }

std::vector<double> all_gather(Communicator& communicator, double value) {
  std::vector<double> values(static_cast<std::size_t>(communicator.size()), 0.0);
  values[static_cast<std::size_t>(communicator.rank())] = value;
  communicator.all_reduce_sum(std::span<double>(values));
  return values;
}

}  // namespace swinscope
