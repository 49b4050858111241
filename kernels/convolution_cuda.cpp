#include <map>
#include <utility>

#include "kernels/check.h"
#include "kernels/convolution.h"
#include "kernels/convolution_cudnn.h"
#include "kernels/matmul.h"

namespace swinscope::cuda {
namespace {

// A 1x1 convolution: pixels are the rows of a product.
class ProductConvolution : public Convolution {
 public:
  ProductConvolution(MatmulLibrary& products, const ConvolutionProblem& p, Stream stream)
      : pass_(p.pass), product_(&products.prepare(shape_of(p), stream)) {}

  void run(const void* first, const void* second, void* result, Stream stream) const override {
    const bool of_weight = pass_ == ConvolutionPass::kWeightGradient;  // dy^T x
    product_->run({of_weight ? second : first, of_weight ? first : second, nullptr, result}, stream);
  }

 private:
  static MatmulShape shape_of(const ConvolutionProblem& p) {
    MatmulShape product;
    product.operand_type = p.operand_type;
    product.result_type = p.result_type;
    if (p.tf32) product.arithmetic = MatmulArithmetic::kTf32;
    const ConvolutionShape& s = p.shape;
    const bool of_weight = p.pass == ConvolutionPass::kWeightGradient;
    const bool forward = p.pass == ConvolutionPass::kForward;
    product.m = of_weight ? s.outputs : s.pixels();
    product.n = forward ? s.outputs : s.inputs;
    product.k = of_weight ? s.pixels() : (forward ? s.inputs : s.outputs);
    product.transpose_a = of_weight;
    product.transpose_b = forward;
    return product;
  }

  ConvolutionPass pass_;
  const Matmul* product_;
};

void check(const ConvolutionProblem& p) {
  const ConvolutionShape& s = p.shape;
  require(s.batch > 0 && s.height > 0 && s.width > 0 && s.inputs > 0 && s.outputs > 0, "convolution",
          "extent out of range");
  require(s.kernel > 0 && s.kernel % 2 == 1, "convolution", "the kernel must be odd");
  require(s.weight_stride() == s.inputs, "convolution", "a slice of a wider weight must be packed first");
  require(p.result_type == p.operand_type ||
              (p.pass == ConvolutionPass::kWeightGradient && p.result_type == ElementType::kFp32),
          "convolution", "the result has the operands' type; only a weight's gradient may be fp32 instead");
  require(!p.tf32 || p.operand_type == ElementType::kFp32, "convolution", "TF32 is for fp32 operands");
}

}  // namespace

struct ConvolutionLibrary::State {
  MatmulLibrary& products;
  std::filesystem::path cache_folder;
  std::unique_ptr<CudnnConvolutions> others = {};  // before what it made: it goes last
  std::map<ConvolutionProblem, std::unique_ptr<Convolution>> convolutions = {};

  std::unique_ptr<Convolution> make(const ConvolutionProblem& problem, Stream stream) {
    if (problem.shape.kernel == 1) return std::make_unique<ProductConvolution>(products, problem, stream);
    if (!others) others = std::make_unique<CudnnConvolutions>(cache_folder);
    return others->prepare(problem, stream);
  }
};

ConvolutionLibrary::ConvolutionLibrary(MatmulLibrary& products, std::filesystem::path cache_folder)
    : state_(new State{products, std::move(cache_folder)}) {}

ConvolutionLibrary::~ConvolutionLibrary() = default;

const Convolution& ConvolutionLibrary::prepare(const ConvolutionProblem& problem, Stream stream) {
  check(problem);
  ConvolutionProblem wanted = problem;
  wanted.shape.weight_inputs = 0;
  std::unique_ptr<Convolution>& slot = state_->convolutions[wanted];
  if (!slot) slot = state_->make(wanted, stream);
  return *slot;
}

ConvolutionStatistics ConvolutionLibrary::statistics() const {
  return state_->others ? state_->others->statistics() : ConvolutionStatistics{};
}

std::string ConvolutionLibrary::choices() const { return state_->others ? state_->others->choices() : std::string(); }

void ConvolutionLibrary::finish_tuning() {
  if (state_->others) state_->others->finish_tuning();
}

}  // namespace swinscope::cuda
