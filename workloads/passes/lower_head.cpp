// The maps of a segmentation head as devices have them: batches' statistics as one tensor, ReLU within the
// normalization before it, parts of a concatenation at their place in it, and a fusion by taps as slices of the weight,
// products and gathers (kernels/tap_fusion.h).
#include <utility>

#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

class Head {
 public:
  Head(Graph& graph, std::int64_t ranks) : rewrite_(graph), graph_(graph), ranks_(ranks) {}

  void run() {
    for (GraphTensor& tensor : graph_.tensors)
      if (tensor.role == TensorRole::kBuffer) tensor.type = DataType::kFp32;
    for (Op* const op : rewrite_.all(OpKind::kBatchSums)) {
      graph_.at(op->out[0]).type = DataType::kFp32;
      graph_.at(op->out[0]).shape = {ranks_ * op->as<BatchNormShape>().sum_elements()};
    }
    for (Op* const op : rewrite_.all(OpKind::kBatchNorm))
      normalization(*op);
    for (Op* const op : rewrite_.all(OpKind::kConcat))
      concatenation(*op);
    for (Op* const op : rewrite_.all(OpKind::kConvolution))
      if (op->as<ConvolutionShape>().weight_inputs > 0) first_part(*op);
    for (Op* const op : rewrite_.all(OpKind::kTapFusion))
      further_part(*op);
  }

 private:
  void normalization(Op& norm) {
    const std::string base = norm.path.substr(0, norm.path.rfind('.'));
    Op* statistics = rewrite_.producer(norm.in[1], OpKind::kBatchStatistics);
    if (statistics != nullptr) {
      statistics->path = base + ".statistics";
    } else {
      statistics = rewrite_.producer(norm.in[1], OpKind::kRunningStatistics);
      statistics->path = base + ".sums";
    }
    statistics->out.resize(1);
    GraphTensor& tensor = graph_.at(statistics->out[0]);
    tensor.shape = {norm.as<BatchNormShape>().sum_elements()};
    tensor.type = DataType::kFp32;
    norm.in[2] = kNoTensor;
    Op* const relu = rewrite_.reader(norm.out[0], OpKind::kRelu);
    norm.relu = true;
    norm.out[0] = relu->out[0];
    rewrite_.remove(relu);
  }

  // What no kernel makes at its place is copied there, which a resize to the same extents does.
  void concatenation(Op& concat) {
    std::int64_t first = 0;
    for (const TensorId part : concat.in) {
      const bool in_place = rewrite_.readers(part) == 1 && (rewrite_.producer(part, OpKind::kResize) != nullptr ||
                                                            rewrite_.producer(part, OpKind::kBatchNorm) != nullptr);
      TensorId place = part;
      if (!in_place) {
        const std::vector<std::int64_t> map = graph_.at(part).shape;
        place = rewrite_.tensor(concat.path, map);
        rewrite_.insert_before(&concat, {OpKind::kResize,
                                         false,
                                         concat.path,
                                         UpsampleShape{map[0], map[1], map[2], map[1], map[2], map[3]},
                                         {part},
                                         {place}});
      }
      graph_.at(place).whole = concat.out[0];
      graph_.at(place).first = first;
      first += graph_.at(place).channels();
    }
    rewrite_.remove(&concat);
  }

  TensorId packed(const Op& op, TensorId weight, const OpShape& shape, std::int64_t inputs) {
    const std::string path = op.path.substr(0, op.path.rfind('.')) + ".pack";
    const std::int64_t outputs = graph_.at(weight).shape[0];
    const TensorId slice = rewrite_.tensor(path, {outputs, 9, inputs});
    Op pack{OpKind::kTapPack, false, path, shape, {weight}, {slice}};
    pack.weight_offset = op.weight_offset;
    rewrite_.insert_before(&op, std::move(pack));
    return slice;
  }

  // By a convolution, whose weight's slice is a map of one pixel for each output and tap: a resize copies it.
  void first_part(Op& op) {
    auto shape = op.as<ConvolutionShape>();
    const UpsampleShape copy{1, shape.outputs, 9, shape.outputs, 9, shape.inputs};
    op.in[1] = packed(op, op.in[1], copy, shape.inputs);
    shape.weight_inputs = 0;
    op.shape = shape;
  }

  void further_part(Op& op) {
    const auto shape = op.as<TapFusionShape>();
    const TensorId slice = packed(op, op.in[2], shape, shape.inputs);
    const TensorId taps = op.out[1];
    graph_.at(taps).shape = {shape.pixels(), 9, shape.outputs};
    rewrite_.insert_before(&op, {OpKind::kTapProduct,
                                 false,
                                 op.path,
                                 LinearShape{shape.pixels(), shape.inputs, 9 * shape.outputs, false},
                                 {op.in[1], slice, kNoTensor},
                                 {taps}});
    op.kind = OpKind::kTapGather;
    op.path = op.path.substr(0, op.path.rfind('.')) + ".gather";
    op.in = {op.in[0], taps};
    op.out.resize(1);
    op.weight_offset = 0;
  }

  Rewrite rewrite_;
  Graph& graph_;
  std::int64_t ranks_;
};

}  // namespace

void lower_head(Graph& graph, const PassContext& context) { Head(graph, context.ranks).run(); }

}  // namespace swinscope
