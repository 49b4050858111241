#include "workloads/cuda/device_trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/check.h"
#include "kernels/convert.h"
#include "workloads/cuda/answer_counts.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/device_reducer.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/cuda/steps_in_flight.h"
#include "workloads/cuda/trainer_setup.h"
#include "workloads/cuda/training_steps.h"
#include "workloads/models/model.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

constexpr float kFirstLossScale = 65536.0F;

// From the ranks, where copies carry gradients from one's to another's.
std::shared_ptr<void> take_memory(std::int64_t bytes, DeviceCommunicator* ranks) {
  if (ranks != nullptr) return ranks->allocate(bytes);
  const auto own = std::make_shared<cuda::DeviceBuffer>(bytes);
  return {own, own->data()};
}

TrainingRanks ranks_of(const DeviceTrainerOptions& options, const DeviceCommunicator* ranks) {
  if (ranks == nullptr) return {};
  return {ranks->size(), options.reduce_by_copies};
}

struct Pass {
  std::vector<DeviceStep> forward;
  BackwardSteps backward;
};

}  // namespace

struct DeviceTrainer::State {
  State(const SwinConfig& model, const DeviceTrainerOptions& wanted, const ParameterStore<float>& start,
        DeviceCommunicator* others)
      : config(model),
        options(wanted),
        ranks(others),
        type(element_type_of(wanted.precision)),
        parameters(model),
        plan(model, wanted, wanted.trainer.batch_per_rank, ranks_of(wanted, others)),
        memory(take_memory(plan.bytes(), wanted.reduce_by_copies ? others : nullptr)),
        library(wanted.algorithm_folder),
        convolutions(library, wanted.algorithm_folder),
        optimizer(adamw_spans(parameters, wanted.trainer.optimizer.weight_decay), adamw_settings(wanted), stream.get()),
        steps(wanted.trainer.accumulate, others != nullptr) {
    library.prefer(wanted.algorithms);
    prepare_memory();
    if (plan.training.find("ones") != kNoTensor) {
      const Region& region = plan.input("ones");
      write_converted(std::vector<float>(static_cast<std::size_t>(region.bytes / element_bytes(type)), 1.0F), region);
    }
    DeviceTrainingState initial;
    if (type == ElementType::kFp16) initial.loss_scale = kFirstLossScale;
    const std::vector<float> zeros(start.values().size());
    write(initial, start.values(), zeros, zeros);
    write_buffers(start.buffers());
    build();
    cuda::synchronize(stream.get());
  }

  // Nothing may go while the device still works with it.
  ~State() {
    try {
      cuda::synchronize(stream.get());
    } catch (const cuda::Error&) {
      return;
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  bool segments() const { return config.task == Task::kSegmentation; }
  std::int64_t batch() const { return options.trainer.batch_per_rank; }
  std::int64_t rank() const { return ranks == nullptr ? 0 : ranks->rank(); }
  std::int64_t size() const { return ranks == nullptr ? 1 : ranks->size(); }
  std::int64_t own_batch() const { return batch() * options.trainer.accumulate; }
  std::int64_t global_batch() const { return own_batch() * size(); }
  void* at(const Region& region) const { return static_cast<char*>(memory.get()) + region.offset; }
  float* floats(const Region& region) const { return static_cast<float*>(at(region)); }
  DeviceControl* control() const { return static_cast<DeviceControl*>(at(plan.control)); }
  BatchPlace place() const { return {at(plan.input("images")), at(plan.labels)}; }

  // All NaN, so that what nobody writes shows, but for the gaps between parameters.
  void prepare_memory() {
    cuda::poison(memory.get(), plan.bytes(), stream.get());
    for (const Region& region :
         {plan.masters, plan.copies, plan.gradients, plan.rounded_gradients, plan.first_moments, plan.second_moments}) {
      cuda::clear(at(region), region.bytes, stream.get());
    }
  }

  void write_converted(const std::vector<float>& values, const Region& region) const {
    const auto count = static_cast<std::int64_t>(values.size());
    const cuda::DeviceBuffer staging(count * 4);
    cuda::copy_to_device(staging.data(), values.data(), staging.bytes(), stream.get());
    cuda::convert(count, ElementType::kFp32, staging.data(), type, at(region), stream.get());
    cuda::synchronize(stream.get());
  }

  void build() {
    TrainingSteps builder(config, options, plan, memory.get(), library, convolutions, ranks, stream.get());
    const double row_scale = 1.0 / static_cast<double>(global_batch());
    first = {builder.forward(true), builder.backward(false, row_scale)};
    if (options.trainer.accumulate > 1) more = {first.forward, builder.backward(true, row_scale)};
    evaluation = builder.forward(false);
    if (ranks != nullptr) {
      const bool rounds = options.reduce_type != ElementType::kFp32;
      const ReducedGradients reduced{floats(plan.gradients), rounds ? at(plan.rounded_gradients) : nullptr,
                                     options.reduce_type, options.reduce_by_copies};
      reducer.emplace(*ranks, first.backward.marks, reduced, options.trainer.bucket_bytes);
    }
    update.push_back(make_update());
    library.finish_tuning();
    convolutions.finish_tuning();
  }

  DeviceStep make_update() {
    const std::int64_t count = parameters.flat_count();
    cuda::AdamWBuffers buffers;
    buffers.gradients = at(sums());
    buffers.gradient_type = sums_type();
    buffers.parameters = floats(plan.masters);
    buffers.first_moment = floats(plan.first_moments);
    buffers.second_moment = floats(plan.second_moments);
    if (type != ElementType::kFp32) buffers.copies = at(plan.copies);
    buffers.copy_type = type;
    OperationCost cost = gradient_norm_cost(count, 4) + adamw_cost(count, 4);
    if (buffers.copies != nullptr) cost.bytes_written += count * element_bytes(type);
    return {RangeName("optimizer.adamw"),
            make_payload(cost, OperationClass::kOptimizer, precision_around(options.precision), {count}, {count}),
            [=, this, state = &control()->state](cuda::Stream on) { optimizer.step(buffers, state, on); }};
  }

  // What the update reads: the gradients, or their rounded sums over the ranks.
  const Region& sums() const { return sums_type() == ElementType::kFp32 ? plan.gradients : plan.rounded_gradients; }
  ElementType sums_type() const { return ranks == nullptr ? ElementType::kFp32 : options.reduce_type; }

  // `last`: of its step.
  void run_pass(const Pass& pass, bool clears, bool last) {
    {
      const PhaseRange phase(Phase::kForward);
      if (clears) cuda::clear(&control()->sums, sizeof(cuda::LossSums), stream.get());
      run_steps(pass.forward, stream.get());
    }
    const PhaseRange phase(Phase::kBackward);
    if (!reducer || !last) return run_steps(pass.backward.steps, stream.get());
    reducer->begin(stream.get());
    // Segmentation needs it for the gradients, and has done it.
    if (!segments()) reduce_loss(reducer->communication_stream(), true);
    for (std::size_t i = 0; i < pass.backward.steps.size(); ++i) {
      run_steps(std::span(pass.backward.steps).subspan(i, 1), stream.get());
      reducer->passed(i + 1, stream.get());
    }
  }

  void reduce_loss(cuda::Stream on, bool with_stop) const {
    ranks->all_reduce_sum(&control()->sums.loss, 1, ReduceType::kFp64, on);
    ranks->all_reduce_sum(&control()->sums.count, with_stop ? 3 : 2, ReduceType::kInt64, on);
  }

  void run_update() {
    if (reducer) {
      const PhaseRange phase(Phase::kAllReduce);
      reducer->finish(stream.get());
    }
    const PhaseRange phase(Phase::kOptimizer);
    run_steps(update, stream.get());
  }

  // With one batch to a step all of it is one graph; with several, the first batch, each further one, and the last one
  // with the update.
  void launch(std::int64_t part) {
    const bool graph = options.features.graph;
    const bool last = part + 1 == options.trainer.accumulate;
    StepLauncher& launcher = part == 0 ? first_launcher : last ? last_launcher : more_launcher;
    launcher.run(graph, stream.get(), [&] {
      run_pass(part == 0 ? first : more, part == 0, last);
      if (last) run_update();
    });
  }

  void enqueue(BatchFeed& feed, bool stop) {
    const std::int64_t number = steps.enqueued();
    const StepRange range({static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(own_batch())});
    const TrainerOptions& trainer = options.trainer;
    StepsInFlight::Step& step = steps.begin(stream.get());
    step.learning_rate =
        scheduled_learning_rate(trainer.learning_rate, number, trainer.warmup_steps, trainer.total_steps);
    for (std::int64_t part = 0; part < trainer.accumulate; ++part) {
      const std::int64_t in_step = (part * size() + rank()) * batch();
      {
        const PhaseRange phase(Phase::kData);
        const std::int64_t began_ns = steady_ns();
        StepsInFlight::Input& input = step.inputs[static_cast<std::size_t>(part)];
        input.asked.record(stream.get());
        feed.enqueue(number * global_batch() + in_step, place(), stream.get());
        input.arrived.record(stream.get());
        step.data_ns += steady_ns() - began_ns;
      }
      const cuda::PinnedBuffer& orders = step.inputs[static_cast<std::size_t>(part)].orders;
      *static_cast<PassOrders*>(orders.data()) = {stop ? 1 : 0, {number, in_step}, step.learning_rate};
      cuda::copy_async_to_device(&control()->stop, orders.data(), sizeof(PassOrders), stream.get());
      launch(part);
    }
    steps.end(control(), stream.get());
    // Within the step's range: what lies between two steps is then the device's time of one.
    if (steps.full()) collect();
  }

  // Waits for the oldest step that is under way.
  void collect() {
    const DeviceControl& outcome = steps.wait();
    if (ranks != nullptr) ranks->require_all();
    last_scale = std::exchange(loss_scale, outcome.state.loss_scale);
    results.push_back(steps.take());
  }

  static std::int64_t steady_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void write(const DeviceTrainingState& training, std::span<const float> values, std::span<const float> first_moments,
             std::span<const float> second_moments) {
    const auto bytes = parameters.flat_count() * 4;
    require(static_cast<std::int64_t>(values.size_bytes()) == bytes &&
                static_cast<std::int64_t>(first_moments.size_bytes()) == bytes &&
                static_cast<std::int64_t>(second_moments.size_bytes()) == bytes,
            "DeviceTrainer", "values and moments of this model are needed");
    cuda::copy_to_device(at(plan.masters), values.data(), bytes, stream.get());
    cuda::copy_to_device(at(plan.first_moments), first_moments.data(), bytes, stream.get());
    cuda::copy_to_device(at(plan.second_moments), second_moments.data(), bytes, stream.get());
    DeviceControl fresh;
    fresh.state.updates = training.updates;
    fresh.state.loss_scale = static_cast<float>(training.loss_scale);
    fresh.state.good_steps = static_cast<std::int32_t>(training.good_steps);
    cuda::copy_to_device(control(), &fresh, sizeof(fresh), stream.get());
    if (ranks != nullptr) {
      for (const Region& region : {plan.masters, plan.first_moments, plan.second_moments, plan.control})
        ranks->broadcast(at(region), region.bytes, 0, stream.get());
    }
    write_scales(training.byte_scales);
    if (type != ElementType::kFp32) {
      cuda::convert(parameters.flat_count(), ElementType::kFp32, at(plan.masters), type, at(plan.copies), stream.get());
    }
    loss_scale = read_control().state.loss_scale;
    steps.restart(training.steps_done);
  }

  // Of what has 8 bits. The ranks begin with the leading one's, and go on with their own.
  std::int64_t scale_bytes() const { return scale_count() * static_cast<std::int64_t>(sizeof(DelayedScale)); }
  std::int64_t scale_count() const {
    const TensorId id = plan.training.find(kByteScales);
    return id == kNoTensor ? 0 : plan.training.at(id).shape[0];
  }
  void write_scales(std::vector<DelayedScale> scales) {
    if (scale_count() == 0) return;
    if (scales.empty()) scales = first_scales(plan.training);
    require(static_cast<std::int64_t>(scales.size()) == scale_count(), "DeviceTrainer",
            "the scales of this model are needed");
    void* const place = at(plan.input(kByteScales));
    cuda::copy_to_device(place, scales.data(), scale_bytes(), stream.get());
    if (ranks != nullptr) ranks->broadcast(place, scale_bytes(), 0, stream.get());
  }
  std::vector<DelayedScale> read_scales() const {
    std::vector<DelayedScale> scales(static_cast<std::size_t>(scale_count()));
    if (!scales.empty()) cuda::copy_to_host(scales.data(), at(plan.input(kByteScales)), scale_bytes(), stream.get());
    return scales;
  }

  // Running statistics, which only segmentation has.
  void write_buffers(std::span<const float> buffers) {
    const Region& running = plan.buffers;
    require(static_cast<std::int64_t>(buffers.size_bytes()) == running.bytes, "DeviceTrainer",
            "the buffers of this model are needed");
    if (running.bytes == 0) return;
    cuda::copy_to_device(at(running), buffers.data(), running.bytes, stream.get());
    if (ranks != nullptr) ranks->broadcast(at(running), running.bytes, 0, stream.get());
  }

  DeviceControl read_control() const {
    DeviceControl now;
    cuda::copy_to_host(&now, control(), sizeof(now), stream.get());
    if (ranks != nullptr) ranks->require_all();
    return now;
  }

  SwinConfig config;
  DeviceTrainerOptions options;
  DeviceCommunicator* ranks;
  ElementType type;
  ParameterLayout parameters;
  cuda::OwnedStream stream;
  TrainingPlan plan;
  std::shared_ptr<void> memory;
  cuda::MatmulLibrary library;
  cuda::ConvolutionLibrary convolutions;
  cuda::MultiTensorAdamW optimizer;
  std::optional<DeviceReducer> reducer;  // before the graphs with its operations
  Pass first, more;
  std::vector<DeviceStep> evaluation, update;
  StepLauncher first_launcher, more_launcher, last_launcher, evaluation_launcher;
  StepsInFlight steps;
  float loss_scale = 1.0F;  // after the last step that was collected
  float last_scale = 1.0F;  // of that step
  std::vector<FinishedStep> results;
};

DeviceTrainer::DeviceTrainer(const SwinConfig& config, const DeviceTrainerOptions& options,
                             const ParameterStore<float>& start, DeviceCommunicator* ranks) {
  check_config(config);
  if (config.task == Task::kSegmentation) {
    check_segmentation(config);
    require(options.trainer.accumulate == 1, "DeviceTrainer", "segmentation is trained without accumulation");
  }
  state_ = std::make_unique<State>(config, options, start, ranks);
}

DeviceTrainer::~DeviceTrainer() = default;

void DeviceTrainer::step(BatchFeed& feed, bool stop) { state_->enqueue(feed, stop); }

std::vector<FinishedStep> DeviceTrainer::finished(bool wait) {
  State& state = *state_;
  while (!state.steps.empty() && (wait || state.steps.oldest_is_due()))
    state.collect();
  if (wait) state.steps.pause();
  return std::exchange(state.results, {});
}

std::int64_t DeviceTrainer::global_batch() const { return state_->global_batch(); }

Evaluation DeviceTrainer::evaluate(BatchFeed& feed, std::int64_t images) {
  State& state = *state_;
  require(state.steps.empty(), "DeviceTrainer", "steps must have ended before an evaluation");
  cuda::clear(&state.control()->sums, sizeof(cuda::LossSums), stream());
  std::optional<AnswerCounts> answers;
  if (state.segments()) answers.emplace(state.config.classes, state.plan.labels.bytes);
  for (std::int64_t at = 0; at < images; at += state.batch() * state.size()) {
    {
      const PhaseRange phase(Phase::kData);
      feed.enqueue(at + state.rank() * state.batch(), state.place(), stream());
    }
    const PhaseRange phase(Phase::kForward);
    state.evaluation_launcher.run(state.options.features.graph, stream(),
                                  [&] { run_steps(state.evaluation, stream()); });
    if (answers) answers->add(state.at(state.plan.labels), state.at(state.plan.predicted), stream());
  }
  if (state.ranks != nullptr) state.reduce_loss(stream(), false);
  const cuda::LossSums sums = state.read_control().sums;
  if (sums.count == 0) return {};
  const auto count = static_cast<double>(sums.count);
  Evaluation result{sums.loss / count, static_cast<double>(sums.correct) / count, sums.count};
  if (!answers) return result;
  answers->finish(state.ranks, stream(), result);
  result.images = images;
  return result;
}

DeviceTrainingState DeviceTrainer::download(std::span<float> values, std::span<float> first_moments,
                                            std::span<float> second_moments) const {
  const State& state = *state_;
  const std::int64_t bytes = state.parameters.flat_count() * 4;
  require(static_cast<std::int64_t>(values.size_bytes()) == bytes &&
              static_cast<std::int64_t>(first_moments.size_bytes()) == bytes &&
              static_cast<std::int64_t>(second_moments.size_bytes()) == bytes,
          "DeviceTrainer", "room for the values and moments of this model is needed");
  cuda::copy_to_host(values.data(), state.at(state.plan.masters), bytes, stream());
  cuda::copy_to_host(first_moments.data(), state.at(state.plan.first_moments), bytes, stream());
  cuda::copy_to_host(second_moments.data(), state.at(state.plan.second_moments), bytes, stream());
  const cuda::OptimizerState optimizer = state.read_control().state;
  return {state.steps.enqueued(), optimizer.updates, optimizer.good_steps, static_cast<double>(optimizer.loss_scale),
          state.read_scales()};
}

void DeviceTrainer::download_buffers(std::span<float> buffers) const {
  const State& state = *state_;
  const Region& running = state.plan.buffers;
  require(static_cast<std::int64_t>(buffers.size_bytes()) == running.bytes, "DeviceTrainer",
          "room for the buffers of this model is needed");
  if (running.bytes > 0) cuda::copy_to_host(buffers.data(), state.at(running), running.bytes, stream());
}

void DeviceTrainer::upload_buffers(std::span<const float> buffers) {
  cuda::synchronize(stream());
  state_->write_buffers(buffers);
}

void DeviceTrainer::upload(const DeviceTrainingState& state, std::span<const float> values,
                           std::span<const float> first_moments, std::span<const float> second_moments) {
  cuda::synchronize(stream());
  state_->write(state, values, first_moments, second_moments);
}

std::vector<float> DeviceTrainer::gradients() const {
  const State& state = *state_;
  std::vector<float> values(static_cast<std::size_t>(state.parameters.flat_count()));
  const cuda::DeviceBuffer exact(state.parameters.flat_count() * element_bytes(ElementType::kFp32));
  cuda::convert(state.parameters.flat_count(), state.sums_type(), state.at(state.sums()), ElementType::kFp32,
                exact.data(), stream());
  cuda::copy_to_host(values.data(), exact.data(), exact.bytes(), stream());
  for (float& value : values)
    value /= state.last_scale;
  return values;
}

ElementType DeviceTrainer::element_type() const { return state_->type; }
cuda::Stream DeviceTrainer::stream() const { return state_->stream.get(); }
std::int64_t DeviceTrainer::memory_bytes() const { return state_->plan.bytes(); }
std::size_t DeviceTrainer::graph_nodes() const { return state_->first_launcher.nodes(); }
cuda::MatmulStatistics DeviceTrainer::matmul_statistics() const { return state_->library.statistics(); }
std::string DeviceTrainer::algorithms() const { return state_->library.choices(); }

std::vector<DeviceStep> DeviceTrainer::all_steps() const {
  std::vector<DeviceStep> all = state_->first.forward;
  const auto append = [&all](const std::vector<DeviceStep>& steps, const char* prefix) {
    for (const DeviceStep& step : steps)
      all.push_back({RangeName(prefix + step.name.path()), step.payload, step.run});
  };
  append(state_->first.backward.steps, "backward.");
  append(state_->update, "update.");
  return all;
}

}  // namespace swinscope
