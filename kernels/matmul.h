// Matrix products on the device, with what follows a product in the same kernel: by cuBLASLt, and on
// compute capability 9.0 by a kernel of our own (hopper_product.h). For each shape all that can do it are timed once;
// the choice is kept in a file for the GPU and the library's version.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/byte_format.h"
#include "kernels/device.h"

namespace swinscope::cuda {

enum class Epilogue : std::uint8_t {
  kNone,
  kBias,      // + bias[n]
  kBiasGelu,  // tanh form of GELU(... + bias[n]): 0.5 z (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3)))
};

enum class MatmulArithmetic : std::uint8_t {
  kByType,  // fp32 operands multiply in fp32, 16-bit ones on tensor cores with fp32 sums
  kTf32,    // fp32 operands rounded to 10 bits of mantissa, on tensor cores
  // Operands of one byte, whatever their type says; b must be transposed. There is no epilogue unless they are
  // `scaled`.
  kFp8,   // e4m3, fast accumulation; compute capability 8.9 and newer
  kInt8,  // results are 32-bit integers, unless it is scaled
};

// y[m, n] = epilogue(op(a)[m, k] * op(b)[k, n]) (+ y before, if it accumulates), row-major and densely packed; `batch`
// products whose operands follow each other. transpose_a: a is stored [k, m]; transpose_b: b is stored [n, k], as
// torch.nn.Linear's weight. The gradients of a linear layer y = x W^T are dx = dy W, neither transposed, and
// dW = dy^T x, transpose_a only.
struct MatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_b = true;
  std::int64_t batch = 1;
  ElementType operand_type = ElementType::kFp32;
  ElementType result_type = ElementType::kFp32;
  MatmulArithmetic arithmetic = MatmulArithmetic::kByType;
  Epilogue epilogue = Epilogue::kNone;
  bool accumulate = false;
  bool transpose_a = false;
  // The rows of the product with its bias, before y is added: MatmulLibrary::prepare_result_normalized().
  bool normalize_result = false;
  int spare_multiprocessors = 0;  // left to a kernel that runs beside it
  // kFp8 and kInt8 on compute capability 9.0, with fp16 as the type of all else: sums are multiplied by a factor of
  // their column before the epilogue.
  bool scaled = false;
  // Of fp16: results have 8 bits, as the operands of scaled products; where results are normalized, beside y.
  ByteFormat byte_result = ByteFormat::kNone;

  std::int64_t operand_bytes() const {
    const bool bytes = arithmetic == MatmulArithmetic::kFp8 || arithmetic == MatmulArithmetic::kInt8;
    return bytes ? 1 : element_bytes(operand_type);
  }
  // Of scaled operands.
  ByteFormat operand_format() const {
    if (!scaled) return ByteFormat::kNone;
    return arithmetic == MatmulArithmetic::kInt8 ? ByteFormat::kInt8 : ByteFormat::kE4m3;
  }

  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;  // NOLINT(modernize-use-nullptr)
};

struct MatmulOperands {
  const void* a = nullptr;
  const void* b = nullptr;     // nothing that the kernel just before on the stream writes: it may be fetched early
  const void* bias = nullptr;  // where the epilogue has one
  void* y = nullptr;           // must not overlap a or b
  // Where the shape normalizes results; [n] of the operands' type.
  const void* gamma = nullptr;
  const void* beta = nullptr;
  bool backwards = false;         // from the last rows to the first: the same bits. See Matmul::turns()
  const float* scales = nullptr;  // [n], where the shape is scaled
  float result_scale = 1.0F;      // that results in 8 bits are divided by
  void* bytes = nullptr;          // [m, n]: normalized results in 8 bits
};

// A product of fixed shape, ready to be launched. Pointers must be aligned to 16 bytes. Not for two threads at once.
class Matmul {
 public:
  Matmul() = default;
  virtual ~Matmul() = default;
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;
  Matmul(Matmul&&) = delete;
  Matmul& operator=(Matmul&&) = delete;
  virtual void run(const MatmulOperands& operands, Stream stream) const = 0;
  // Whether it goes through the rows in order, and backwards where that is asked for.
  virtual bool turns() const { return false; }
};

struct MatmulStatistics {
  int shapes = 0;     // prepared
  int timed = 0;      // of them timed now; the rest came from the file
  int exchanged = 0;  // of those, for what is faster in a whole pass
};

// A choice that was made by timing products alone, and could be made otherwise where they are used.
struct MatmulChoice {
  std::string name;
  int ways = 0;  // nearly as fast alone; the one in use is the first
};

class MatmulLibrary {
 public:
  // cache_folder: where choices are kept; empty: nowhere. A file that is damaged or cannot be written costs time only.
  // purpose: choices of another purpose are not taken from that file, nor replaced there.
  explicit MatmulLibrary(const std::filesystem::path& cache_folder, const std::string& purpose = {});
  ~MatmulLibrary();
  MatmulLibrary(const MatmulLibrary&) = delete;
  MatmulLibrary& operator=(const MatmulLibrary&) = delete;
  MatmulLibrary(MatmulLibrary&&) = delete;
  MatmulLibrary& operator=(MatmulLibrary&&) = delete;

  // Valid as long as the library. Equal shapes share one. Throws cuda::Error where nothing can do it.
  const Matmul& prepare(const MatmulShape& shape, Stream stream);
  // y = LN(product with bias) gamma + beta, or y += where `shape` accumulates, in one kernel; null where the product
  // and layernorm_forward() after it are faster, or nothing can do it in one. Swin V2's residual connection.
  const Matmul* prepare_result_normalized(const MatmulShape& shape, Stream stream);
  // What was timed now and has more than one way, that which takes the most time in all uses first.
  std::vector<MatmulChoice> open_choices() const;
  // Products run that way from now on, also those that prepare() returned.
  void use(const MatmulChoice& choice, int way);
  MatmulStatistics statistics() const;
  // What was chosen for the products that are prepared, as text, to be kept with results that depend on it to the bit.
  std::string choices() const;
  // Choices of another library, which come first where they were made on the same model of GPU by the same version of
  // cuBLASLt; else nothing happens. To be called before prepare().
  void prefer(const std::string& choices);
  // Frees what timing needed and writes the file.
  void finish_tuning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope::cuda
