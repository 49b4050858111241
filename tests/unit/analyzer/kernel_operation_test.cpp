#include "analyzer/trace/kernel_operation.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/kernel_words.h"
#include "tests/unit/analyzer/kernel_operation_names.h"

namespace swinscope::test {
namespace {

using enum OperationKind;

void expect(const NamedKernels& expected) {
  for (const char* name : expected.names)
    EXPECT_EQ(operation_name(kernel_operation(name)), operation_name(expected.kind)) << name;
}

TEST(KernelOperation, OfRealKernels) {
  for (const NamedKernels& kernels : named_kernels())
    expect(kernels);
}

TEST(KernelOperation, ParameterTypesNeverDecide) {
  for (const char* parameters : {"(cublasGemmParams)", "(flash::Flash_fwd_params)", "(at::native::ReduceOp<float>)",
                                 "(ncclDevComm*, float)", "(cudnn::conv::Params)", "(LayerNormParams, Softmax)"}) {
    EXPECT_EQ(kernel_operation("void solver::advance<float, 4>" + std::string(parameters)), kUnknown) << parameters;
    EXPECT_EQ(kernel_operation("void at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda" +
                               std::string(parameters) + "::{lambda(float)#1}>(int)"),
              kElementwise)
        << parameters;
  }
}

TEST(KernelOperation, CollectivesOfAnyCase) {
  for (std::string name : {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "ncclKernel_AllGather_RING_LL_Sum_int8_t"}) {
    EXPECT_EQ(kernel_operation(name), kCommunication) << name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_EQ(kernel_operation(name), kCommunication) << name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(kernel_operation(name), kCommunication) << name;
  }
}

// As Nsight Systems prints what C++ calls (anonymous namespace), 4 and float&.
TEST(KernelOperation, OfNamesAsNsightSystemsPrintsThem) {
  expect(
      {kLayout,
       {"void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned int)4>, unsigned "
        "int, (int)1, (int)128, (int)1>(T1 *, T2)",
        "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::native::"
        "direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]>(T1 &)>(int)"}});
  expect(
      {kElementwise,
       {"void at::native::vectorized_elementwise_kernel<(int)4, void at::native::<unnamed>::pow_tensor_scalar_kernel_"
        "impl<float, float>(at::TensorIteratorBase &, T2)::[lambda(float) (instance 2)]>(int, T2, T3)"}});
}

TEST(FillKernel, Names) {
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
        "void at::native::unrolled_elementwise_kernel<at::native::FillFunctor<long>>(int)", "fill_kernel"}) {
    EXPECT_TRUE(is_fill_kernel(name)) << name;
  }
  for (const char* name : {"void at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda(F)>(int)",
                           "refill_kernel", "void gemm<FillFunctor>(int)"}) {
    EXPECT_FALSE(is_fill_kernel(name)) << name;
  }
}

TEST(Words, MatchWholeWordsHoweverTheyAreSeparated) {
  for (const char* name :
       {"layer_norm", "LayerNorm", "layernorm", "cuApplyLayerNorm", "fast_layer_norm_2d", "layer_norm2d"}) {
    Words words;
    words.add(name);
    EXPECT_TRUE(words.match("layernorm")) << name;
    EXPECT_TRUE(words.match("other|layernorm&layer*|third")) << name;
    EXPECT_FALSE(words.match("layernorm&softmax")) << name;
    EXPECT_FALSE(words.match("layernor")) << name;
    EXPECT_TRUE(words.match("layernor*")) << name;
    EXPECT_TRUE(words.match("*ernorm")) << name;
    EXPECT_FALSE(words.match("ernorm")) << name;
  }
  Words words;
  words.add("_s16816gemm_RMSNorm");
  for (const char* pattern :
       {"s", "16816", "gemm", "^s", "^s16816gemm", "rms", "norm", "rmsnorm", "=s16816gemmrmsnorm"})
    EXPECT_TRUE(words.match(pattern)) << pattern;
  for (const char* pattern : {"^gemm", "=gemm", "816gemm", "snorm", "=s16816gemm"})
    EXPECT_FALSE(words.match(pattern)) << pattern;
  EXPECT_FALSE(Words().match("a"));
}

TEST(KernelWords, OfHostileText) {
  for (const char* name : {"<",
                           ">",
                           "(",
                           ")",
                           "<<<<",
                           ">>>>",
                           "a<b(c",
                           "a(",
                           "::",
                           "_Z",
                           "_ZN",
                           "_ZN9",
                           "_ZN99999999999999999a",
                           "_ZNI",
                           "a<b>c<d>",
                           " ",
                           "a ",
                           "(anonymous namespace",
                           "\xFF\xFE<\xFF>",
                           "_ZN1aIL",
                           "_Z1aDF"}) {
    kernel_words(name);
    EXPECT_EQ(kernel_operation(name), kUnknown) << name;
  }
}

}  // namespace
}  // namespace swinscope::test
