// The sub-commands of `swin`. Each declares its options and what it does, which returns the exit status and throws
// WorkloadError.
#pragma once

#include "options/options.h"

namespace swinscope {

void add_list_command(Program& program);
void add_infer_command(Program& program);
void add_train_command(Program& program);
void add_verify_command(Program& program);
void add_make_data_command(Program& program);
void add_peaks_command(Program& program);
void add_quantize_command(Program& program);

}  // namespace swinscope
