#include "analyzer/kernel_names.h"

#include <set>

#include "analyzer/open.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

TEST(ShortKernelName, OfRealKernels) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, "
       "unsigned int, 4, 64, 64>(at::native::(anonymous namespace)::OpaqueType<2u>*, unsigned int)",
       "CatArrayBatchedCopy"},
      {"void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar const&, "
       "at::Tensor&)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(long)#1}>(int, "
       "at::native::arange_cuda_out(c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda(long)#1})",
       "elementwise_kernel_with_index"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
       ">(int, "
       "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
       "vectorized_elementwise_kernel"},
      // as Nsight Systems writes them
      {"void at::native::<unnamed>::CatArrayBatchedCopy_vectorized<at::native::<unnamed>::OpaqueType<(unsigned "
       "int)4>>(char *)",
       "CatArrayBatchedCopy_vectorized"},
      {"void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *, const T1 *, int)",
       "softmax_warp_forward"},
      {"at::native::amp_update_scale_cuda_kernel(float*, int*, float const*, double, double, int)",
       "amp_update_scale_cuda_kernel"},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float>(cublasGemvParams<float>)",
       "kernel"},
      {"void precomputed_convolve_sgemm<__half, 1024, 5, 5, 4, 3, 3, 1, false>(int, unsigned long long)",
       "precomputed_convolve_sgemm"},
      {"nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT", "nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT"},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
      {"gemm(int) [clone .kd]", "gemm"},
      {"gemm [clone .kd]", "gemm"},
      {"void f<&ns::operator->>(int)", "f"},
      {"_ZN7cutlass6KernelI", "_ZN7cutlass6KernelI"}};
  for (const auto& [demangled, name] : cases)
    EXPECT_EQ(short_kernel_name(demangled), name) << demangled;
}

TEST(ShortKernelName, IsNeverEmptyUnlessTheNameIs) {
  EXPECT_EQ(short_kernel_name(""), "");
  for (const char* name : {"<", ">", "(", "()", "::", "a::", " ", "(anonymous namespace)",
                           "(anonymous namespace)::", "<a>", "a<b", "void ", "operator()", "->", "[", " ["}) {
    EXPECT_NE(short_kernel_name(name), "") << name;
  }
}

// The 180 kernels of three training steps: no name keeps a namespace, an argument or a return type.
TEST(ShortKernelName, OfAWholeTrace) {
  const Trace trace = open_trace(real_kineto_trace());
  ASSERT_EQ(trace.ranks.size(), 1U);
  const GpuEvents& gpu = trace.ranks[0].gpu;
  std::set<std::string_view> full;
  std::set<std::string_view> brief;
  for (EventIndex i = 0; i < gpu.size(); ++i) {
    if (gpu.kind[i] != GpuKind::kKernel) continue;
    full.insert(trace.text(gpu.name[i]));
    const std::string_view name = trace.text(gpu.short_name[i]);
    brief.insert(name);
    ASSERT_EQ(name.find_first_of(" <>():,*&"), std::string_view::npos) << name;
  }
  EXPECT_EQ(full.size(), 180U);
  for (const char* name :
       {"upsample_bilinear2d_backward_out_frame", "vectorized_layer_norm_kernel", "roll_cuda_kernel", "Kernel2",
        "bn_fw_tr_1C11_kernel_NCHW", "DeviceRadixSortOnesweepKernel", "multi_tensor_apply_kernel"}) {
    EXPECT_EQ(brief.count(name), 1U) << name;
  }
}

TEST(CopyName, BothWays) {
  std::vector<CopyKind> kinds;
  for (int kind = 0; kind <= 13; ++kind)
    kinds.push_back(CopyKind{kind});
  std::set<std::string> names;
  for (const CopyKind kind : kinds) {
    for (int src = 0; src <= 7; ++src) {
      for (int dst = 0; dst <= 7; ++dst) {
        const std::string name = copy_name(kind, MemoryKind{src}, MemoryKind{dst});
        const CopyNameParts parts = parse_copy_name(name);
        EXPECT_EQ(parts.kind, kind) << name;
        EXPECT_EQ(parts.src, MemoryKind{src}) << name;
        EXPECT_EQ(parts.dst, MemoryKind{dst}) << name;
        names.insert(name);
      }
    }
  }
  EXPECT_EQ(names.size(), kinds.size() * 8 * 8);
  EXPECT_EQ(names.count("Memcpy HtoD (Pinned -> Device)"), 1U);
  EXPECT_EQ(names.count("Memcpy HtoA (Pinned -> Array)"), 1U);
  EXPECT_EQ(names.count("Memcpy Unified DtoH (Managed -> Managed)"), 1U);
}

TEST(CopyName, OfAnUnknownNumber) {
  EXPECT_EQ(copy_name(CopyKind{77}, MemoryKind{99}, MemoryKind{-1}), "Memcpy kind 77 (Unknown -> Unknown)");
  EXPECT_EQ(set_name(MemoryKind{99}), "Memset (Unknown)");
}

TEST(CopyName, PartsThatAreNotThereStayUnknown) {
  for (const char* name :
       {"", "Memcpy", "Memcpy ()", "Memcpy (a)", "Memcpy (a -> b", "Memcpy ) -> (", "x -> y", "(->)", "( -> )"}) {
    const CopyNameParts parts = parse_copy_name(name);
    EXPECT_EQ(parts.kind, CopyKind::kUnknown) << name;
    EXPECT_EQ(parts.src, MemoryKind::kUnknown) << name;
    EXPECT_EQ(parts.dst, MemoryKind::kUnknown) << name;
  }
  EXPECT_EQ(parse_copy_name("Memcpy DtoH").kind, CopyKind::kDeviceToHost);
}

TEST(SetName, BothWays) {
  for (int kind = 0; kind <= 7; ++kind)
    EXPECT_EQ(parse_set_name(set_name(MemoryKind{kind})), MemoryKind{kind});
  for (const char* name : {"", "Memset", "Memset ()", "Memset (Nothing)", ")("}) {
    EXPECT_EQ(parse_set_name(name), MemoryKind::kUnknown) << name;
  }
}

TEST(CommunicationKernel, OfOldAndNewLibraries) {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclSymDevKernel_AllGather_LL",
        "void ncclKernel_Broadcast_RING_LL_Sum_int8_t"}) {
    EXPECT_TRUE(is_communication_kernel(name)) << name;
    EXPECT_EQ(operation_kind(GpuKind::kKernel, name), OperationKind::kCommunication) << name;
  }
  for (const char* name : {"", "vectorized_elementwise_kernel", "my_nccl_like_name", "all_reduce_bias_kernel"}) {
    EXPECT_FALSE(is_communication_kernel(name)) << name;
  }
}

TEST(OperationKind, TheKindOfTheRecordGoesFirst) {
  EXPECT_EQ(operation_kind(GpuKind::kMemcpy, "gemm"), OperationKind::kCopy);
  EXPECT_EQ(operation_kind(GpuKind::kMemset, "gemm"), OperationKind::kSet);
  EXPECT_EQ(operation_kind(GpuKind::kGraph, "gemm"), OperationKind::kGraph);
  EXPECT_EQ(operation_kind(GpuKind::kKernel, ""), OperationKind::kUnknown);
}

TEST(OperationKind, OfRealKernels) {
  const std::vector<std::pair<const char*, OperationKind>> cases = {
      {"nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_bias_TNT", OperationKind::kGemm},
      {"ampere_sgemm_128x64_nn", OperationKind::kGemm},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_128x256_32x3_tn_align2>(P)", OperationKind::kGemm},
      {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>(flash::Flash_fwd_params)",
       OperationKind::kAttention},
      {"sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", OperationKind::kConv},
      {"void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float>(P)", OperationKind::kLayout},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int)",
       OperationKind::kNorm},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*)",
       OperationKind::kSoftmaxLoss},
      {"void at::native::(anonymous namespace)::upsample_bilinear2d_backward_out_frame<float, float>(unsigned long)",
       OperationKind::kResample},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(P)", OperationKind::kReduce},
      {"void at::native::roll_cuda_kernel<c10::Half>(c10::Half const*)", OperationKind::kLayout},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
       OperationKind::kElementwise}};
  for (const auto& [name, kind] : cases)
    EXPECT_EQ(operation_name(operation_kind(GpuKind::kKernel, name)), operation_name(kind)) << name;
}

}  // namespace
}  // namespace swinscope::test
