#include "analyzer/trace/classify.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/torch_operation.h"
#include "analyzer/trace/trace_builder.h"
#include "store/error.h"

namespace swinscope::test {
namespace {

using enum OperationKind;

TEST(TorchOperation, Names) {
  const std::vector<std::pair<const char*, OperationKind>> cases = {
      {"aten::mm", kGemm},
      {"aten::addmm", kGemm},
      {"aten::baddbmm", kGemm},
      {"aten::linear", kGemm},
      {"aten::_scaled_mm", kGemm},
      {"aten::mm, seq = 4711, op_id = 3", kGemm},
      {"_C::cutlass_scaled_mm", kGemm},
      {"aten::cudnn_convolution", kConv},
      {"aten::convolution_backward", kConv},
      {"aten::_conv_depthwise2d", kConv},
      {"aten::miopen_convolution", kConv},
      {"aten::_scaled_dot_product_flash_attention_backward", kAttention},
      {"aten::_efficient_attention_forward", kAttention},
      {"flash_attn::_flash_attn_forward", kAttention},
      {"xformers::efficient_attention_forward_cutlass", kAttention},
      {"vllm::unified_attention_with_output", kAttention},
      {"aten::native_layer_norm_backward", kNorm},
      {"aten::cudnn_batch_norm", kNorm},
      {"_C::fused_add_rms_norm", kNorm},
      {"aten::_log_softmax_backward_data", kSoftmaxLoss},
      {"aten::nll_loss2d_forward", kSoftmaxLoss},
      {"aten::mse_loss", kSoftmaxLoss},
      {"aten::embedding_dense_backward", kEmbedding},
      {"aten::_embedding_bag", kEmbedding},
      {"_C::rotary_embedding", kElementwise},
      {"aten::upsample_linear1d", kResample},
      {"aten::max_pool2d_with_indices_backward", kResample},
      {"aten::_fused_adamw_", kOptimizer},
      {"aten::copy_", kLayout},
      {"aten::cat", kLayout},
      {"aten::index_put_", kLayout},
      {"_C_cache_ops::reshape_and_cache_flash", kLayout},
      {"aten::sum", kReduce},
      {"aten::add_", kElementwise},
      {"aten::gelu_backward", kElementwise},
      {"aten::topk", kOther},
      {"c10d::allreduce_", kCommunication},
      {"_C_custom_ar::all_reduce", kCommunication},
      {"_c10d_functional::all_gather_into_tensor", kCommunication},
      // Of several kinds, around operations, or unknown.
      {"symm_mem::fused_all_gather_matmul", kUnknown},
      {"vllm::moe_forward", kUnknown},
      {"autograd::engine::evaluate_function: AddmmBackward0", kUnknown},
      {"triton_poi_fused_addmm_gelu_4", kUnknown},
      {"FlashAttnFunc", kUnknown},
      {"aten::something_new", kUnknown},
      {"aten::normalize_mml", kUnknown},
      {"", kUnknown},
      {"::", kUnknown}};
  for (const auto& [name, kind] : cases)
    EXPECT_EQ(operation_name(torch_operation(name)), operation_name(kind)) << name;
}

TEST(JoinOperations, TheLaunchingOneDecidesUnlessTheKernelHelpsIt) {
  struct Case {
    OperationKind launched_by;
    NamedOperation name;
    OperationKind expected;
  };
  const std::vector<Case> cases = {{kUnknown, {kNorm}, kNorm},
                                   {kGemm, {kUnknown}, kGemm},
                                   {kUnknown, {kUnknown}, kUnknown},
                                   {kConv, {kGemm}, kConv},      // a convolution by a matrix product
                                   {kConv, {kLayout}, kLayout},  // NCHW to NHWC
                                   {kGemm, {kReduce}, kReduce},  // split-K
                                   {kGemm, {kSet}, kSet},        // of AMD's runtime
                                   {kAttention, {kSoftmaxLoss}, kAttention},
                                   {kAttention, {kElementwise}, kElementwise},  // rotary position embedding
                                   {kNorm, {kElementwise}, kNorm},              // group normalization's last kernel
                                   {kNorm, {kReduce}, kNorm},
                                   {kNorm, {kElementwise, true}, kElementwise},  // a fill
                                   {kEmbedding, {kOther}, kEmbedding},           // sorts the indices
                                   {kOptimizer, {kElementwise}, kOptimizer},
                                   {kNorm, {kGemm}, kGemm},  // layernorm_linear
                                   {kGemm, {kCommunication}, kCommunication}};
  for (const Case& c : cases) {
    EXPECT_EQ(operation_name(join_operations(c.launched_by, c.name)), operation_name(c.expected))
        << operation_name(c.launched_by) << ", " << operation_name(c.name.kind);
  }
}

// A process with kernels of no name that tells anything ("k1", "k2"…), each launched by a call at the time given.
class ClassifyTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kThread = make_global_tid(100, 1);

  RecordSink& sink() {
    if (sink_ == nullptr) {
      sink_ = &builder_.add_process();
      RunInfo run;
      run.global_pid = make_global_pid(100);
      sink_->set_run(run);
    }
    return *sink_;
  }

  void range(std::uint32_t domain, std::int64_t start, std::int64_t end, std::string_view name,
             std::string_view json = "", std::uint64_t thread = kThread) {
    NvtxRecord r;
    r.start_ns = start;
    r.end_ns = end;
    r.global_tid = thread;
    r.domain = domain;
    r.text = sink().intern(name);
    r.json = sink().intern(json);
    sink().add(r);
  }

  void domain(std::uint32_t id, std::string_view name) {
    NvtxRecord r;
    r.type = NvtxType::kDomain;
    r.domain = id;
    r.text = sink().intern(name);
    sink().add(r);
  }

  // The calls come in the order of the kernels.
  void kernel(std::int64_t launched, std::string_view name, std::uint64_t node = 0) {
    ++correlation_;
    ApiRecord call;
    call.start_ns = launched;
    call.end_ns = launched + 1;
    call.global_tid = kThread;
    call.correlation = correlation_;
    sink().add(call);
    KernelRecord r;
    r.start_ns = 10'000 + correlation_ * 10;
    r.end_ns = r.start_ns + 5;
    r.global_pid = make_global_pid(100);
    r.correlation = correlation_;
    r.graph_node = node;
    r.demangled_name = sink().intern(name);
    sink().add(r);
  }

  std::vector<std::string> operations(const ClassRules& rules = {}) {
    Trace trace;
    builder_.move_into(trace);
    classify(trace, rules);
    std::vector<std::string> found;
    const GpuEvents& gpu = trace.ranks.at(0).gpu;
    for (EventIndex i = 0; i < gpu.size(); ++i) {
      found.push_back(std::string(operation_name(gpu.operation[i])) + " " + std::string(class_name(gpu.gpu_class[i])));
    }
    return found;
  }

  std::uint32_t correlation_ = 0;

 private:
  TraceBuilder builder_;
  RecordSink* sink_ = nullptr;
};

using Found = std::vector<std::string>;

TEST_F(ClassifyTest, TheInnermostOperationAroundTheLaunchDecides) {
  domain(1, kDomainTorchOp);
  range(1, 0, 100, "aten::linear");
  range(1, 20, 40, "aten::native_layer_norm");
  range(1, 50, 60, "mine::unheard_of");
  range(1, 110, 120, "aten::cat", "", make_global_tid(100, 2));  // on another thread
  kernel(10, "k");
  kernel(20, "k");
  kernel(39, "k");
  kernel(40, "k");
  kernel(55, "k");  // hides the linear layer around it
  kernel(99, "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)");
  kernel(100, "k");
  kernel(115, "k");
  EXPECT_EQ(operations(), (Found{"gemm compute", "norm compute", "norm compute", "gemm compute", "unknown unknown",
                                 "elementwise compute", "unknown unknown", "unknown unknown"}));
}

TEST_F(ClassifyTest, OperationsThatEmitNvtxNamesCountToo) {
  range(0, 0, 50, "aten::mm, seq = 12, op_id = 5");
  range(0, 50, 90, "aten::mm, seq = 13, op_id = 6");
  range(0, 100, 150, "solver::mm");  // a range of the program's own
  kernel(10, "k");
  kernel(60, "k");
  kernel(110, "k");
  EXPECT_EQ(operations(), (Found{"gemm compute", "gemm compute", "unknown unknown"}));
}

TEST_F(ClassifyTest, WhatAnOptimizersStepDoesToEachValueIsItsWork) {
  domain(1, kDomainTorchUser);
  domain(2, kDomainTorchOp);
  range(1, 0, 100, "Optimizer.step#SGD.step");
  range(1, 100, 200, "Optimizer.zero_grad#SGD.zero_grad");
  range(2, 10, 20, "aten::_foreach_add_");
  range(2, 30, 40, "aten::mm");
  kernel(15,
         "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<M, BinaryOpListAlphaFunctor<float>>(M)");
  kernel(35, "k");
  kernel(50, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)");
  kernel(110, "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)");
  EXPECT_EQ(operations(),
            (Found{"optimizer compute", "gemm compute", "communication communication", "elementwise compute"}));
}

TEST_F(ClassifyTest, ARangeAroundAGraphSaysNothingOfTheKernelsInIt) {
  domain(1, kDomainTorchOp);
  range(1, 0, 100, "aten::mm");
  kernel(10, "k", 7);
  kernel(20, "k");
  EXPECT_EQ(operations(), (Found{"unknown unknown", "gemm compute"}));
}

TEST_F(ClassifyTest, MetadataOfACollectiveMakesItCommunication) {
  domain(1, kDomainTorchOp);
  range(1, 0, 100, "aten::mm");
  kernel(10, "my_fast_sum");
  kernel(20, "my_fast_sum", 3);
  kernel(30, "my_fast_sum");
  for (const auto& [correlation, node] : {std::pair(1U, 0U), std::pair(2U, 3U), std::pair(3U, 9U)}) {
    CollectiveRecord r;
    r.correlation = correlation;
    r.graph_node = node;
    sink().add(r);
  }
  EXPECT_EQ(operations(), (Found{"communication communication", "communication communication", "gemm compute"}));
}

TEST_F(ClassifyTest, OurOwnAnnotationNamesWhatHasNoName) {
  domain(1, kDomainOwn);
  range(1, 0, 100, "stage1", "");
  range(1, 10, 50, "stage1.fc1", R"({"$schema":"swinscope.operation/1","class":"gemm"})");
  range(1, 50, 70, "loss", R"({"$schema":"swinscope.operation/1","class":"loss"})");
  range(1, 70, 80, "extra", R"({"$schema":"swinscope.operation/1","class":"other"})");
  kernel(20, "k");
  kernel(30, "gelu_kernel");
  kernel(60, "k");
  kernel(75, "k");
  kernel(90, "k");
  EXPECT_EQ(operations(), (Found{"gemm compute", "elementwise compute", "softmax/loss compute", "unknown unknown",
                                 "unknown unknown"}));
}

TEST_F(ClassifyTest, OurOwnAnnotationReachesIntoGraphs) {
  domain(1, kDomainOwn);
  range(1, 0, 100, "forward");
  range(1, 10, 50, "fc1", R"({"$schema":"swinscope.operation/1","class":"gemm"})");
  for (const auto& [node, original, time] : {std::tuple(1U, 0U, 20), std::tuple(5U, 1U, 400), std::tuple(6U, 0U, 60)}) {
    GraphNodeRecord r;
    r.node = node;
    r.original = original;
    r.time_ns = time;
    r.global_tid = kThread;
    sink().add(r);
  }
  kernel(500, "k", 5);
  kernel(510, "k", 6);
  kernel(520, "k", 7);
  EXPECT_EQ(operations(), (Found{"gemm compute", "unknown unknown", "unknown unknown"}));
}

TEST_F(ClassifyTest, TheUserGoesFirst) {
  domain(1, kDomainTorchOp);
  range(1, 0, 100, "aten::mm");
  kernel(10, "void render<4>(int)");
  kernel(20, "void solve<4>(int)");
  kernel(30, "ncclDevKernel_Fake(Args)");
  kernel(40, "void spread<4>(int)");
  kernel(50, "void other<4>(int)");
  ClassRules rules;
  rules.add_operation("render|solve=conv");
  rules.add_operation("solve=norm");
  rules.add_class("^void solve=memory");
  rules.add_class("Fake=compute");
  rules.add_class("spread=communication");
  EXPECT_EQ(operations(rules),
            (Found{"conv compute", "conv memory", "unknown compute", "communication communication", "gemm compute"}));
}

TEST(ClassRulesText, IsTakenApartAtTheLastEqualSign) {
  ClassRules rules;
  EXPECT_TRUE(rules.empty());
  rules.add_operation("a=b=softmax/loss");
  ASSERT_EQ(rules.operations.size(), 1U);
  EXPECT_EQ(rules.operations[0].kind, kSoftmaxLoss);
  EXPECT_TRUE(rules.operations[0].pattern.matches("xa=by"));
  EXPECT_FALSE(rules.operations[0].pattern.matches("a"));
}

TEST(ClassRulesText, ThatIsNoRuleIsRefusedByName) {
  const auto refusal = [](const char* text, bool is_class) -> std::string {
    ClassRules rules;
    try {
      is_class ? rules.add_class(text) : rules.add_operation(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what()) + "; " + error.cause();
    }
    return "";
  };
  EXPECT_EQ(refusal("render", true), "--class render: not a rule; there is no = in it");
  EXPECT_EQ(refusal("=compute", true), "--class =compute: not a rule; there is no regular expression before the =");
  EXPECT_EQ(refusal("r=gemm", true), "--class r=gemm: not a rule; 'gemm' is none of communication, compute, memory");
  EXPECT_NE(refusal("r=graph", false).find("--operation r=graph: not a rule; 'graph' is none of gemm, attention"),
            std::string::npos);
  EXPECT_NE(refusal("(=gemm", false).find("--operation (: not a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace swinscope::test
