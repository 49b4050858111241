#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/matmul_cache.h"
#include "kernels/matmul_hopper.h"
#include "kernels/matmul_lt.h"
#include "kernels/matmul_tuning.h"

namespace swinscope::cuda {
namespace {

static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(AlgorithmWords));
// Stands before the number of a tile size of our own kernel. cuBLASLt's words begin with a small number.
constexpr std::uint64_t kOwnKernel = 0x73776e7363707231;
// Of a product that could normalize: a kernel of its own does it faster.
constexpr std::uint64_t kSeparate = 0x73776e7363707232;

std::string key_of(const MatmulShape& s) {
  std::string key;
  for (const std::int64_t field :
       {s.m, s.n, s.k, std::int64_t{s.transpose_b}, s.batch, static_cast<std::int64_t>(s.operand_type),
        static_cast<std::int64_t>(s.result_type), static_cast<std::int64_t>(s.arithmetic),
        static_cast<std::int64_t>(s.epilogue), std::int64_t{s.accumulate}}) {
    if (!key.empty()) key += ',';
    key += std::to_string(field);
  }
  if (s.transpose_a) key += ",ta";  // behind what files of choices already hold
  if (s.normalize) key += ",norm";
  if (s.normalize_result) key += ",normed";
  if (s.spare_multiprocessors > 0) key += ",spare" + std::to_string(s.spare_multiprocessors);
  return key;
}

// Choices hold for one model of GPU and one version of the library.
std::string chooser_name() {
  std::string name = device_info().name;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  // What could be chosen, and how, is part of the name: a choice among fewer is made again.
  return "matmul-" + name + "-" + std::to_string(cublasLtGetVersion()) + "-" + std::to_string(hopper::kTiles) + "-" +
         std::to_string(kChoiceRule);
}

std::filesystem::path cache_file(const std::filesystem::path& folder) {
  return folder.empty() ? std::filesystem::path() : folder / (chooser_name() + ".txt");
}

struct Choice {
  double microseconds = std::numeric_limits<double>::infinity();
  AlgorithmWords words{};
};

}  // namespace

struct MatmulLibrary::State {
  cublasLtHandle_t handle = nullptr;
  DeviceBuffer workspace{kLtWorkspaceBytes};
  std::filesystem::path file;
  AlgorithmTable table;
  std::map<MatmulShape, std::unique_ptr<Matmul>> matmuls;
  std::unique_ptr<TuningData> data;
  MatmulStatistics statistics;

  // Nothing where this GPU or this version of cuBLASLt does not know what was chosen.
  std::unique_ptr<Matmul> make(const MatmulShape& shape, const AlgorithmWords& words) const {
    if (words[0] == kSeparate) return nullptr;
    if (words[0] == kOwnKernel) {
      const int tile = static_cast<int>(words[1]);
      return HopperMatmul::fits(shape, tile) ? std::make_unique<HopperMatmul>(shape, tile) : nullptr;
    }
    auto matmul = std::make_unique<LtMatmul>(handle, shape, workspace.data());
    const auto algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(words);
    if (!matmul->accepts(algorithm)) return nullptr;
    matmul->use(algorithm);
    return matmul;
  }

  void time_own(const MatmulShape& shape, Stream stream, Choice& choice) const {
    for (int tile = 0; tile < hopper::kTiles; ++tile) {
      if (!HopperMatmul::fits(shape, tile)) continue;
      const HopperMatmul matmul(shape, tile);
      const auto launch = [&](int index) {
        matmul.run(data->operands(index), stream);
        return true;
      };
      const double time = time_launches(launch, stream).value_or(choice.microseconds);
      if (time < choice.microseconds) choice = {time, {kOwnKernel, static_cast<std::uint64_t>(tile)}};
    }
  }

  void time_lt(const MatmulShape& shape, Stream stream, Choice& choice) const {
    const LtMatmul matmul(handle, shape, workspace.data());
    for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates()) {
      const auto launch = [&](int index) {
        return matmul.try_launch(algorithm, data->operands(index), stream) == CUBLAS_STATUS_SUCCESS;
      };
      const double time = time_launches(launch, stream).value_or(choice.microseconds);
      if (time < choice.microseconds) choice = {time, std::bit_cast<AlgorithmWords>(algorithm)};
    }
  }

  void fit_data(const MatmulShape& shape, Stream stream) {
    if (!data) data = std::make_unique<TuningData>();
    data->fit(shape, stream);
  }

  // The same in two kernels: the product and a normalization of its rows of a, or of its result.
  void run_separate(const MatmulShape& shape, const Matmul& product, int index, Stream stream) const {
    const MatmulOperands operands = data->operands(index);
    if (shape.normalize) {
      layernorm_forward({shape.m, shape.k}, shape.operand_type,
                        {operands.a, operands.bias, operands.bias, data->rows(), nullptr}, stream);
    }
    product.run(operands, stream);
    if (shape.normalize_result) {
      layernorm_forward(
          {shape.m, shape.n}, shape.operand_type,
          {operands.y, operands.bias, operands.bias, data->stream(), shape.accumulate ? data->stream() : nullptr},
          stream);
    }
  }

  // A product that normalizes, or nothing where `separate` with a normalization beside it is faster.
  std::unique_ptr<Matmul> choose_normalized(const MatmulShape& shape, const Matmul& separate, Stream stream) {
    const std::string key = key_of(shape);
    const auto kept = table.find(key);
    if (kept != table.end()) return make(shape, kept->second);
    fit_data(shape, stream);
    const auto launch = [&](int index) {
      run_separate(shape, separate, index, stream);
      return true;
    };
    Choice choice;
    choice.words[0] = kSeparate;
    choice.microseconds = time_launches(launch, stream).value_or(choice.microseconds);
    time_own(shape, stream, choice);
    table.insert_or_assign(key, choice.words);
    ++statistics.timed;
    return make(shape, choice.words);
  }

  // shape: with what is normalized; product: without.
  const Matmul* prepare_in_one(const MatmulShape& shape, const MatmulShape& product, Stream stream) {
    bool offered = false;
    for (int tile = 0; tile < hopper::kTiles; ++tile)
      offered = offered || HopperMatmul::fits(shape, tile);
    if (!offered) return nullptr;
    const auto known = matmuls.find(shape);
    if (known != matmuls.end()) return known->second.get();
    std::unique_ptr<Matmul> matmul = choose_normalized(shape, prepare(product, stream), stream);
    if (matmul) ++statistics.shapes;
    return matmuls.emplace(shape, std::move(matmul)).first->second.get();
  }

  const Matmul& prepare(const MatmulShape& shape, Stream stream) {
    std::unique_ptr<Matmul>& slot = matmuls[shape];
    if (!slot) {
      slot = choose(shape, stream);
      ++statistics.shapes;
    }
    return *slot;
  }

  std::unique_ptr<Matmul> choose(const MatmulShape& shape, Stream stream) {
    const std::string key = key_of(shape);
    const auto kept = table.find(key);
    if (kept != table.end()) {
      if (auto matmul = make(shape, kept->second)) return matmul;
    }
    fit_data(shape, stream);
    Choice own;
    Choice lt;
    time_own(shape, stream, own);
    time_lt(shape, stream, lt);
    const Choice& choice = takes_own_kernel(shape.m, own.microseconds, lt.microseconds) ? own : lt;
    if (std::isinf(choice.microseconds)) throw Error("nothing computes the product " + key + " on this GPU", false);
    table.insert_or_assign(key, choice.words);
    ++statistics.timed;
    return make(shape, choice.words);
  }
};

MatmulLibrary::MatmulLibrary(const std::filesystem::path& cache_folder) : state_(std::make_unique<State>()) {
  SWINSCOPE_CUDA(cublasLtCreate(&state_->handle));
  state_->file = cache_file(cache_folder);
  if (!state_->file.empty()) state_->table = read_algorithms(state_->file);
}

MatmulLibrary::~MatmulLibrary() {
  state_->matmuls.clear();
  (void)cublasLtDestroy(state_->handle);
}

const Matmul& MatmulLibrary::prepare(const MatmulShape& shape, Stream stream) {
  require(shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.batch > 0, "matmul", "extents must be positive");
  return state_->prepare(shape, stream);
}

const Matmul* MatmulLibrary::prepare_normalized(const MatmulShape& shape, Stream stream) {
  MatmulShape normalized = shape;
  normalized.normalize = true;
  return state_->prepare_in_one(normalized, shape, stream);
}

const Matmul* MatmulLibrary::prepare_result_normalized(const MatmulShape& shape, Stream stream) {
  MatmulShape normalized = shape;
  normalized.normalize_result = true;
  MatmulShape product = shape;
  product.accumulate = false;
  return state_->prepare_in_one(normalized, product, stream);
}

MatmulStatistics MatmulLibrary::statistics() const { return state_->statistics; }

std::string MatmulLibrary::choices() const {
  AlgorithmTable used;
  for (const auto& [shape, matmul] : state_->matmuls) {
    const auto chosen = state_->table.find(key_of(shape));
    if (chosen != state_->table.end()) used.insert(*chosen);
  }
  std::ostringstream text;
  text << chooser_name() << '\n';
  print_algorithms(used, text);
  return text.str();
}

void MatmulLibrary::prefer(const std::string& choices) {
  std::istringstream text(choices);
  std::string chooser;
  if (!std::getline(text, chooser) || chooser != chooser_name()) return;
  for (const auto& [key, words] : parse_algorithms(text))
    state_->table.insert_or_assign(key, words);
}

void MatmulLibrary::finish_tuning() {
  state_->data.reset();
  if (!state_->file.empty() && state_->statistics.timed > 0) (void)write_algorithms(state_->file, state_->table);
}

}  // namespace swinscope::cuda
