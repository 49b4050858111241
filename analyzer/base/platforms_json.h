// Facts of GPUs and machines, compiled in: the text of data/platforms.json.
#pragma once

namespace swinscope {

extern const char* const kPlatformsJson;

}  // namespace swinscope
