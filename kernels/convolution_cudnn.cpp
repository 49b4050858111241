#include "kernels/convolution_cudnn.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include <cuda_runtime_api.h>

#include "kernels/convert.h"
#include "kernels/convolution_plans.h"
#include "kernels/matmul_cache.h"
#include "kernels/matmul_tuning.h"

namespace swinscope::cuda {
namespace {

// For all convolutions of a library, which follow each other on one stream.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{256} << 20;
// Plans that are timed: cuDNN's first are its best, and some take a second to compile.
constexpr int kMostTimed = 5;

std::string key_of(const ConvolutionProblem& p) {
  std::string key;
  for (const std::int64_t field :
       {p.shape.batch, p.shape.height, p.shape.width, p.shape.inputs, p.shape.outputs, p.shape.kernel,
        static_cast<std::int64_t>(p.pass), static_cast<std::int64_t>(p.operand_type),
        static_cast<std::int64_t>(p.result_type), std::int64_t{p.tf32}}) {
    if (!key.empty()) key += ',';
    key += std::to_string(field);
  }
  return key;
}

// What cuDNN proposes depends on the model of GPU and on its version alone, so that a place in the list is a choice.
std::filesystem::path cache_file(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::string name = device_info().name;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return folder / ("convolution-" + name + "-" + std::to_string(cudnn_version(nullptr)) + ".txt");
}

// Operands to time on: random, since zeros are faster.
class Operands {
 public:
  Operands(const ConvolutionProblem& p, Stream stream) {
    const ConvolutionShape& s = p.shape;
    const std::int64_t x = s.pixels() * s.inputs;
    const std::int64_t y = s.pixels() * s.outputs;
    const std::int64_t weight = s.outputs * s.taps() * s.inputs;
    const bool of_weight = p.pass == ConvolutionPass::kWeightGradient;
    const bool of_input = p.pass == ConvolutionPass::kInputGradient;
    fill(first, of_input ? y : x, p.operand_type, stream);
    fill(second, of_weight ? y : weight, p.operand_type, stream);
    fill(result, of_weight ? weight : (of_input ? x : y), p.result_type, stream);
  }

  DeviceBuffer first, second, result;

 private:
  static void fill(DeviceBuffer& buffer, std::int64_t count, ElementType type, Stream stream) {
    buffer = DeviceBuffer((count * element_bytes(type) + 15) / 16 * 16);
    fill_random(buffer.bytes() / element_bytes(type), type, 1, buffer.data(), stream);
  }
};

}  // namespace

struct CudnnConvolutions::State {
  explicit State(const std::filesystem::path& folder) : file(cache_file(folder)) {
    if (!file.empty()) table = read_algorithms(file);
  }

  CudnnHandle handle;
  DeviceBuffer workspace{kWorkspaceBytes};
  std::filesystem::path file;
  AlgorithmTable table;   // key -> (proposals in all, place of the chosen one)
  AlgorithmTable chosen;  // of them what was prepared
  ConvolutionStatistics statistics;

  std::unique_ptr<ConvolutionPlan> make(const ConvolutionGraph& graph, const CudnnDescriptor& configuration) const {
    if (!graph.keeps_promises(configuration)) return nullptr;
    return ConvolutionPlan::make(handle.get(), configuration, workspace.data(), workspace.bytes());
  }

  // Microseconds; infinite where the plan fails, or cannot be part of a CUDA graph.
  static double time(const ConvolutionPlan& plan, const Operands& operands, Stream stream) {
    const auto launch = [&](int /*index*/) {
      return plan.try_run(operands.first.data(), operands.second.data(), operands.result.data(), stream) ==
             CUDNN_STATUS_SUCCESS;
    };
    try {
      if (const std::optional<double> microseconds = time_launches(launch, stream)) return *microseconds;
    } catch (const std::exception&) {  // not to be captured, most likely: the next plan may be
    }
    (void)cudaGetLastError();  // what the plan was refused for is not the next launch's
    return std::numeric_limits<double>::infinity();
  }

  std::unique_ptr<ConvolutionPlan> choose(const ConvolutionProblem& problem, const std::string& key, Stream stream) {
    const ConvolutionGraph graph(handle.get(), problem);
    const std::vector<CudnnDescriptor> configurations = graph.configurations();
    const auto kept = table.find(key);
    if (kept != table.end() && kept->second[0] == configurations.size() && kept->second[1] < configurations.size()) {
      if (auto plan = make(graph, configurations[kept->second[1]])) return plan;
    }
    const Operands operands(problem, stream);
    std::unique_ptr<ConvolutionPlan> best;
    double best_time = std::numeric_limits<double>::infinity();
    int timed = 0;
    for (std::size_t place = 0; place < configurations.size() && timed < kMostTimed; ++place) {
      std::unique_ptr<ConvolutionPlan> plan = make(graph, configurations[place]);
      if (!plan) continue;
      const double microseconds = time(*plan, operands, stream);
      if (std::isfinite(microseconds)) ++timed;
      if (microseconds >= best_time) continue;
      best_time = microseconds;
      best = std::move(plan);
      table.insert_or_assign(key, AlgorithmWords{configurations.size(), place});
    }
    if (!best) throw Error("nothing in cuDNN computes the convolution " + key + " on this GPU", false);
    ++statistics.timed;
    return best;
  }
};

CudnnConvolutions::CudnnConvolutions(const std::filesystem::path& cache_folder)
    : state_(std::make_unique<State>(cache_folder)) {}

CudnnConvolutions::~CudnnConvolutions() = default;

std::unique_ptr<Convolution> CudnnConvolutions::prepare(const ConvolutionProblem& problem, Stream stream) {
  const std::string key = key_of(problem);
  std::unique_ptr<Convolution> plan = state_->choose(problem, key, stream);
  state_->chosen.insert_or_assign(key, state_->table.at(key));
  ++state_->statistics.shapes;
  return plan;
}

ConvolutionStatistics CudnnConvolutions::statistics() const { return state_->statistics; }

std::string CudnnConvolutions::choices() const {
  std::ostringstream text;
  text << "cudnn " << cudnn_version(nullptr) << '\n';
  print_algorithms(state_->chosen, text);
  return text.str();
}

void CudnnConvolutions::finish_tuning() {
  if (!state_->file.empty() && state_->statistics.timed > 0) (void)add_algorithms(state_->file, state_->table);
}

}  // namespace swinscope::cuda
