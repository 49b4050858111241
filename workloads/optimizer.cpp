#include "workloads/optimizer.h"

#include <cmath>
#include <numbers>

namespace swinscope {
namespace {

OperationPayload optimizer_payload(const OperationCost& cost, Precision precision, std::int64_t count) {
  return make_payload(cost, OperationClass::kOptimizer, precision, {count}, {count});
}

}  // namespace

double scheduled_learning_rate(double peak, std::int64_t step, std::int64_t warmup_steps, std::int64_t total_steps) {
  if (step < warmup_steps) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  if (step >= total_steps) return 0.0;
  const double progress = static_cast<double>(step - warmup_steps) / static_cast<double>(total_steps - warmup_steps);
  return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
}

template <typename T>
Optimizer<T>::Optimizer(ParameterStore<T>& store, const OptimizerOptions& options)
    : store_(store),
      options_(options),
      first_moment_(store.values().size()),
      second_moment_(store.values().size()),
      norm_name_("optimizer.norm"),
      update_name_("optimizer.adamw") {
  const auto count = static_cast<std::int64_t>(store.values().size());
  norm_payload_ = optimizer_payload(gradient_norm_cost(count, sizeof(T)), precision_of<T>(), count);
  update_payload_ = optimizer_payload(adamw_cost(count, sizeof(T)), precision_of<T>(), count);
  for (const ParameterInfo& info : store.layout().tensors()) {
    AdamWTensor<T> tensor;
    tensor.parameter = store.values(info).data();
    tensor.gradient = store.gradients(info).data();
    tensor.first_moment = first_moment_.data() + info.offset;
    tensor.second_moment = second_moment_.data() + info.offset;
    tensor.count = info.count;
    tensor.weight_decay = info.decays ? options.weight_decay : 0.0;
    tensors_.push_back(tensor);
  }
}

template <typename T>
double Optimizer<T>::gradient_norm() const {
  const OperationRange range(norm_name_, norm_payload_);
  const std::span<const T> gradients = store_.gradients();
  const GradientTensor<T> all{gradients.data(), static_cast<std::int64_t>(gradients.size())};
  return cpu::gradient_norm<T>(std::span(&all, 1));
}

template <typename T>
double Optimizer<T>::step(double learning_rate) {
  const double norm = gradient_norm();
  if (!std::isfinite(norm)) return norm;
  AdamWOptions options;
  options.learning_rate = learning_rate;
  options.beta1 = options_.beta1;
  options.beta2 = options_.beta2;
  options.epsilon = options_.epsilon;
  options.step = ++steps_;
  options.gradient_scale = options_.clip_norm > 0.0 ? clip_factor(norm, options_.clip_norm) : 1.0;
  const OperationRange range(update_name_, update_payload_);
  cpu::adamw_step<T>(options, tensors_);
  return norm;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace swinscope
