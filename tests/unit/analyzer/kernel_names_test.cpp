#include "analyzer/trace/kernel_names.h"

#include <set>

#include "analyzer/importers/open.h"
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
      {"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
       "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
       "fused_add_rms_norm_kernel"},
      {"std::enable_if<((4)<=(8)), void>::type ns::narrow<int>(int)", "narrow"},
      {"void ns::apply<void (*)(std::vector<int>, (anonymous namespace)::T<4>), 4>(int)", "apply"},
      {"void ns::cut<(((8)>(0", "cut"},
      {"void precomputed_convolve_sgemm<__half, 1024, 5, 5, 4, 3, 3, 1, false>(int, unsigned long long)",
       "precomputed_convolve_sgemm"},
      {"nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT", "nvjet_sm90_hsh_128x128_64x6_2x1_v_bz_NNT"},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
      {"gemm(int) [clone .kd]", "gemm"},
      {"gemm [clone .kd]", "gemm"},
      {"void f<&ns::operator->>(int)", "f"},
      {"_ZN7cutlass6KernelI", "Kernel"}};
  for (const auto& [demangled, name] : cases)
    EXPECT_EQ(short_kernel_name(demangled), name) << demangled;
}

// What the frameworks' generic kernels apply.
TEST(ReadableKernelName, TellsWhatIsApplied) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
       ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
       "vectorized_elementwise_kernel [CUDAFunctor_add]"},
      {"void at::native::elementwise_kernel<128, 4, "
       "at::native::gpu_kernel_impl<at::native::CUDAFunctorOnSelf_add<long> "
       ">(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
       "elementwise_kernel [CUDAFunctorOnSelf_add]"},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
       "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
       "vectorized_elementwise_kernel [MulFunctor]"},
      {"void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::launch_clamp_scalar("
       "at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const>(int)",
       "vectorized_elementwise_kernel [launch_clamp_scalar]"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>, "
       "at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::minus<float>, float>(int)",
       "multi_tensor_apply_kernel [minus]"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<1>, "
       "at::native::(anonymous namespace)::UnaryOpFunctor<float, 1, 1, 0>, "
       "at::native::_amp_foreach_non_finite_check_and_unscale_cuda_(c10::ArrayRef<at::Tensor>)::{lambda()#1}>(int)",
       "multi_tensor_apply_kernel [_amp_foreach_non_finite_check_and_unscale_cuda_]"},
      {"void at::native::elementwise_kernel<128, 4, void>(int)", "elementwise_kernel"},
      {"void ns::gemm<ns::CUDAFunctor_add<float>>(int)", "gemm"}};
  for (const auto& [demangled, name] : cases)
    EXPECT_EQ(readable_kernel_name(demangled), name) << demangled;
  EXPECT_EQ(brief_kernel_name(cases[0].first), "CUDAFunctor_add");
  EXPECT_EQ(brief_kernel_name(cases[6].first), "elementwise_kernel");
  EXPECT_EQ(brief_kernel_name("void ns::gemm<ns::CUDAFunctor_add<float>>(int)"), "gemm");
}

// Those that are called a kernel and no more: by the first argument of their template, else by where they stand.
TEST(ReadableKernelName, TellsWhatAKernelOfNoNameCarries) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
       "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90> > >(P)",
       "device_kernel [GemmUniversal]"},
      {"void cutlass::device_kernel<acme::grouped_gemm::fp8_ptp128c::GemmKernel>(P)",
       "device_kernel [fp8_ptp128c::GemmKernel]"},
      {"void cutlass::device_kernel<flash::FlashAttnBwd<flash::CollectiveMainloopBwd<2> > >(P)",
       "device_kernel [FlashAttnBwd]"},
      {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8>(P)",
       "Kernel2 [cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8]"},
      {"void cutlass::Kernel<(anonymous namespace)::Fused<4> >(P)", "Kernel [Fused]"},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float>(P)", "kernel [gemvx]"},
      {"void acme::scan::kernel(int)", "kernel [scan]"},
      {"void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::Rmsnorm2dFwdPipelineOnePass<float> > >(P)",
       "kentry [Rmsnorm2dFwd]"},
      {"void acme::kernel<4, true, 8>(int)", "kernel [acme]"},
      {"void acme::kernel::my_kernel::sort::kernel<8, float>(int)", "kernel [sort]"},
      {"void (anonymous namespace)::kernel<4>(int)", "kernel"},
      {"kernel", "kernel"},
      {"void kernel<", "kernel"},
      {"void ns::my_device_kernel<ns::Thing>(P)", "my_device_kernel"}};
  for (const auto& [demangled, name] : cases)
    EXPECT_EQ(readable_kernel_name(demangled), name) << demangled;
  EXPECT_EQ(brief_kernel_name(cases[0].first), "GemmUniversal");
  EXPECT_EQ(brief_kernel_name(cases[5].first), "gemvx");
  // Wherever a name was cut off, it is one.
  for (const auto& [demangled, name] : cases) {
    const std::string_view whole = demangled;
    for (std::size_t size = 1; size <= whole.size(); ++size) {
      EXPECT_NE(readable_kernel_name(whole.substr(0, size)), "") << whole.substr(0, size);
      EXPECT_NE(brief_kernel_name(whole.substr(0, size)), "") << whole.substr(0, size);
      EXPECT_NE(brief_kernel_name(whole.substr(whole.size() - size)), "") << whole.substr(whole.size() - size);
    }
  }
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
  EXPECT_EQ(copy_name(CopyKind::kUnifiedDeviceToHost, MemoryKind::kUnknown, MemoryKind::kUnknown),
            "Memcpy Unified DtoH");
  EXPECT_EQ(parse_copy_name("Memcpy Unified DtoH").kind, CopyKind::kUnifiedDeviceToHost);
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
    EXPECT_EQ(operation_kind(GpuKind::kKernel, name), OperationKind::kCommunication) << name;
  }
  for (const char* name : {"", "vectorized_elementwise_kernel", "my_nccl_like_name", "all_reduce_bias_kernel"}) {
    EXPECT_NE(operation_kind(GpuKind::kKernel, name), OperationKind::kCommunication) << name;
  }
}

TEST(OperationKind, TheKindOfTheRecordGoesFirst) {
  EXPECT_EQ(operation_kind(GpuKind::kMemcpy, "gemm"), OperationKind::kCopy);
  EXPECT_EQ(operation_kind(GpuKind::kMemset, "gemm"), OperationKind::kSet);
  EXPECT_EQ(operation_kind(GpuKind::kGraph, "gemm"), OperationKind::kGraph);
  EXPECT_EQ(operation_kind(GpuKind::kKernel, ""), OperationKind::kUnknown);
}

TEST(OperationKind, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(OperationKind::kUnknown); ++kind)
    names.insert(operation_name(OperationKind{static_cast<std::uint8_t>(kind)}));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(OperationKind::kUnknown) + 1);
  EXPECT_EQ(operation_name(OperationKind::kEmbedding), "embedding");
  EXPECT_EQ(operation_name(OperationKind::kOther), "other");
  EXPECT_EQ(operation_name(OperationKind::kUnknown), "unknown");
}

TEST(DemangledKernelName, OfSymbolsAlsoWithTheTypesOfAMD) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"gemm(int)", "gemm(int)"},
      {"_Z4gemmi", "gemm(int)"},
      {"_Z4gemmi.kd", "gemm(int)"},
      {"_Z4gemmi [clone .kd]", "gemm(int)"},
      {"_ZN5aiter4quanIDF16bDF16_EEvPT0_PT_", "void aiter::quan<__bf16, half>(half*, __bf16*)"},
      {"_ZN5aiter4quanIDF16", "_ZN5aiter4quanIDF16"}};
  for (const auto& [symbol, name] : cases)
    EXPECT_EQ(demangled_kernel_name(symbol), name) << symbol;
}

TEST(ShortKernelName, OfSymbolsAlsoOfThoseThatAreCutOff) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"_ZN5aiter4quanIDF16bDF16_EEvPT0_PT_", "quan"},
      {"_ZN2ck16tensor_operation6device12_GLOBAL__N_123kernel_grouped_conv_fwdINS_28Gridwi", "kernel_grouped_conv_fwd"},
      {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0E", "add_rmsnorm_quant_kernel"},
      {"_Z11fused_adamwPfS_", "fused_adamw"},
      {"_ZN2at6native12_GLOBAL__N_142_scaled_dot", "_scaled_dot"},
      {"_ZN", "_ZN"},
      {"_Z", "_Z"}};
  for (const auto& [symbol, name] : cases)
    EXPECT_EQ(short_kernel_name(symbol), name) << symbol;
}

TEST(SymbolIdentifiers, AreWhatASymbolSpellsOut) {
  const SymbolIdentifiers found =
      symbol_identifiers("_ZN7ck_tile6kentryILi2ENS_11FmhaKernelXINS_8PipelineIDF16bS1_fLb1EEEEEJNS3_5KargsEEEEvDpT1_");
  EXPECT_EQ(found.base, "kentry");
  EXPECT_EQ(found.scopes, (std::vector<std::string>{"ck_tile"}));
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"FmhaKernelX", "Pipeline", "Kargs"}));
  EXPECT_EQ(symbol_identifiers("gemm").base, "");
}

}  // namespace
}  // namespace swinscope::test
