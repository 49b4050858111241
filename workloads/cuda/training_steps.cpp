#include "workloads/cuda/training_steps.h"

#include <iterator>
#include <utility>

#include "kernels/stochastic_depth.h"
#include "kernels/upsample_loss.h"
#include "workloads/cuda/element_type.h"
#include "workloads/loss.h"
#include "workloads/models/model.h"

namespace swinscope {

TrainingSteps::TrainingSteps(const SwinConfig& config, DeviceTrainerOptions options, const TrainingPlan& plan,
                             void* memory, cuda::MatmulLibrary& library, cuda::ConvolutionLibrary& convolutions,
                             DeviceCommunicator* ranks, cuda::Stream stream)
    : config_(config),
      options_(std::move(options)),
      plan_(plan),
      memory_(memory),
      library_(library),
      convolutions_(convolutions),
      ranks_(ranks),
      stream_(stream),
      type_(element_type_of(plan.training.type)),
      element_(element_bytes(type_)),
      batch_(plan.training.at(plan.training.find("images")).shape[0]) {}

CudaBackend TrainingSteps::backend(const Graph& graph) const {
  CudaBackendOptions options;
  options.precision = options_.precision;
  options.features = training_features(options_.features);
  options.spare_multiprocessors = ranks_ == nullptr ? 0 : options_.spare_multiprocessors;
  options.ranks = ranks_;
  return {graph, options, plan_.place(graph, memory_), library_, &convolutions_, stream_};
}

std::vector<DeviceStep> TrainingSteps::forward(bool training) {
  const Graph& graph = training ? plan_.training : plan_.evaluation;
  if (training && options_.trainer.drop_path > 0.0) draw_depth();
  std::ranges::move(backend(graph).forward(), std::back_inserter(steps_));
  if (segments()) {
    pixel_losses(graph);
  } else {
    class_loss(graph);
  }
  return std::exchange(steps_, {});
}

BackwardSteps TrainingSteps::backward(bool accumulate, double row_scale) {
  if (segments()) {
    pixel_loss_backward("loss", "logits", plan_.lse, 1.0);
    pixel_loss_backward("loss.aux", "auxiliary", plan_.auxiliary_lse, kAuxiliaryWeight);
  } else {
    class_loss_backward(row_scale);
  }
  BackwardSteps model = backend(plan_.training).backward(accumulate, plan_.parameters);
  for (GradientMark& mark : model.marks)
    mark.count += steps_.size();
  std::ranges::move(model.steps, std::back_inserter(steps_));
  return {std::exchange(steps_, {}), std::move(model.marks)};
}

void* TrainingSteps::output(const Graph& graph, const char* name) const {
  return plan_.place(graph, memory_).tensors[static_cast<std::size_t>(graph.find(name))];
}

void TrainingSteps::step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
                         const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run) {
  steps_.push_back({RangeName(path),
                    make_payload(cost, operation_class, precision_around(options_.precision), input, output),
                    std::move(run)});
}

void TrainingSteps::draw_depth() {
  const int blocks = block_count(config_);
  const cuda::StochasticDepthShape shape{options_.trainer.drop_path, blocks, batch_, options_.trainer.seed};
  const std::int64_t count = std::int64_t{2} * blocks * batch_;
  step("drop_path", OperationClass::kOther, {0, 0, count * 4}, {}, {count},
       [=, place = &control()->place, scales = floats(plan_.depth_scales)](cuda::Stream stream) {
         cuda::stochastic_depth_scales(shape, place, scales, stream);
       });
}

void TrainingSteps::class_loss(const Graph& graph) {
  const CrossEntropyShape shape{batch_, config_.classes, graph.training ? options_.trainer.label_smoothing : 0.0};
  step("loss", OperationClass::kLoss, cross_entropy_forward_cost(shape, element_), {batch_, config_.classes}, {batch_},
       [=, type = type_, logits = output(graph, "logits"), labels = static_cast<const std::int32_t*>(at(plan_.labels)),
        row_loss = floats(plan_.row_loss), lse = floats(plan_.lse),
        predicted = static_cast<std::int32_t*>(at(plan_.predicted)), sums = &control()->sums](cuda::Stream stream) {
         cuda::cross_entropy_forward(shape, type, logits, labels, row_loss, lse, predicted, sums, stream);
       });
}

void TrainingSteps::class_loss_backward(double row_scale) {
  const CrossEntropyShape shape{batch_, config_.classes, options_.trainer.label_smoothing};
  step("loss", OperationClass::kLoss, cross_entropy_backward_cost(shape, element_), {batch_, config_.classes},
       {batch_, config_.classes},
       [=, type = type_, logits = output(plan_.training, "logits"),
        labels = static_cast<const std::int32_t*>(at(plan_.labels)), lse = floats(plan_.lse),
        loss_scale = &control()->state.loss_scale,
        dlogits = at(plan_.input("gradient of logits"))](cuda::Stream stream) {
         cuda::cross_entropy_backward(shape, type, logits, labels, lse, row_scale, loss_scale, dlogits, stream);
       });
}

// Training: main and auxiliary loss of all ranks, and what a pixel's gradient is multiplied with. Else this rank's sums
// and answers.
void TrainingSteps::pixel_losses(const Graph& graph) {
  DeviceControl* const control = this->control();
  pixel_loss(graph, "loss", "logits", plan_.lse, &control->sums);
  if (!graph.training) {
    const UpsampleShape shape = logits_resize(graph, "logits");
    step("answer", OperationClass::kOther, upsample_argmax_cost(shape, element_),
         {batch_, shape.height, shape.width, shape.channels}, {batch_, config_.image_size, config_.image_size},
         [=, type = type_, logits = output(graph, "logits"), answers = static_cast<std::uint8_t*>(at(plan_.predicted))](
             cuda::Stream stream) { cuda::upsample_argmax(shape, type, logits, answers, stream); });
    return;
  }
  step("loss.clear", OperationClass::kOther, {}, {}, {},
       [=](cuda::Stream stream) { cuda::clear(&control->auxiliary, sizeof(cuda::LossSums), stream); });
  pixel_loss(graph, "loss.aux", "auxiliary", plan_.auxiliary_lse, &control->auxiliary);
  step("loss.sum", OperationClass::kLoss, {}, {}, {},
       [=](cuda::Stream stream) { cuda::add_loss(kAuxiliaryWeight, &control->auxiliary, &control->sums, stream); });
  if (ranks_ != nullptr) {
    step("loss.allreduce", OperationClass::kCommunication, {0, 32, 32}, {4}, {4},
         [=, ranks = ranks_](cuda::Stream stream) {
           ranks->all_reduce_sum(&control->sums.loss, 1, ReduceType::kFp64, stream);
           ranks->all_reduce_sum(&control->sums.count, 3, ReduceType::kInt64, stream);  // and who wants to stop
         });
  }
  step("loss.scale", OperationClass::kLoss, {}, {}, {}, [=](cuda::Stream stream) {
    cuda::pixel_loss_scale(&control->sums, &control->state.loss_scale, &control->pixel_scale, stream);
  });
}

// From a map of logits to the labels.
UpsampleShape TrainingSteps::logits_resize(const Graph& graph, const char* name) const {
  const std::vector<std::int64_t>& map = graph.at(graph.find(name)).shape;
  return {batch_, map[1], map[2], config_.image_size, config_.image_size, map[3]};
}

void TrainingSteps::pixel_loss(const Graph& graph, const char* path, const char* name, const Region& lse,
                               cuda::LossSums* sums) {
  const UpsampleShape shape = logits_resize(graph, name);
  cuda::PixelLossTensors tensors;
  tensors.logits = output(graph, name);
  tensors.labels = static_cast<const std::uint8_t*>(at(plan_.labels));
  tensors.lse = floats(lse);
  tensors.sums = sums;
  tensors.workspace = at(plan_.workspace);
  step(path, OperationClass::kLoss, upsample_loss_forward_cost(shape, element_),
       {batch_, shape.height, shape.width, shape.channels}, {batch_, shape.out_height, shape.out_width},
       [=, type = type_](cuda::Stream stream) { cuda::upsample_loss_forward(shape, type, tensors, stream); });
}

void TrainingSteps::pixel_loss_backward(const char* path, const char* name, const Region& lse, double weight) {
  const UpsampleShape shape = logits_resize(plan_.training, name);
  cuda::PixelLossTensors tensors;
  tensors.logits = output(plan_.training, name);
  tensors.labels = static_cast<const std::uint8_t*>(at(plan_.labels));
  tensors.lse = floats(lse);
  tensors.workspace = at(plan_.workspace);
  step(
      path, OperationClass::kLoss, upsample_loss_backward_cost(shape, element_),
      {batch_, shape.out_height, shape.out_width}, {batch_, shape.height, shape.width, shape.channels},
      [=, type = type_, scale = &control()->pixel_scale, dlogits = at(plan_.input(std::string("gradient of ") + name))](
          cuda::Stream stream) { cuda::upsample_loss_backward(shape, type, tensors, weight, scale, dlogits, stream); });
}

}  // namespace swinscope
