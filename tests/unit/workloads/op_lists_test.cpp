// The operations of every model, level and use, as text that is kept: path, class, shapes, FLOPs, bytes and the kernels
// that are launched, listed without a GPU as an H200 would have them. op_lists/all.txt has a line with a hash of each
// list, the other files are lists in full. A list that changes is written beside the build; SWINSCOPE_GOLDEN_UPDATE=1
// writes what is kept.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/host_device.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/training_steps.h"
#include "workloads/execute/inference_pass.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array kClassNames = {"",     "gemm", "attention", "norm",          "elementwise", "layout",
                                    "conv", "loss", "optimizer", "communication", "other"};

// What decides which kernels there are.
const cuda::DeviceInfo kH200 = {
    .name = "H200", .major = 9, .minor = 0, .multiprocessors = 132, .l2_bytes = std::int64_t{50} << 20};

// Where the memory begins that nothing reads: elsewhere than at null, which is no bias.
void* const kNowhere = reinterpret_cast<void*>(std::intptr_t{1} << 20);  // NOLINT

std::string extents(const ShapeExtents& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    if (extent != 0) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

struct Line {
  std::string path, what;
};

// Steps as lines; each is run, on a device that writes down what it would launch.
class Lister {
 public:
  void add(const char* heading, const std::vector<DeviceStep>& steps) {
    lines_.push_back({"", fmt::format("[{}]", heading)});
    recording_.take();
    for (const DeviceStep& step : steps) {
      step.run(nullptr);
      const OperationPayload& p = step.payload;
      lines_.push_back(
          {step.name.path(),
           fmt::format("{} {} {} {} {} {} | {}", kClassNames.at(static_cast<std::size_t>(p.operation_class)),
                       extents(p.input_shape), extents(p.output_shape), p.flops, p.bytes_read, p.bytes_written,
                       fmt::join(recording_.take(), "; "))});
      flops_ += p.flops;
      bytes_ += p.bytes_read + p.bytes_written;
      ++count_;
    }
  }
  // Blocks of a stage that are alike are written once.
  std::string text() const {
    std::string text;
    std::map<std::string, std::string> known;  // of a stage: what a block is made of -> its name
    for (std::size_t i = 0; i < lines_.size();) {
      const std::string block = block_of(lines_[i].path);
      if (block.empty()) {
        if (lines_[i].path.empty()) known.clear();
        text += fmt::format("{}{}{}\n", lines_[i].path, lines_[i].path.empty() ? "" : " ", lines_[i].what);
        ++i;
        continue;
      }
      std::string body;
      for (; i < lines_.size() && block_of(lines_[i].path) == block; ++i)
        body += fmt::format("  {} {}\n", lines_[i].path.substr(block.size() + 1), lines_[i].what);
      const auto [found, is_new] = known.try_emplace(block.substr(0, block.find('.')) + body, block);
      text += is_new ? fmt::format("{}\n{}", block, body) : fmt::format("{} as {}\n", block, found->second);
    }
    return text;
  }
  std::string summary(const std::string& text) const {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (const char letter : text)
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    return fmt::format("{} operations {} FLOP {} bytes {:016x}", count_, flops_, bytes_, hash);
  }
  test::HostDeviceRecording& recording() { return recording_; }

 private:
  static std::string block_of(const std::string& path) {
    const std::size_t start = path.find(".block");
    return start == std::string::npos ? "" : path.substr(0, path.find('.', start + 1));
  }

  test::HostDeviceRecording recording_;
  std::vector<Line> lines_;
  std::uint64_t flops_ = 0, bytes_ = 0;
  int count_ = 0;
};

Precision precision_of_level(const Level& level) {
  return level.default_precision == "fp32" ? Precision::kFp32 : Precision::kFp16;
}

// Of the head as published: 512 pixels, ADE20K's classes.
SwinConfig scenes_of(SwinConfig config) {
  config.task = Task::kSegmentation;
  if (config.stages < kMaxStages) return config;
  config.image_size = 512;
  config.classes = 150;
  return config;
}

class OpLists : public testing::Test {
 protected:
  void keep(const std::string& name, const Lister& lister) {
    const std::string text = lister.text();
    all_ += name + ": " + lister.summary(text) + "\n";
    lists_[name] = text;
  }

  // Every layer's input has some range.
  static InputRanges all_ranges(const SwinConfig& config) {
    DeviceModelOptions options;
    options.counts_inputs = true;
    InputRanges ranges;
    for (const auto& [name, id] : device_graph(config, 1, options, {}, [](const Op&, bool) { return false; }).named)
      if (name.starts_with("counts.")) ranges[name.substr(name.find('.') + 1)] = 4.0F;
    return ranges;
  }

  void inference(const SwinConfig& config, const Level& level, std::int64_t batch, Precision bytes = Precision::kFp16) {
    Lister lister;
    static std::map<std::string_view, ParameterStore<float>> stores;  // zeros that nothing reads
    const ParameterStore<float>& store = stores.try_emplace(config.name, config, false).first->second;
    DeviceModelOptions options;
    options.precision = precision_of_level(level);
    options.features = features_for(FeatureUse::kInference, level.features);
    const char* name = "";
    if (bytes != Precision::kFp16) {
      name = bytes == Precision::kInt8 ? " int8" : " fp8";
      options.precision = bytes;
      options.input_ranges = all_ranges(config);
    }
    const ElementType type = element_type_of(options.precision);
    DeviceWeights weights(store, type, nullptr);
    cuda::MatmulLibrary library({});
    const InferencePass backend(config, batch, options, weights, library, nullptr, kH200);
    lister.add("pass", backend.steps());
    keep(fmt::format("{} inference {}{} batch {}", config.name, level.name, name, batch), lister);
  }

  void training(const SwinConfig& config, const Level& level, bool tap_fusion = false,
                Precision bytes = Precision::kFp16) {
    Lister lister;
    DeviceTrainerOptions options;
    options.features = training_features(level.features);
    const bool eight_bits = bytes != Precision::kFp16;
    options.precision = eight_bits ? bytes : precision_of_level(level);
    options.byte_gradients = bytes == Precision::kFp8;
    options.trainer.drop_path = 0.2;
    options.trainer.tap_fusion = tap_fusion;
    cuda::MatmulLibrary library({});
    cuda::ConvolutionLibrary convolutions(library, {});
    const TrainingPlan plan(config, options, 2);
    TrainingSteps builder(config, options, plan, kNowhere, library, convolutions, nullptr, nullptr);
    lister.add("forward", builder.forward(true));
    lister.add("backward", builder.backward(false, 0.5).steps);
    const char* const in = !eight_bits ? "" : bytes == Precision::kFp8 ? " fp8" : " int8";
    keep(fmt::format("{} {} {}{}{}", config.name, config.task == Task::kSegmentation ? "scene training" : "training",
                     level.name, tap_fusion ? " tap fusion" : "", in),
         lister);
  }

  void scenes(const SwinConfig& config, const Level& level, bool tap_fusion) {
    Lister lister;
    static std::map<std::string_view, ParameterStore<float>> stores;  // zeros that nothing reads
    const ParameterStore<float>& store = stores.try_emplace(config.name, config, false).first->second;
    DeviceModelOptions options;
    options.precision = precision_of_level(level);
    options.features = features_for(FeatureUse::kInference, level.features);
    options.tap_fusion = tap_fusion;
    DeviceWeights weights(store, element_type_of(options.precision), nullptr);
    cuda::MatmulLibrary library({});
    cuda::ConvolutionLibrary convolutions(library, {});
    const InferencePass pass(config, 2, options, weights, library, nullptr, kH200, &convolutions);
    lister.add("pass", pass.steps());
    keep(fmt::format("{} scenes {}{}", config.name, level.name, tap_fusion ? " tap fusion" : ""), lister);
  }

  std::string all_;
  std::map<std::string, std::string> lists_;
};

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string file_of(std::string name) {
  for (char& letter : name)
    if (letter == ' ') letter = '_';
  return name + ".txt";
}

TEST_F(OpLists, AreWhatIsKept) {
  for (const SwinConfig& config : model_table()) {
    for (const Level& level : ladder()) {
      inference(config, level, 1);
      inference(config, level, 32);
      if (level.name == "tensorcore" || level.name == "graph") inference(config, level, 32, Precision::kFp8);
      if (level.name == "graph" && config.name.ends_with("_base")) inference(config, level, 32, Precision::kInt8);
      training(config, level);
      if (level.name == "graph" && config.name.ends_with("_base")) training(config, level, false, Precision::kInt8);
      if (level.name == "graph" && config.name.ends_with("_large")) training(config, level, false, Precision::kFp8);
      for (const bool tap_fusion : {false, true}) {
        training(scenes_of(config), level, tap_fusion);
        scenes(scenes_of(config), level, tap_fusion);
      }
    }
  }
  const fs::path kept = SWINSCOPE_OP_LISTS;
  lists_["all"] = all_;
  const bool updating = std::getenv("SWINSCOPE_GOLDEN_UPDATE") != nullptr;
  std::size_t in_full = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kept)) {
    const auto of_file = [&](const auto& list) { return file_of(list.first) == entry.path().filename(); };
    const auto list = std::ranges::find_if(lists_, of_file);
    ASSERT_NE(list, lists_.end()) << entry.path() << " is no list";
    ++in_full;
    if (updating) write(entry.path(), list->second);
    EXPECT_TRUE(read(entry.path()) == list->second) << entry.path() << " differs; see op_lists.actual";
  }
  EXPECT_GE(in_full, 2U);
  if (!HasFailure()) return;
  for (const auto& [name, text] : lists_)
    write(fs::path("op_lists.actual") / file_of(name), text);
}

}  // namespace
}  // namespace swinscope
