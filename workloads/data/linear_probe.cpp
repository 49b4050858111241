#include "workloads/data/linear_probe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "kernels/adamw.h"
#include "kernels/cross_entropy.h"
#include "kernels/gemm.h"
#include "kernels/parallel.h"
#include "workloads/error.h"
#include "workloads/hash_stream.h"
#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/resize.h"
#include "workloads/optimizer.h"

namespace swinscope {
namespace {

constexpr std::size_t kFeatures = std::size_t{3} * kProbeSize * kProbeSize;

std::vector<std::uint8_t> shrink(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = read_bytes(file);
  JpegDecoder decoder(bytes, file.string());
  const int reduction = reduction_for(std::min(decoder.width(), decoder.height()), 2 * kProbeSize);
  const RgbImage image = decoder.decode(reduction);
  return resize(image, {0, 0, image.width, image.height}, kProbeSize, kProbeSize, {0, 0, kProbeSize, kProbeSize})
      .pixels;
}

// Value -> (value - mean) / deviation, per feature.
struct Standardization {
  explicit Standardization(const ProbeData& data) : mean(kFeatures), inverse(kFeatures) {
    const auto count = static_cast<double>(data.labels.size());
    std::vector<double> sum(kFeatures);
    std::vector<double> squares(kFeatures);
    for (std::size_t i = 0; i < data.values.size(); ++i) {
      const double value = data.values[i];
      sum[i % kFeatures] += value;
      squares[i % kFeatures] += value * value;
    }
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const double average = sum[i] / count;
      const double variance = squares[i] / count - average * average;
      mean[i] = static_cast<float>(average);
      inverse[i] = static_cast<float>(1.0 / std::sqrt(std::max(variance, 1.0)));
    }
  }

  std::vector<float> mean;
  std::vector<float> inverse;
};

// Weights [features, classes], and below them the biases.
class LinearModel {
 public:
  LinearModel(int classes, std::int64_t batch, double weight_decay, const Standardization& standard)
      : classes_(classes),
        weight_decay_(weight_decay),
        standard_(standard),
        inputs_(static_cast<std::size_t>(batch) * (kFeatures + 1)),
        logits_(static_cast<std::size_t>(batch * classes)),
        row_loss_(static_cast<std::size_t>(batch)),
        lse_(row_loss_.size()),
        parameters_((kFeatures + 1) * static_cast<std::size_t>(classes)),
        gradient_(parameters_.size()),
        first_moment_(parameters_.size()),
        second_moment_(parameters_.size()) {}

  // The number of pictures that are classified rightly; `rows` are at most `batch`.
  std::int64_t classify(const ProbeData& data, std::span<const std::int64_t> rows) {
    const auto count = static_cast<std::int64_t>(rows.size());
    labels_.clear();
    for (std::int64_t i = 0; i < count; ++i)
      load(data, rows[static_cast<std::size_t>(i)], inputs_.data() + static_cast<std::size_t>(i) * (kFeatures + 1));
    cpu::gemm<float>({count, classes_, kFeatures + 1}, 1.0F, inputs_.data(), parameters_.data(), 0.0F, logits_.data());
    shape_ = {count, classes_, 0.0};
    return cpu::cross_entropy_forward<float>(shape_, logits_.data(), labels_.data(), row_loss_.data(), lse_.data())
        .correct;
  }

  // After classify(): one step on the same pictures.
  void learn(double learning_rate) {
    cpu::cross_entropy_backward<float>(shape_, logits_.data(), labels_.data(), lse_.data(),
                                       1.0 / static_cast<double>(shape_.rows), logits_.data());
    cpu::gemm<float>({kFeatures + 1, classes_, shape_.rows, Transpose::kYes}, 1.0F, inputs_.data(), logits_.data(),
                     0.0F, gradient_.data());
    AdamWOptions options;
    options.learning_rate = learning_rate;
    options.step = ++step_;
    const AdamWTensor<float> tensor{parameters_.data(),
                                    gradient_.data(),
                                    first_moment_.data(),
                                    second_moment_.data(),
                                    static_cast<std::int64_t>(parameters_.size()),
                                    weight_decay_};
    cpu::adamw_step<float>(options, std::span(&tensor, 1));
  }

 private:
  void load(const ProbeData& data, std::int64_t row, float* input) {
    const std::uint8_t* const values = data.values.data() + static_cast<std::size_t>(row) * kFeatures;
    for (std::size_t i = 0; i < kFeatures; ++i)
      input[i] = (static_cast<float>(values[i]) - standard_.mean[i]) * standard_.inverse[i];
    input[kFeatures] = 1.0F;
    labels_.push_back(data.labels[static_cast<std::size_t>(row)]);
  }

  std::int64_t classes_;
  double weight_decay_;
  const Standardization& standard_;
  CrossEntropyShape shape_;
  std::vector<float> inputs_, logits_, row_loss_, lse_;
  std::vector<std::int32_t> labels_;
  std::vector<float> parameters_, gradient_, first_moment_, second_moment_;
  std::int64_t step_ = 0;
};

double accuracy_on(LinearModel& model, const ProbeData& data, std::int64_t batch) {
  std::vector<std::int64_t> rows(data.labels.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::int64_t correct = 0;
  for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(batch)) {
    const std::size_t count = std::min(static_cast<std::size_t>(batch), rows.size() - at);
    correct += model.classify(data, std::span(rows).subspan(at, count));
  }
  return static_cast<double>(correct) / static_cast<double>(rows.size());
}

ProbeResult run_once(const ProbeData& train, const ProbeData& held_out, int classes, const ProbeOptions& options,
                     double weight_decay, const Standardization& standard) {
  LinearModel model(classes, options.batch, weight_decay, standard);
  std::vector<std::int64_t> order(train.labels.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto batch = static_cast<std::size_t>(options.batch);
  const std::int64_t steps = options.epochs * static_cast<std::int64_t>((order.size() + batch - 1) / batch);
  ProbeResult result;
  result.weight_decay = weight_decay;
  std::int64_t step = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const HashStream shuffle("probe.shuffle", static_cast<std::uint64_t>(epoch));
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[shuffle.bits(i) % i]);
    for (std::size_t at = 0; at < order.size(); at += batch) {
      model.classify(train, std::span(order).subspan(at, std::min(batch, order.size() - at)));
      model.learn(scheduled_learning_rate(options.learning_rate, step++, 0, steps));
    }
    result.held_out_accuracy = std::max(result.held_out_accuracy, accuracy_on(model, held_out, options.batch));
  }
  result.train_accuracy = accuracy_on(model, train, options.batch);
  return result;
}

double largest_share(const std::vector<std::int32_t>& labels, int classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int32_t label : labels)
    ++counts.at(static_cast<std::size_t>(label));
  return static_cast<double>(std::ranges::max(counts)) / static_cast<double>(labels.size());
}

}  // namespace

ProbeData load_probe_data(const ImageFolder& folder) {
  const std::size_t count = folder.files.size();
  std::vector<std::vector<std::uint8_t>> pictures(count);
  std::vector<std::string> reasons(count);
  cpu::parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t task) {
    const auto i = static_cast<std::size_t>(task);
    try {
      pictures[i] = shrink(folder.files[i].file);
    } catch (const WorkloadError& error) {
      reasons[i] = error.cause();
    }
  });
  ProbeData data;
  data.values.reserve(count * kFeatures);
  for (std::size_t i = 0; i < count; ++i) {
    if (pictures[i].empty()) {
      data.skipped.push_back({folder.files[i].file, reasons[i]});
      continue;
    }
    data.values.insert(data.values.end(), pictures[i].begin(), pictures[i].end());
    data.labels.push_back(folder.files[i].label);
  }
  return data;
}

ProbeResult run_linear_probe(const ProbeData& train, const ProbeData& held_out, int classes,
                             const ProbeOptions& options) {
  if (train.labels.empty() || held_out.labels.empty()) {
    throw WorkloadError(WorkloadErrorKind::kInput, "the linear probe needs pictures to learn from and others to try",
                        "the set has no readable picture in one of its parts", "it expects DIR/train and DIR/val");
  }
  const Standardization standard(train);
  ProbeResult best;
  for (const double weight_decay : options.weight_decays) {
    const ProbeResult result = run_once(train, held_out, classes, options, weight_decay, standard);
    if (result.held_out_accuracy > best.held_out_accuracy) best = result;
  }
  best.chance = largest_share(held_out.labels, classes);
  return best;
}

}  // namespace swinscope
