#include "workloads/communicator.h"

#include <utility>

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

std::vector<std::vector<std::uint8_t>> all_gather(Communicator& communicator, std::vector<std::uint8_t> bytes) {
  std::vector<std::vector<std::uint8_t>> all(static_cast<std::size_t>(communicator.size()));
  all[static_cast<std::size_t>(communicator.rank())] = std::move(bytes);
  for (int root = 0; root < communicator.size(); ++root) {
    std::vector<std::uint8_t>& of_root = all[static_cast<std::size_t>(root)];
    std::size_t length = of_root.size();
    communicator.broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
    of_root.resize(length);
    if (length > 0) communicator.broadcast(std::as_writable_bytes(std::span(of_root)), root);
  }
  return all;
}

}  // namespace swinscope
