#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/view.h"
#include "options/options.h"
#include "store/file.h"
