// Class and operation of each GPU event: METRICS "Time breakdown".
//
// The first that applies: what the user says; what the trace says of the event itself (a copy, a set, the metadata of a
// collective); the operation of PyTorch that launched it; its name; our own annotation of the launching range. A kernel
// whose name says that it only helps an operation (changes a layout, adds up the parts of a product, fills) is what its
// name says.
#pragma once

#include "analyzer/trace/class_rules.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// What a kernel is that was launched by an operation of PyTorch; either may be kUnknown.
struct NamedOperation {
  OperationKind kind = OperationKind::kUnknown;
  bool is_fill = false;
};
OperationKind join_operations(OperationKind launched_by, NamedOperation name);

// Refines GpuEvents::operation and gpu_class, which hold what the names alone say. Each name is looked at once.
void classify(Trace& trace, const ClassRules& rules);

}  // namespace swinscope
