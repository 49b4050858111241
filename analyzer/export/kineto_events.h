// The events of a rank in Kineto's categories.
#pragma once

#include <cstddef>

#include "analyzer/export/event_writer.h"
#include "analyzer/export/source.h"

namespace swinscope {

void write_kineto_events(const ExportSource& source, std::size_t rank_index, EventWriter& writer);

}  // namespace swinscope
