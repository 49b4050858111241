// Where `record` has no memory before its command runs: the command takes its place and runs unrecorded, as it would
// alone. From then on what fails costs records, and no more.
#pragma once

namespace swinscope::cli {

// At the beginning of the program. Without memory, exceptions have to find what unwinds them loaded, too.
void prepare_last_resort(int argc, char** argv);

}  // namespace swinscope::cli
