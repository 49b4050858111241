// The sub-commands of `swin`. Each adds its options to the command line and returns what to run once it has been
// parsed; that returns the exit status and throws WorkloadError.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace swinscope {

using Command = std::function<int()>;

Command add_list_command(CLI::App& app);
Command add_infer_command(CLI::App& app);
Command add_train_command(CLI::App& app);
Command add_verify_command(CLI::App& app);
Command add_make_data_command(CLI::App& app);
Command add_peaks_command(CLI::App& app);

}  // namespace swinscope
