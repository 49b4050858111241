#include "workloads/stochastic_depth.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "workloads/redraw.h"

namespace swinscope {

template <typename T>
StochasticDepth<T>::StochasticDepth(double rate, int blocks, std::int64_t batch, std::uint64_t seed)
    : rate_(rate),
      blocks_(blocks),
      batch_(batch),
      seed_(seed),
      scales_(rate > 0.0 ? static_cast<std::size_t>(2 * batch * blocks) : 0, T{1}) {
  if (!(rate >= 0.0 && rate < 1.0)) throw std::invalid_argument("StochasticDepth: the rate must lie in [0, 1)");
}

template <typename T>
void StochasticDepth<T>::draw(std::int64_t step, std::int64_t first_sample) {
  if (scales_.empty()) return;
  for (int branch = 0; branch < 2 * blocks_; ++branch) {
    const double p = probability(branch / 2);
    const HashStream stream(fmt::format("drop_path.{}.{}", step, branch), seed_);
    for (std::int64_t i = 0; i < batch_; ++i) {
      const bool dropped = stream.unit(static_cast<std::uint64_t>(first_sample + i)) < p;
      scales_[static_cast<std::size_t>(branch * batch_ + i)] = dropped ? T{0} : static_cast<T>(1.0 / (1.0 - p));
    }
  }
}

template <typename T>
const T* StochasticDepth<T>::scale(int block, int branch) const {
  if (scales_.empty() || probability(block) == 0.0) return nullptr;
  return scales_.data() + (2 * block + branch) * batch_;
}

template class StochasticDepth<float>;
template class StochasticDepth<double>;

}  // namespace swinscope
