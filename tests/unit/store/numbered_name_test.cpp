// Names as emit_nvtx writes them, and names of other programs that look like them.
#include "store/numbered_name.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

struct Expected {
  std::string_view name;
  std::int64_t sequence;   // -1: none
  std::int64_t operation;  // -1: none
  std::string_view sizes;
  bool is_operator;
};

void expect_split(std::string_view text, const Expected& expected) {
  SCOPED_TRACE(std::string(text));
  const auto split = split_numbered_name(text);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->name, expected.name);
  EXPECT_EQ(split->sequence.value_or(-1), expected.sequence);
  EXPECT_EQ(split->operation.value_or(-1), expected.operation);
  EXPECT_EQ(split->sizes, expected.sizes);
  EXPECT_EQ(split->is_operator(), expected.is_operator);
}

TEST(NumberedName, IsSplit) {
  expect_split("aten::mul, seq = 45328, op_id = 990726", {"aten::mul", 45328, 990726, "", true});
  expect_split("aten::add, seq = 7", {"aten::add", 7, -1, "", true});
  expect_split("torch.distributed.ddp.reducer::copy_bucket, op_id = 12",
               {"torch.distributed.ddp.reducer::copy_bucket", -1, 12, "", true});
  expect_split("aten::t, op_id = 12", {"aten::t", -1, 12, "", true});
  expect_split("aten::mm, seq = 3, op_id = 4, sizes = [[8, 96], []], input_op_ids = [(3,0), (0,0)]",
               {"aten::mm", 3, 4, "[[8, 96], []]", true});
  expect_split("aten::relu, seq = 3, sizes = [[2, 3]]", {"aten::relu", 3, -1, "[[2, 3]]", true});
  expect_split("aten::relu, stashed seq = 3", {"aten::relu", 3, -1, "", true});
  expect_split("autograd::engine::evaluate_function: MulBackward0, seq = 5, op_id = 6",
               {"autograd::engine::evaluate_function: MulBackward0", 5, 6, "", true});
  expect_split("MulBackward0, seq = 5", {"MulBackward0", 5, -1, "", true});
  expect_split("MyFunction, seq = 5, op_id = 6", {"MyFunction", 5, 6, "", true});
}

TEST(NumberedName, WhatAProgramMarksIsNoOperator) {
  expect_split("Optimizer.step#AdamW.step, op_id = 77", {"Optimizer.step#AdamW.step", -1, 77, "", false});
  expect_split("FSDP::pre_forward (encoder.block.2), op_id = 5",
               {"FSDP::pre_forward (encoder.block.2)", -1, 5, "", false});
  expect_split("FSDP::all_gather, op_id = 5", {"FSDP::all_gather", -1, 5, "", false});
  expect_split("a, b = c, op_id = 1", {"a, b = c", -1, 1, "", false});
}

TEST(NumberedName, AListThatIsCutOffIsNoList) {
  expect_split("aten::mm, seq = 3, sizes = [[8, 9", {"aten::mm", 3, -1, "", true});
}

TEST(NumberedName, OtherNamesStayWhole) {
  for (const char* text :
       {"", "step 7", "decode, seq = 128", "aten::mul", "aten::mul, seq = ", "aten::mul, seq = 5 tokens",
        "aten::mul, seq = x, op_id = 3", ", seq = 5, op_id = 3", "aten::mul, op_id = 3, batch = 4",
        "aten::mul, sizes = 5", "aten::mul, sizes = [a]", "aten::mul,seq = 5", "aten::mul, seq=5", "rows, sizes = ]",
        "aten::mul, seq = 99999999999999999999"}) {
    EXPECT_FALSE(split_numbered_name(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace swinscope
