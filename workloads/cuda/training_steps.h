// The steps of training on a device: from the images to the loss, adding up to the control block's sums, and from the
// loss back to all gradients. What is a model's comes from its graph; around it stand stochastic depth and the losses.
#pragma once

#include <string>
#include <vector>

#include "workloads/cuda/device_control.h"
#include "workloads/cuda/training_plan.h"

namespace swinscope {

class TrainingSteps {
 public:
  // `memory`: where the plan's first byte lies. Plan, libraries and stream must outlive the steps; `ranks` may be null.
  TrainingSteps(const SwinConfig& config, DeviceTrainerOptions options, const TrainingPlan& plan, void* memory,
                cuda::MatmulLibrary& library, cuda::ConvolutionLibrary& convolutions, DeviceCommunicator* ranks,
                cuda::Stream stream);

  // Training: with stochastic depth drawn for the control block's place and label smoothing. Else: without either.
  std::vector<DeviceStep> forward(bool training);
  // All gradients are overwritten or added to. `row_scale`: see cuda::cross_entropy_backward.
  BackwardSteps backward(bool accumulate, double row_scale);

 private:
  bool segments() const { return config_.task == Task::kSegmentation; }
  void* at(const Region& region) const { return static_cast<char*>(memory_) + region.offset; }
  float* floats(const Region& region) const { return static_cast<float*>(at(region)); }
  DeviceControl* control() const { return static_cast<DeviceControl*>(at(plan_.control)); }
  CudaBackend backend(const Graph& graph) const;
  void* output(const Graph& graph, const char* name) const;
  void step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
            const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run);

  void draw_depth();
  void class_loss(const Graph& graph);
  void class_loss_backward(double row_scale);
  void pixel_losses(const Graph& graph);
  UpsampleShape logits_resize(const Graph& graph, const char* name) const;
  void pixel_loss(const Graph& graph, const char* path, const char* name, const Region& lse, cuda::LossSums* sums);
  void pixel_loss_backward(const char* path, const char* name, const Region& lse, double weight);

  SwinConfig config_;
  DeviceTrainerOptions options_;
  const TrainingPlan& plan_;
  void* memory_;
  cuda::MatmulLibrary& library_;
  cuda::ConvolutionLibrary& convolutions_;
  DeviceCommunicator* ranks_;
  cuda::Stream stream_;
  ElementType type_;
  std::int64_t element_;
  std::int64_t batch_;
  std::vector<DeviceStep> steps_;  // of the list that is being made
};

}  // namespace swinscope
