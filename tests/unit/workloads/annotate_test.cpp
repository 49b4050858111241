// The annotations as an NVTX tool receives them: this program is its own tool, through NVTX's static injection, and
// decodes the payloads by the schemas that were registered, as the collector does.
#include "workloads/annotate.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "tests/unit/workloads/loss_harness.h"
#include "workloads/gradient_reducer.h"
#include "workloads/model_cost.h"
#include "workloads/synthetic_data.h"
#include "workloads/trainer.h"

namespace swinscope {
namespace {

struct Schema {
  std::string name;
  std::size_t size = 0;
  std::map<std::string, nvtxPayloadSchemaEntry_t> entries;
};

struct Range {
  std::string name;
  std::string path;  // names of the ranges around it and its own, joined by '/'
  std::uint32_t category = 0;
  std::uint64_t schema = 0;
  std::vector<unsigned char> payload;
};

// What the tool has seen. Handles are addresses of the strings kept here.
struct Tool {
  std::mutex mutex;
  std::deque<std::string> strings;
  std::vector<std::string> domains;
  std::map<std::uint32_t, std::string> categories;
  std::map<std::uint64_t, Schema> schemas;
  std::map<std::uint64_t, std::map<std::uint64_t, std::string>> enums;
  std::map<std::thread::id, std::vector<std::string>> open;
  std::vector<Range> ranges;
  std::uint64_t next_id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
};

Tool& tool() {
  static Tool* const instance = new Tool;
  return *instance;
}

template <typename Handle>
Handle keep_string(const char* text) {
  const std::lock_guard lock(tool().mutex);
  return reinterpret_cast<Handle>(&tool().strings.emplace_back(text));
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  tool().domains.emplace_back(name);
  return keep_string<nvtxDomainHandle_t>(name);
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const char* text) {
  return keep_string<nvtxStringHandle_t>(text);
}

void NVTX_API name_category(nvtxDomainHandle_t /*domain*/, std::uint32_t category, const char* name) {
  tool().categories[category] = name;
}

int NVTX_API push_range(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* attributes) {
  const std::lock_guard lock(tool().mutex);
  Range range;
  range.name = *reinterpret_cast<const std::string*>(attributes->message.registered);
  range.category = attributes->category;
  if (attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    // NVTX hands the address over as a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue);
    range.schema = data->schemaId;
    const auto* bytes = static_cast<const unsigned char*>(data->payload);
    range.payload.assign(bytes, bytes + data->size);
  }
  std::vector<std::string>& open = tool().open[std::this_thread::get_id()];
  open.push_back(range.name);
  for (const std::string& name : open)
    range.path += "/" + name;
  tool().ranges.push_back(std::move(range));
  return static_cast<int>(open.size()) - 1;
}

int NVTX_API pop_range(nvtxDomainHandle_t /*domain*/) {
  const std::lock_guard lock(tool().mutex);
  std::vector<std::string>& open = tool().open[std::this_thread::get_id()];
  if (open.empty()) {
    ADD_FAILURE() << "a range was popped that was never pushed";
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  open.pop_back();
  return static_cast<int>(open.size());
}

std::uint64_t NVTX_API register_schema(nvtxDomainHandle_t /*domain*/, const nvtxPayloadSchemaAttr_t* attributes) {
  Schema schema;
  schema.name = attributes->name;
  schema.size = attributes->payloadStaticSize;
  for (std::size_t i = 0; i < attributes->numEntries; ++i) {
    schema.entries[attributes->entries[i].name] = attributes->entries[i];
  }
  tool().schemas[++tool().next_id] = schema;
  return tool().next_id;
}

std::uint64_t NVTX_API register_enum(nvtxDomainHandle_t /*domain*/, const nvtxPayloadEnumAttr_t* attributes) {
  auto& values = tool().enums[++tool().next_id];
  for (std::size_t i = 0; i < attributes->numEntries; ++i)
    values[attributes->entries[i].value] = attributes->entries[i].name;
  return tool().next_id;
}

template <typename Function>
void set_slot(NvtxFunctionTable table, std::uint32_t id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int NVTX_API initialize_core(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 1) return 0;
  set_slot(table, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
  set_slot(table, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  set_slot(table, NVTX_CBID_CORE2_DomainNameCategoryA, &name_category);
  set_slot(table, NVTX_CBID_CORE2_DomainRangePushEx, &push_range);
  set_slot(table, NVTX_CBID_CORE2_DomainRangePop, &pop_range);
  return 1;
}

int NVTX_API initialize_extension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  std::intptr_t* const slots = module->segments[0].functionSlots;
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = reinterpret_cast<std::intptr_t>(&register_schema);
  slots[NVTX3EXT_CBID_nvtxPayloadEnumRegister] = reinterpret_cast<std::intptr_t>(&register_enum);
  return 1;
}

// NVTX looks at these pointers at its first call, which comes after all static initialization.
const bool kInstalled = [] {
  ::InitializeInjectionNvtx2_fnptr = initialize_core;
  ::InitializeInjectionNvtxExtension_fnptr = initialize_extension;
  return true;
}();

std::uint64_t field(const Range& range, const std::string& name, std::size_t index = 0) {
  const Schema& schema = tool().schemas.at(range.schema);
  const nvtxPayloadSchemaEntry_t& entry = schema.entries.at(name);
  const bool narrow = tool().enums.contains(entry.type);
  const std::size_t width = narrow ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  std::uint64_t value = 0;
  std::memcpy(&value, range.payload.data() + entry.offset + index * width, width);
  return value;
}

std::string enum_name(const Range& range, const std::string& name) {
  const nvtxPayloadSchemaEntry_t& entry = tool().schemas.at(range.schema).entries.at(name);
  return tool().enums.at(entry.type).at(field(range, name));
}

std::vector<Range> take_ranges() {
  const std::lock_guard lock(tool().mutex);
  for (const auto& [thread, open] : tool().open)
    EXPECT_TRUE(open.empty()) << "a range was left open";
  return std::exchange(tool().ranges, {});
}

// One forward pass for inference, as a tool sees it. The values do not matter: all are zero.
std::vector<Range> inference_ranges(const SwinConfig& config) {
  ParameterStore<float> store(config, false);
  HostModel<float> model(config, 1, {}, store);
  model.weights_changed();
  const std::vector<float> images(static_cast<std::size_t>(kImageChannels * config.image_size * config.image_size));
  take_ranges();
  model.forward(images.data());
  return take_ranges();
}

std::uint64_t sum_of(const std::vector<Range>& ranges, const std::string& name) {
  std::uint64_t sum = 0;
  for (const Range& range : ranges)
    sum += field(range, name);
  return sum;
}

TEST(Annotate, TheToolIsInAndTheDomainIsOurs) {
  ASSERT_TRUE(kInstalled && annotations_enabled());
  EXPECT_THAT(tool().domains, testing::ElementsAre("swinscope"));
}

// GFLOP per image of the roofline study.
struct Published {
  const char* model;
  double gflop;
};

class AnnotatedFlops : public testing::TestWithParam<Published> {};

TEST_P(AnnotatedFlops, OfAllOperationsAddUpToTheModels) {
  const SwinConfig& config = find_model(GetParam().model);
  const std::uint64_t flops = sum_of(inference_ranges(config), "flops");
  EXPECT_EQ(flops, static_cast<std::uint64_t>(model_cost(config).flops()));
  EXPECT_NEAR(static_cast<double>(flops) * 1e-9, GetParam().gflop, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Models, AnnotatedFlops,
                         testing::Values(Published{"swin_tiny", 8.98}, Published{"swin_small", 17.48},
                                         Published{"swin_base", 30.86}, Published{"swin_large", 68.95},
                                         Published{"swinv2_tiny", 11.84}, Published{"swinv2_small", 23.02},
                                         Published{"swinv2_base", 40.55}, Published{"swinv2_large", 90.42}),
                         [](const auto& published) { return std::string(published.param.model); });

TEST(Annotate, EveryOperationIsNamedByItsLayerPath) {
  const std::vector<Range> ranges = inference_ranges(find_model("swin_nano"));
  std::vector<std::string> names;
  names.reserve(ranges.size());
  for (const Range& range : ranges)
    names.push_back(range.name);
  EXPECT_EQ(names.size(), 2U + 4U * 10U + 3U + 3U);
  EXPECT_THAT(std::vector<std::string>(names.begin(), names.begin() + 12),
              testing::ElementsAre("patch_embed.proj", "patch_embed.norm", "stage1.block1.norm1",
                                   "stage1.block1.attn.qkv", "stage1.block1.attn.window", "stage1.block1.attn.proj",
                                   "stage1.block1.residual1", "stage1.block1.norm2", "stage1.block1.mlp.fc1",
                                   "stage1.block1.mlp.gelu", "stage1.block1.mlp.fc2", "stage1.block1.residual2"));
  EXPECT_THAT(names, testing::IsSupersetOf({"stage1.merge.gather", "stage1.merge.norm", "stage1.merge.reduction",
                                            "stage2.block2.attn.window", "norm", "head.pool", "head.fc"}));
}

TEST(Annotate, ThePayloadSaysWhatTheOperationIs) {
  const SwinConfig& config = find_model("swin_nano");
  const std::vector<Range> ranges = inference_ranges(config);
  const auto qkv = std::ranges::find(ranges, "stage2.block1.attn.qkv", &Range::name);
  ASSERT_NE(qkv, ranges.end());
  const Schema& schema = tool().schemas.at(qkv->schema);
  EXPECT_EQ(schema.name, "swinscope.operation/1");
  EXPECT_EQ(schema.size, qkv->payload.size());
  // 8x8 tokens of 64 channels times a [192, 64] weight.
  EXPECT_EQ(field(*qkv, "flops"), 2U * 64U * 192U * 64U);
  EXPECT_EQ(field(*qkv, "bytes_read"), 4U * (64U * 64U + 192U * 64U + 192U));
  EXPECT_EQ(field(*qkv, "bytes_written"), 4U * 64U * 192U);
  EXPECT_EQ(enum_name(*qkv, "precision"), "fp32");
  EXPECT_EQ(enum_name(*qkv, "class"), "gemm");
  EXPECT_EQ(tool().categories.at(qkv->category), "gemm");
  EXPECT_EQ(field(*qkv, "input_shape", 0), 64U);
  EXPECT_EQ(field(*qkv, "input_shape", 1), 64U);
  EXPECT_EQ(field(*qkv, "output_shape", 1), 192U);
  EXPECT_EQ(field(*qkv, "output_shape", 3), 0U);
  const auto window = std::ranges::find(ranges, "stage1.block2.attn.window", &Range::name);
  EXPECT_EQ(enum_name(*window, "class"), "attention");
  EXPECT_EQ(field(*window, "input_shape", 0), 16U);  // 16x16 tokens in windows of 4x4
}

TEST(Annotate, AStepHoldsItsPhasesAndTheyTheirOperations) {
  const SwinConfig config = test::small_nano(SwinVersion::kV2);
  ParameterStore<double> store(config, true);
  redraw_parameters(store, 1);
  SyntheticData data(config, 16, 1);
  const auto alone = make_single_rank();
  TrainerOptions options;
  options.batch_per_rank = 2;
  options.total_steps = 2;
  Trainer<double> trainer(config, options, data, store, *alone);
  take_ranges();
  trainer.step();
  trainer.step();
  const std::vector<Range> ranges = take_ranges();
  const auto count = [&](const std::string& path) { return std::ranges::count(ranges, path, &Range::path); };
  EXPECT_EQ(count("/step"), 2);
  for (const char* phase : {"data", "forward", "backward", "allreduce", "optimizer"}) {
    EXPECT_EQ(count(std::string("/step/") + phase), 2) << phase;
  }
  EXPECT_EQ(count("/step/forward/stage1.block1.attn.bias"), 2);
  EXPECT_EQ(count("/step/forward/loss"), 2);
  EXPECT_EQ(count("/step/backward/loss"), 2);
  EXPECT_EQ(count("/step/backward/stage2.block2.mlp.fc1"), 2);
  EXPECT_EQ(count("/step/optimizer/optimizer.adamw"), 2);
  const auto last =
      std::find_if(ranges.rbegin(), ranges.rend(), [](const Range& range) { return range.name == "step"; });
  EXPECT_EQ(tool().schemas.at(last->schema).name, "swinscope.step/1");
  EXPECT_EQ(field(*last, "step"), 1U);
  EXPECT_EQ(field(*last, "images"), 2U);
  const auto fc1 = std::ranges::find(ranges, "/step/forward/stage1.block1.mlp.fc1", &Range::path);
  EXPECT_EQ(enum_name(*fc1, "precision"), "fp64");
}

// Of a training step the products of the backward pass are twice those of the forward pass, but for the first layer,
// whose input needs no gradient.
TEST(Annotate, TheBackwardPassHasTwiceTheFlops) {
  const SwinConfig config = test::small_nano(SwinVersion::kV1);
  test::LossHarness<double> harness(config, {1, 2}, 0.0, 1);
  take_ranges();
  harness.loss();
  const std::uint64_t forward = sum_of(take_ranges(), "flops");
  harness.loss_and_gradients();
  const std::uint64_t both = sum_of(take_ranges(), "flops");
  const std::uint64_t stem = 2 * static_cast<std::uint64_t>(model_cost(config).stem.flops);
  EXPECT_EQ(forward, 2 * static_cast<std::uint64_t>(model_cost(config).flops()));
  EXPECT_EQ(both, 3 * forward - stem);
}

}  // namespace
}  // namespace swinscope
