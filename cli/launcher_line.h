// The command line that starts the ranks of a program by a launcher.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace swinscope::cli {

struct Launcher {
  std::string name = "local";      // local (`swinscope launch`), torchrun, mpirun, srun
  std::vector<std::string> extra;  // arguments of its own, before the program: --oversubscribe, --partition=…
};

// "torchrun --nproc_per_node 2 train.py": `command` as a user writes it for one process,
//   train.py ARGS, ./train.py ARGS          a script of Python: torchrun runs it by itself, others by python unless it
//                                           can be executed and is named with its path
//   python train.py ARGS, python -m MODULE  torchrun is Python itself: the interpreter goes, -m stays. With options of
//                                           the interpreter (python -O …) it is run as any other program
//   ./program ARGS                          any other program: torchrun --no-python
std::vector<std::string> launcher_line(const Launcher& launcher, int ranks, const std::vector<std::string>& command);

// Throws CommandError where the launcher, the program or the script is not there.
void require_launcher(const Launcher& launcher, const std::vector<std::string>& command);

// What makes the launcher refuse to start, beside what it says itself: "" where nothing is known.
std::string launcher_advice(const Launcher& launcher);

}  // namespace swinscope::cli
