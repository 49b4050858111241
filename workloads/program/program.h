// The program `swin` without its main().
#pragma once

namespace swinscope {

// Runs the sub-command that the words name. Says on stderr what went wrong; returns the exit status.
int run_swin(int argc, char** argv);

}  // namespace swinscope
