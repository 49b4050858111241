#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "kernels/check.h"
#include "kernels/convert.h"
#include "kernels/cuda_call.h"
#include "kernels/matmul.h"
#include "kernels/matmul_cache.h"

namespace swinscope::cuda {
namespace {

constexpr std::int64_t kWorkspaceBytes = std::int64_t{64} << 20;
constexpr int kCandidates = 128;
constexpr std::uint32_t kAlignment = 16;
// While timing, each launch takes the next of several weights, so that they come from memory as in a model.
constexpr std::int64_t kWeightPoolBytes = std::int64_t{192} << 20;
constexpr double kTimedMicroseconds = 400.0;
constexpr int kMaxTimedLaunches = 16;

static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(AlgorithmWords));

cudaDataType_t data_type(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return CUDA_R_16F;
    case ElementType::kBf16:
      return CUDA_R_16BF;
    case ElementType::kFp32:
      break;
  }
  return CUDA_R_32F;
}

cudaDataType_t operand_data_type(const MatmulShape& shape) {
  if (shape.arithmetic == MatmulArithmetic::kFp8) return CUDA_R_8F_E4M3;
  if (shape.arithmetic == MatmulArithmetic::kInt8) return CUDA_R_8I;
  return data_type(shape.operand_type);
}

cudaDataType_t result_data_type(const MatmulShape& shape) {
  return shape.arithmetic == MatmulArithmetic::kInt8 ? CUDA_R_32I : data_type(shape.result_type);
}

cublasComputeType_t compute_type(MatmulArithmetic arithmetic) {
  if (arithmetic == MatmulArithmetic::kInt8) return CUBLAS_COMPUTE_32I;
  return arithmetic == MatmulArithmetic::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kBias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::kBiasGelu:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
    case Epilogue::kNone:
      break;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

std::string key_of(const MatmulShape& s) {
  std::string key;
  for (const std::int64_t field :
       {s.m, s.n, s.k, std::int64_t{s.transpose_b}, s.batch, static_cast<std::int64_t>(s.operand_type),
        static_cast<std::int64_t>(s.result_type), static_cast<std::int64_t>(s.arithmetic),
        static_cast<std::int64_t>(s.epilogue), std::int64_t{s.accumulate}}) {
    if (!key.empty()) key += ',';
    key += std::to_string(field);
  }
  return key;
}

// cuBLASLt thinks in columns: our row-major y[m, n] is its column-major n x m matrix, so b comes first.
class Layout {
 public:
  Layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    SWINSCOPE_CUDA(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), rows));
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * columns;
    SWINSCOPE_CUDA(
        cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
    SWINSCOPE_CUDA(cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                    sizeof(stride)));
  }
  ~Layout() { (void)cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  Layout(Layout&&) = delete;
  Layout& operator=(Layout&&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class LtMatmul : public Matmul {
 public:
  LtMatmul(cublasLtHandle_t handle, const MatmulShape& shape, void* workspace)
      : handle_(handle),
        shape_(shape),
        workspace_(workspace),
        b_(operand_data_type(shape), shape.transpose_b ? shape.k : shape.n, shape.transpose_b ? shape.n : shape.k,
           shape.batch),
        a_(operand_data_type(shape), shape.k, shape.m, shape.batch),
        y_(result_data_type(shape), shape.n, shape.m, shape.batch) {
    SWINSCOPE_CUDA(
        cublasLtMatmulDescCreate(&description_, compute_type(shape.arithmetic), integers() ? CUDA_R_32I : CUDA_R_32F));
    if (shape.arithmetic == MatmulArithmetic::kFp8) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(shape.epilogue));
  }
  ~LtMatmul() override { (void)cublasLtMatmulDescDestroy(description_); }
  LtMatmul(const LtMatmul&) = delete;
  LtMatmul& operator=(const LtMatmul&) = delete;
  LtMatmul(LtMatmul&&) = delete;
  LtMatmul& operator=(LtMatmul&&) = delete;

  void run(const void* a, const void* b, const void* bias, void* y, Stream stream) const override {
    launch(algorithm_, a, b, bias, y, stream);
  }

  void launch(const cublasLtMatmulAlgo_t& algorithm, const void* a, const void* b, const void* bias, void* y,
              Stream stream) const {
    SWINSCOPE_CUDA(try_launch(algorithm, a, b, bias, y, stream));
  }

  cublasStatus_t try_launch(const cublasLtMatmulAlgo_t& algorithm, const void* a, const void* b, const void* bias,
                            void* y, Stream stream) const {
    if (shape_.epilogue != Epilogue::kNone) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    const float one = 1.0F;
    const float zero = 0.0F;
    const std::int32_t integer_one = 1;
    const std::int32_t integer_zero = 0;
    const auto factor = [&](bool is_one) -> const void* {
      if (integers()) return is_one ? &integer_one : &integer_zero;
      return is_one ? &one : &zero;
    };
    return cublasLtMatmul(handle_, description_, factor(true), b, b_.get(), a, a_.get(), factor(shape_.accumulate), y,
                          y_.get(), y, y_.get(), &algorithm, workspace_, static_cast<std::size_t>(kWorkspaceBytes),
                          stream);
  }

  std::vector<cublasLtMatmulAlgo_t> candidates() const {
    cublasLtMatmulPreference_t preference = nullptr;
    SWINSCOPE_CUDA(cublasLtMatmulPreferenceCreate(&preference));
    const auto workspace = static_cast<std::uint64_t>(kWorkspaceBytes);
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> results{};
    int found = 0;
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
    };
    cublasStatus_t status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      if (status == CUBLAS_STATUS_SUCCESS) status = prefer(attribute, kAlignment);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = cublasLtMatmulAlgoGetHeuristic(handle_, description_, b_.get(), a_.get(), y_.get(), y_.get(), preference,
                                              kCandidates, results.data(), &found);
    }
    (void)cublasLtMatmulPreferenceDestroy(preference);
    SWINSCOPE_CUDA(status);
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < found; ++i) {
      const auto& result = results[static_cast<std::size_t>(i)];
      if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(result.algo);
    }
    if (algorithms.empty()) throw Error("cuBLASLt has no algorithm for the product " + key_of(shape_), false);
    return algorithms;
  }

  bool accepts(const cublasLtMatmulAlgo_t& algorithm) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle_, description_, b_.get(), a_.get(), y_.get(), y_.get(), &algorithm, &result);
    return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= static_cast<std::size_t>(kWorkspaceBytes);
  }

  void use(const cublasLtMatmulAlgo_t& algorithm) { algorithm_ = algorithm; }
  const MatmulShape& shape() const { return shape_; }

 private:
  bool integers() const { return shape_.arithmetic == MatmulArithmetic::kInt8; }

  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) const {
    SWINSCOPE_CUDA(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof(value)));
  }

  cublasLtHandle_t handle_;
  MatmulShape shape_;
  void* workspace_;
  Layout b_;
  Layout a_;
  Layout y_;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

// Operands to time products on: random, and grown to the largest product.
class TuningData {
 public:
  void fit(const MatmulShape& s, Stream stream) {
    const bool bytes = s.operand_bytes() == 1;
    weight_bytes_ = (s.batch * s.n * s.k * s.operand_bytes() + 255) / 256 * 256;
    grow(a_, s.batch * s.m * s.k * s.operand_bytes(), s.operand_type, bytes, stream);
    grow(weights_, std::max(weight_bytes_, kWeightPoolBytes), s.operand_type, bytes, stream);
    const std::int64_t result_bytes = s.arithmetic == MatmulArithmetic::kInt8 ? 4 : element_bytes(s.result_type);
    grow(y_, s.batch * s.m * s.n * result_bytes, s.result_type, false, stream);
    grow(bias_, s.n * element_bytes(s.operand_type), s.operand_type, false, stream);
  }
  const void* a() const { return a_.buffer.data(); }
  const void* weight(int launch) const {
    const std::int64_t place = launch % (weights_.buffer.bytes() / weight_bytes_);
    return static_cast<const char*>(weights_.buffer.data()) + place * weight_bytes_;
  }
  const void* bias() const { return bias_.buffer.data(); }
  void* y() const { return y_.buffer.data(); }

 private:
  struct Operand {
    DeviceBuffer buffer;
    ElementType type = ElementType::kFp32;
    bool single_bytes = false;
  };

  static void grow(Operand& operand, std::int64_t bytes, ElementType type, bool single_bytes, Stream stream) {
    if (operand.buffer.bytes() >= bytes && operand.type == type && operand.single_bytes == single_bytes) return;
    const std::int64_t size = (std::max(operand.buffer.bytes(), bytes) + 3) / 4 * 4;
    operand.buffer = DeviceBuffer();  // first, so that both are never there
    operand.buffer = DeviceBuffer(size);
    operand.type = type;
    operand.single_bytes = single_bytes;
    if (single_bytes) return fill_random_bytes(size, 1, operand.buffer.data(), stream);
    fill_random(size / element_bytes(type), type, 1, operand.buffer.data(), stream);
  }

  Operand a_, weights_, y_, bias_;
  std::int64_t weight_bytes_ = 1;
};

// Microseconds of one launch within a graph of several; nothing where the algorithm refuses.
std::optional<double> time_algorithm(const LtMatmul& matmul, const cublasLtMatmulAlgo_t& algorithm,
                                     const TuningData& data, Stream stream) {
  const auto launch = [&](int index) {
    return matmul.try_launch(algorithm, data.a(), data.weight(index), data.bias(), data.y(), stream);
  };
  if (launch(0) != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  Event begin;
  Event end;
  begin.record(stream);
  SWINSCOPE_CUDA(launch(1));
  end.record(stream);
  const double once = std::max(1.0, 1e3 * static_cast<double>(Event::milliseconds(begin, end)));
  const int launches = std::clamp(static_cast<int>(kTimedMicroseconds / once), 2, kMaxTimedLaunches);
  Graph graph;
  graph.begin_capture(stream);
  for (int i = 0; i < launches; ++i)
    SWINSCOPE_CUDA(launch(i));
  graph.end_capture(stream);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; ++round) {
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    best = std::min(best, 1e3 * static_cast<double>(Event::milliseconds(begin, end)) / launches);
  }
  return best;
}

std::filesystem::path cache_file(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::string name = device_info().name;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return folder / ("matmul-" + name + "-" + std::to_string(cublasLtGetVersion()) + ".txt");
}

}  // namespace

struct MatmulLibrary::State {
  cublasLtHandle_t handle = nullptr;
  DeviceBuffer workspace{kWorkspaceBytes};
  std::filesystem::path file;
  AlgorithmTable table;
  std::map<MatmulShape, std::unique_ptr<LtMatmul>> matmuls;
  std::unique_ptr<TuningData> data;
  MatmulStatistics statistics;

  void choose(LtMatmul& matmul, Stream stream) {
    const std::string key = key_of(matmul.shape());
    const auto kept = table.find(key);
    if (kept != table.end()) {
      const auto algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(kept->second);
      if (matmul.accepts(algorithm)) return matmul.use(algorithm);
    }
    if (!data) data = std::make_unique<TuningData>();
    data->fit(matmul.shape(), stream);
    double best = std::numeric_limits<double>::infinity();
    cublasLtMatmulAlgo_t chosen{};
    for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates()) {
      const std::optional<double> time = time_algorithm(matmul, algorithm, *data, stream);
      if (!time || *time >= best) continue;
      best = *time;
      chosen = algorithm;
    }
    if (std::isinf(best)) throw Error("every algorithm of cuBLASLt failed for the product " + key, false);
    matmul.use(chosen);
    table.insert_or_assign(key, std::bit_cast<AlgorithmWords>(chosen));
    ++statistics.timed;
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
  std::unique_ptr<LtMatmul>& slot = state_->matmuls[shape];
  if (!slot) {
    auto matmul = std::make_unique<LtMatmul>(state_->handle, shape, state_->workspace.data());
    state_->choose(*matmul, stream);
    slot = std::move(matmul);
    ++state_->statistics.shapes;
  }
  return *slot;
}

MatmulStatistics MatmulLibrary::statistics() const { return state_->statistics; }

void MatmulLibrary::finish_tuning() {
  state_->data.reset();
  if (!state_->file.empty() && state_->statistics.timed > 0) (void)write_algorithms(state_->file, state_->table);
}

}  // namespace swinscope::cuda
