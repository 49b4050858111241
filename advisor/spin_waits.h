// Waits of the host that no call shows: it launches a kernel and reads over and over again what that one writes into
// its memory, as a program that sends to other GPUs as much as they say (DeepEP's dispatch).
#pragma once

#include "advisor/rank_nodes.h"

namespace swinscope {

// Makes the call before a pause wait for the last kernel that its thread launched, where pauses behind launches of that
// kernel end as it does: twice at least, and three of four times that it runs on for so long. After find_own_times().
void find_spin_waits(RankNodes& nodes);

}  // namespace swinscope
