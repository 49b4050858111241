#include "workloads/annotate.h"

#include <cstddef>
#include <utility>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

namespace swinscope {
namespace {

// Categories of operation ranges are their class; these follow.
constexpr std::uint32_t kStepCategory = 20;
constexpr std::uint32_t kPhaseCategory = 21;

constexpr std::array<const char*, 10> kClassNames = {"gemm", "attention", "norm",      "elementwise",   "layout",
                                                     "conv", "loss",      "optimizer", "communication", "other"};
constexpr std::array<const char*, 7> kPrecisionNames = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
constexpr std::array<const char*, 5> kPhaseNames = {"data", "forward", "backward", "allreduce", "optimizer"};

constexpr nvtxPayloadSchemaEntry_t entry(const char* name, std::uint64_t type, std::size_t offset,
                                         std::uint64_t extents = 0) {
  nvtxPayloadSchemaEntry_t result{};
  result.flags = extents == 0 ? NVTX_PAYLOAD_ENTRY_FLAG_UNUSED : NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  result.type = type;
  result.name = name;
  result.arrayOrUnionDetail = extents;
  result.offset = offset;
  return result;
}

// The domain and the schemas, registered with the tool if there is one. NVTX hands out a null domain if there is none.
class Registration {
 public:
  Registration() : domain_(nvtxDomainCreateA("swinscope")) {
    if (domain_ == nullptr) return;
    for (std::size_t i = 0; i < kClassNames.size(); ++i) {
      nvtxDomainNameCategoryA(domain_, static_cast<std::uint32_t>(i + 1), kClassNames[i]);
    }
    nvtxDomainNameCategoryA(domain_, kStepCategory, "step");
    nvtxDomainNameCategoryA(domain_, kPhaseCategory, "phase");
    step_name_ = nvtxDomainRegisterStringA(domain_, "step");
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
      phase_names_[i] = nvtxDomainRegisterStringA(domain_, kPhaseNames[i]);
    }
    register_schemas();
  }

  nvtxDomainHandle_t domain() const { return domain_; }
  std::uint64_t operation_schema() const { return operation_schema_; }
  std::uint64_t step_schema() const { return step_schema_; }
  nvtxStringHandle_t step_name() const { return step_name_; }
  nvtxStringHandle_t phase_name(Phase phase) const { return phase_names_[static_cast<std::size_t>(phase)]; }

 private:
  template <std::size_t N>
  std::uint64_t register_enum(const char* name, const std::array<const char*, N>& values) {
    std::array<nvtxPayloadEnum_t, N> entries{};
    for (std::size_t i = 0; i < N; ++i)
      entries[i] = {values[i], i + 1, 0};
    nvtxPayloadEnumAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    attributes.name = name;
    attributes.entries = entries.data();
    attributes.numEntries = N;
    attributes.sizeOfEnum = sizeof(std::uint32_t);
    const std::uint64_t id = nvtxPayloadEnumRegister(domain_, &attributes);
    // A tool without enumerations still gets the number.
    return id == 0 ? NVTX_PAYLOAD_ENTRY_TYPE_UINT32 : id;
  }

  template <std::size_t N>
  std::uint64_t register_schema(const char* name, const std::array<nvtxPayloadSchemaEntry_t, N>& entries,
                                std::size_t size) {
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.name = name;
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries.data();
    attributes.numEntries = N;
    attributes.payloadStaticSize = size;
    return nvtxPayloadSchemaRegister(domain_, &attributes);
  }

  void register_schemas() {
    const std::uint64_t precision = register_enum("swinscope.precision", kPrecisionNames);
    const std::uint64_t operation_class = register_enum("swinscope.class", kClassNames);
    const std::array operation = {
        entry("flops", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, offsetof(OperationPayload, flops)),
        entry("bytes_read", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, offsetof(OperationPayload, bytes_read)),
        entry("bytes_written", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, offsetof(OperationPayload, bytes_written)),
        entry("precision", precision, offsetof(OperationPayload, precision)),
        entry("class", operation_class, offsetof(OperationPayload, operation_class)),
        entry("input_shape", NVTX_PAYLOAD_ENTRY_TYPE_INT64, offsetof(OperationPayload, input_shape), kShapeExtents),
        entry("output_shape", NVTX_PAYLOAD_ENTRY_TYPE_INT64, offsetof(OperationPayload, output_shape), kShapeExtents),
    };
    operation_schema_ = register_schema("swinscope.operation/1", operation, sizeof(OperationPayload));
    const std::array step = {
        entry("step", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, offsetof(StepPayload, step)),
        entry("images", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, offsetof(StepPayload, images)),
    };
    step_schema_ = register_schema("swinscope.step/1", step, sizeof(StepPayload));
  }

  nvtxDomainHandle_t domain_;
  std::uint64_t operation_schema_ = 0;
  std::uint64_t step_schema_ = 0;
  nvtxStringHandle_t step_name_ = nullptr;
  std::array<nvtxStringHandle_t, kPhaseNames.size()> phase_names_ = {};
};

// Never destroyed: ranges of other threads may outlive the statics of main().
const Registration& registration() {
  static const Registration* const instance = new Registration;
  return *instance;
}

nvtxEventAttributes_t attributes_of(nvtxStringHandle_t name, std::uint32_t category) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = category;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name;
  return attributes;
}

void push(nvtxEventAttributes_t attributes, std::uint64_t schema, const void* payload, std::size_t size) {
  const nvtxPayloadData_t data{schema, size, payload};
  if (schema != 0) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;  // payload.ullValue points to one nvtxPayloadData_t
    attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
  }
  nvtxDomainRangePushEx(registration().domain(), &attributes);
}

void pop() {
  if (annotations_enabled()) nvtxDomainRangePop(registration().domain());
}

}  // namespace

bool annotations_enabled() { return registration().domain() != nullptr; }

RangeName::RangeName(std::string path) : path_(std::move(path)) {
  if (annotations_enabled()) handle_ = nvtxDomainRegisterStringA(registration().domain(), path_.c_str());
}

OperationPayload make_payload(const OperationCost& cost, OperationClass operation_class, Precision precision,
                              const ShapeExtents& input_shape, const ShapeExtents& output_shape) {
  return {static_cast<std::uint64_t>(cost.flops),
          static_cast<std::uint64_t>(cost.bytes_read),
          static_cast<std::uint64_t>(cost.bytes_written),
          precision,
          operation_class,
          input_shape,
          output_shape};
}

OperationRange::OperationRange(const RangeName& name, const OperationPayload& payload) {
  if (!annotations_enabled()) return;
  push(attributes_of(name.handle(), static_cast<std::uint32_t>(payload.operation_class)),
       registration().operation_schema(), &payload, sizeof(payload));
}

OperationRange::~OperationRange() { pop(); }

StepRange::StepRange(const StepPayload& payload) {
  if (!annotations_enabled()) return;
  push(attributes_of(registration().step_name(), kStepCategory), registration().step_schema(), &payload,
       sizeof(payload));
}

StepRange::~StepRange() { pop(); }

PhaseRange::PhaseRange(Phase phase) {
  if (!annotations_enabled()) return;
  push(attributes_of(registration().phase_name(phase), kPhaseCategory), 0, nullptr, 0);
}

PhaseRange::~PhaseRange() { pop(); }

}  // namespace swinscope
