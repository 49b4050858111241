#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
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
// Stands before the number of a tile size of our own kernel, and whether it lets the next one begin late. cuBLASLt's
// words begin with a small number.
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
  if (s.normalize_result) key += ",normed";
  if (s.scaled) key += ",scaled";
  if (s.byte_result != ByteFormat::kNone) key += s.byte_result == ByteFormat::kInt8 ? ",int8" : ",bytes";
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

// Ways to compute a product that are worth a trial where it is used.
constexpr double kNearlyAsFast = 1.6;
constexpr std::size_t kMostWays = 8;

struct Choice {
  double microseconds = std::numeric_limits<double>::infinity();
  AlgorithmWords words{};
};

const Choice& fastest(const std::vector<Choice>& choices) {
  static const Choice none;
  const auto found = std::ranges::min_element(choices, {}, &Choice::microseconds);
  return found == choices.end() ? none : *found;
}

// A product whose way of computing may be exchanged.
class ChosenMatmul : public Matmul {
 public:
  explicit ChosenMatmul(std::unique_ptr<Matmul> way) : way_(std::move(way)) {}
  void use(std::unique_ptr<Matmul> way) { way_ = std::move(way); }
  void run(const MatmulOperands& operands, Stream stream) const override { way_->run(operands, stream); }
  bool turns() const override { return way_->turns(); }

 private:
  std::unique_ptr<Matmul> way_;
};

struct OpenChoice {
  std::string key;
  std::vector<AlgorithmWords> ways;  // the one in use first
  double microseconds = 0.0;         // of that
  MatmulShape shape;
};

}  // namespace

struct MatmulLibrary::State {
  cublasLtHandle_t handle = nullptr;
  DeviceBuffer workspace{kLtWorkspaceBytes};
  std::filesystem::path file;
  std::string purpose;
  AlgorithmTable table;
  std::map<MatmulShape, std::unique_ptr<ChosenMatmul>> matmuls;  // null: a kernel of its own normalizes the result
  std::vector<OpenChoice> open;
  std::map<MatmulShape, int> uses;
  std::unique_ptr<TuningData> data;
  MatmulStatistics statistics;

  // Nothing where this GPU or this version of cuBLASLt does not know what was chosen.
  std::unique_ptr<Matmul> make(const MatmulShape& shape, const AlgorithmWords& words) const {
    if (words[0] == kSeparate) return nullptr;
    if (words[0] == kOwnKernel) {
      const int tile = static_cast<int>(words[1]);
      return HopperMatmul::fits(shape, tile) ? std::make_unique<HopperMatmul>(shape, tile, words[2] != 0) : nullptr;
    }
    auto matmul = std::make_unique<LtMatmul>(handle, shape, workspace.data());
    const auto algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(words);
    if (!matmul->accepts(algorithm)) return nullptr;
    matmul->use(algorithm);
    return matmul;
  }

  std::string key_of(const MatmulShape& shape) const { return purpose + cuda::key_of(shape); }

  std::vector<Choice> time_own(const MatmulShape& shape, Stream stream) const {
    std::vector<Choice> choices;
    for (int tile = 0; tile < hopper::kTiles; ++tile) {
      if (!HopperMatmul::fits(shape, tile)) continue;
      const HopperMatmul matmul(shape, tile);
      const auto launch = [&](int index) {
        matmul.run(data->operands(index), stream);
        return true;
      };
      const std::optional<double> time = time_launches(launch, stream);
      if (time) choices.push_back({*time, {kOwnKernel, static_cast<std::uint64_t>(tile)}});
    }
    return choices;
  }

  std::vector<Choice> time_lt(const MatmulShape& shape, Stream stream) const {
    std::vector<Choice> choices;
    if (shape.scaled) return choices;  // it has no such factors
    const LtMatmul matmul(handle, shape, workspace.data());
    for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates()) {
      const auto launch = [&](int index) {
        return matmul.try_launch(algorithm, data->operands(index), stream) == CUBLAS_STATUS_SUCCESS;
      };
      const std::optional<double> time = time_launches(launch, stream);
      if (time) choices.push_back({*time, std::bit_cast<AlgorithmWords>(algorithm)});
    }
    return choices;
  }

  // What else than `chosen` could be tried.
  void leave_open(const std::string& key, const MatmulShape& shape, const Choice& chosen, std::vector<Choice> others) {
    std::ranges::sort(others, {}, &Choice::microseconds);
    OpenChoice choice{key, {chosen.words}, chosen.microseconds, shape};
    for (const Choice& other : others) {
      if (choice.ways.size() == kMostWays || other.microseconds > kNearlyAsFast * others.front().microseconds) break;
      if (other.words != chosen.words) choice.ways.push_back(other.words);
    }
    // Alone a kernel cannot show whether the next one had better begin late.
    for (std::size_t way = choice.ways.size(); way-- > 0;) {
      AlgorithmWords words = choice.ways[way];
      if (words[0] != kOwnKernel) continue;
      words[2] = 1;
      choice.ways.insert(choice.ways.begin() + static_cast<std::ptrdiff_t>(way) + 1, words);
    }
    if (choice.ways.size() > 1) open.push_back(std::move(choice));
  }

  void fit_data(const MatmulShape& shape, Stream stream) {
    if (!data) data = std::make_unique<TuningData>();
    data->fit(shape, stream);
  }

  // The product and a normalization of its result.
  void run_separate(const MatmulShape& shape, const Matmul& product, int index, Stream stream) const {
    const MatmulOperands operands = data->operands(index);
    product.run(operands, stream);
    LayerNormTensors tensors{operands.y, operands.bias, operands.bias, data->stream(),
                             shape.accumulate ? data->stream() : nullptr};
    if (shape.byte_result != ByteFormat::kNone) tensors.bytes = operands.bytes;
    tensors.byte_format = shape.byte_result;
    layernorm_forward({shape.m, shape.n}, shape.operand_type, tensors, stream);
  }

  // A product that normalizes its result, or nothing where `separate` with a normalization after it is faster.
  std::unique_ptr<Matmul> choose_normalized(const MatmulShape& shape, const Matmul& separate, Stream stream) {
    const std::string key = key_of(shape);
    const auto kept = table.find(key);
    if (kept != table.end()) return make(shape, kept->second);
    fit_data(shape, stream);
    const auto launch = [&](int index) {
      run_separate(shape, separate, index, stream);
      return true;
    };
    Choice separate_choice;
    separate_choice.words[0] = kSeparate;
    separate_choice.microseconds = time_launches(launch, stream).value_or(separate_choice.microseconds);
    std::vector<Choice> choices = time_own(shape, stream);
    choices.push_back(separate_choice);
    const Choice choice = fastest(choices);
    table.insert_or_assign(key, choice.words);
    ++statistics.timed;
    return make(shape, choice.words);
  }

  static bool is_offered(const MatmulShape& shape) {
    for (int tile = 0; tile < hopper::kTiles; ++tile) {
      if (HopperMatmul::fits(shape, tile)) return true;
    }
    return false;
  }

  // A product that normalizes its result; product: without.
  const Matmul* prepare_in_one(const MatmulShape& shape, const MatmulShape& product, Stream stream) {
    if (!is_offered(shape)) return nullptr;
    const auto known = matmuls.find(shape);
    if (known != matmuls.end()) return known->second.get();
    std::unique_ptr<Matmul> way = choose_normalized(shape, prepare(product, stream), stream);
    std::unique_ptr<ChosenMatmul> matmul;
    if (way) {
      ++statistics.shapes;
      matmul = std::make_unique<ChosenMatmul>(std::move(way));
    }
    return matmuls.emplace(shape, std::move(matmul)).first->second.get();
  }

  void use(const std::string& name, int way) {
    const auto found = std::ranges::find(open, name, &OpenChoice::key);
    require(found != open.end() && way >= 0 && way < static_cast<int>(found->ways.size()), "matmul",
            "no such choice is open");
    const AlgorithmWords& words = found->ways[static_cast<std::size_t>(way)];
    table.insert_or_assign(name, words);
    std::unique_ptr<Matmul> matmul = make(found->shape, words);
    require(matmul != nullptr, "matmul", "what was timed is not accepted any more");
    matmuls.at(found->shape)->use(std::move(matmul));
  }

  const Matmul& prepare(const MatmulShape& shape, Stream stream) {
    std::unique_ptr<ChosenMatmul>& slot = matmuls[shape];
    if (!slot) {
      slot = std::make_unique<ChosenMatmul>(choose(shape, stream));
      ++statistics.shapes;
    }
    ++uses[shape];
    return *slot;
  }

  std::unique_ptr<Matmul> choose(const MatmulShape& shape, Stream stream) {
    const std::string key = key_of(shape);
    const auto kept = table.find(key);
    if (kept != table.end()) {
      if (auto matmul = make(shape, kept->second)) return matmul;
    }
    fit_data(shape, stream);
    std::vector<Choice> choices = time_own(shape, stream);
    const std::vector<Choice> of_library = time_lt(shape, stream);
    const Choice own = fastest(choices);
    const Choice lt = fastest(of_library);
    const Choice& choice = takes_own_kernel(shape.m, own.microseconds, lt.microseconds) ? own : lt;
    if (std::isinf(choice.microseconds)) throw Error("nothing computes the product " + key + " on this GPU", false);
    table.insert_or_assign(key, choice.words);
    choices.insert(choices.end(), of_library.begin(), of_library.end());
    leave_open(key, shape, choice, std::move(choices));
    ++statistics.timed;
    return make(shape, choice.words);
  }
};

MatmulLibrary::MatmulLibrary(const std::filesystem::path& cache_folder, const std::string& purpose)
    : state_(std::make_unique<State>()) {
  state_->purpose = purpose.empty() ? "" : purpose + ":";
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

const Matmul* MatmulLibrary::prepare_result_normalized(const MatmulShape& shape, Stream stream) {
  MatmulShape normalized = shape;
  normalized.normalize_result = true;
  MatmulShape product = shape;
  product.accumulate = false;
  product.byte_result = ByteFormat::kNone;
  return state_->prepare_in_one(normalized, product, stream);
}

std::vector<MatmulChoice> MatmulLibrary::open_choices() const {
  std::vector<const OpenChoice*> open;
  for (const OpenChoice& choice : state_->open) {
    if (state_->uses[choice.shape] > 0) open.push_back(&choice);
  }
  const auto total = [&](const OpenChoice* choice) { return -choice->microseconds * state_->uses[choice->shape]; };
  std::ranges::stable_sort(open, {}, total);
  std::vector<MatmulChoice> choices;
  for (const OpenChoice* const choice : open)
    choices.push_back({choice->key, static_cast<int>(choice->ways.size())});
  return choices;
}

void MatmulLibrary::use(const MatmulChoice& choice, int way) { state_->use(choice.name, way); }

MatmulStatistics MatmulLibrary::statistics() const { return state_->statistics; }

std::string MatmulLibrary::choices() const {
  AlgorithmTable used;
  for (const auto& [shape, matmul] : state_->matmuls) {
    const auto chosen = state_->table.find(state_->key_of(shape));
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
  if (!state_->file.empty() && state_->statistics.timed > 0) (void)add_algorithms(state_->file, state_->table);
}

}  // namespace swinscope::cuda
