// Ctrl+C and SIGTERM as a request: the step in progress ends, the summary is printed, and the exit status is 130. A
// second signal ends the program at once.
#pragma once

namespace swinscope {

inline constexpr int kInterruptedStatus = 130;

void catch_interrupts();
bool interrupted();

}  // namespace swinscope
